# SPDX-License-Identifier: Apache-2.0
"""--output-type and --output-range, judged by NumPy, h5py and tifffile on the files' own bytes: what is stored, the scale that
the header says, what lepus reads of it; and what cannot be is refused."""
import json
import re
import unittest

import h5py
import numpy
import tifffile

from program_case import ProgramCase

LOW, HIGH = -0.002, 0.03  # below and above what is reconstructed
SLOPE = (HIGH - LOW) / 65535
UINT16 = ["--output-type", "uint16", "--output-range", f"{LOW}:{HIGH}"]
SIZE = (20, 20, 20)


def scale_in(description):
    value = description.get("value", {"slope": 1, "offset": 0})
    return value["slope"], value["offset"]


class OutputTypes(ProgramCase):
    def setUp(self):
        super().setUp()
        self.simulate("scan", "--size", "20,20,20")
        self.lepus("reconstruct", "scan/scan.toml", "-o", "f.raw", "--quiet")
        self.values = numpy.fromfile(self.folder / "f.raw", "<f4").reshape(SIZE)
        self.assertTrue(LOW < self.values.min() and 0.01 < self.values.max() < HIGH, (self.values.min(), self.values.max()))

    def stored(self, name):
        """The pixels and the scale in the words of the format, read without lepus."""
        path = self.folder / name
        if name.endswith(".h5"):
            with h5py.File(path) as file:
                data = file["volume"]
                return data[()], (float(numpy.ravel(data.attrs.get("scale_factor", 1))[0]), float(numpy.ravel(data.attrs.get("add_offset", 0))[0]))
        if name.endswith(".tif"):
            with tifffile.TiffFile(path) as file:
                said = json.loads(file.pages[0].description)
                return file.asarray(), scale_in(said)
        if name.endswith(".raw"):
            said = json.loads((self.folder / f"{name}.json").read_text())
            return numpy.fromfile(path, {"float16": "<f2", "uint16": "<u2"}[said["type"]]).reshape(SIZE), scale_in(said)
        raise AssertionError(name)

    def read_by_lepus(self, name):
        self.lepus("convert", name, "-o", "back.raw", "--force", "--quiet")
        return numpy.fromfile(self.folder / "back.raw", "<f4").reshape(SIZE)

    def test_reconstruct(self):
        expected = numpy.floor((self.values.astype(float) - LOW) / SLOPE + 0.5)
        for ending in ("h5", "tif", "raw"):
            with self.subTest(ending):
                self.lepus("reconstruct", "scan/scan.toml", "-o", f"u.{ending}", *UINT16, "--quiet")
                pixels, (slope, offset) = self.stored(f"u.{ending}")
                self.assertEqual(pixels.dtype, numpy.uint16)
                self.assertTrue(numpy.isclose(slope, SLOPE, rtol=1e-12) and numpy.isclose(offset, LOW, rtol=1e-12), (slope, offset))
                self.assertLessEqual(abs(pixels - expected).max(), 1)  # values in the middle of two steps
                self.assertGreater((pixels == expected).mean(), 0.99)
                self.assertLessEqual(abs(slope * pixels + offset - self.values).max(), 0.5001 * SLOPE)
                self.assertLessEqual(abs(self.read_by_lepus(f"u.{ending}") - self.values).max(), 0.501 * SLOPE)
                self.lepus("reconstruct", "scan/scan.toml", "-o", f"h.{ending}", "--output-type", "float16", "--quiet")
                numpy.testing.assert_array_equal(self.stored(f"h.{ending}")[0], self.values.astype(numpy.float16))
                numpy.testing.assert_array_equal(self.read_by_lepus(f"h.{ending}"), self.values.astype(numpy.float16).astype(numpy.float32))

    def test_every_command_and_format(self):
        """convert, post, an iterative method and [[post]]: what lepus reads is within half a step."""
        for name in ("c.mha", "c.nrrd", "c.zarr"):
            self.lepus("convert", "f.raw", "-o", name, *UINT16, "--quiet")
            self.assertLessEqual(abs(self.read_by_lepus(name) - self.values).max(), 0.501 * SLOPE)
        self.lepus("post", "f.raw", "-o", "p.h5", "--do", "ring-mask", *UINT16, "--quiet")
        self.lepus("post", "f.raw", "-o", "p.raw", "--do", "ring-mask", "--quiet")
        masked = numpy.fromfile(self.folder / "p.raw", "<f4").reshape(SIZE)
        self.assertEqual(self.stored("p.h5")[0].dtype, numpy.uint16)
        self.assertLessEqual(abs(self.read_by_lepus("p.h5") - masked).max(), 0.501 * SLOPE)
        toml = self.folder / "scan/scan.toml"
        toml.write_text(toml.read_text() + '\n[[post]]\nkind = "ring-mask"\n')
        self.lepus("reconstruct", toml, "-o", "q.h5", *UINT16, "--quiet")
        numpy.testing.assert_array_equal(self.stored("q.h5")[0], self.stored("p.h5")[0])
        sirt = ["reconstruct", "scan/scan.toml", "--method", "sirt", "--iterations", "1", "--quiet"]
        self.lepus(*sirt, "-o", "s.raw")
        self.lepus(*sirt, "-o", "s.h5", "--output-type", "float16")
        numpy.testing.assert_array_equal(self.stored("s.h5")[0], numpy.fromfile(self.folder / "s.raw", "<f4").reshape(SIZE).astype(numpy.float16))

    def test_what_is_beyond_is_counted(self):
        high = 0.01
        beyond = int(((self.values.astype(float) - LOW) / ((high - LOW) / 65535) > 65535.5).sum() + (self.values < LOW - (high - LOW) / 131070).sum())
        self.assertGreater(beyond, 10)
        narrow = ["--output-type", "uint16", "--output-range", f"{LOW}:{high}"]
        for words in (["convert", "f.raw", "-o", "n.h5"], ["reconstruct", "scan/scan.toml", "-o", "m.h5"], ["post", "f.raw", "-o", "o.h5", "--do", "finite"]):
            said = self.lepus(*words, *narrow).stderr
            self.assertEqual(int(re.search(r"(\d+) of 8000 voxels", said).group(1)), beyond, said)
            self.assertEqual(self.stored(words[words.index("-o") + 1])[0].max(), 65535)

    def test_what_cannot_be_is_refused(self):
        convert = ["convert", "f.raw", "-o"]
        for name in ("x.mha", "x.nrrd"):
            self.assert_error(self.lepus(*convert, name, "--output-type", "float16", code=7), "unsupported", "no 16-bit floats", ".h5")
        self.assert_error(self.lepus("reconstruct", "scan/scan.toml", "-o", "x.mha", "--output-type", "float16", code=7), "unsupported", "no 16-bit floats")
        self.assert_error(self.lepus(*convert, "x.h5", "--output-type", "uint16", code=2), "usage", "--output-range", "0:0.1")
        self.assert_error(self.lepus(*convert, "x.h5", "--output-range", "0:1", code=2), "usage", "uint16")
        for wrong in ("0", "1:0", "0:0", "0:x", "0:1:2", "nan:1", "0:inf", "0,1", ":"):
            self.assert_error(self.lepus(*convert, "x.h5", "--output-type", "uint16", "--output-range", wrong, code=2), "usage", "range", "0:0.1")
        self.assert_error(self.lepus("post", "f.raw", "-o", "x.h5", "--do", "rescale", *UINT16, code=2), "usage", "rescale", "--output-type")
        self.assert_error(self.lepus("convert", "scan/scan.toml", "-o", "x", *UINT16, code=2), "usage", "volumes")
        self.assertEqual([name for name in self.names() if name.startswith(("x", ".x"))], [])


if __name__ == "__main__":
    unittest.main()
