# SPDX-License-Identifier: Apache-2.0
"""lepus post: chains of steps on volumes, in every format, good and bad."""
import unittest

import numpy

from program_case import ProgramCase
from volumes_test import write_mha


def box_windows(volume):
    """Every voxel's 3 x 3 x 3 neighbourhood, for the voxels that have a whole one."""
    windows = numpy.lib.stride_tricks.sliding_window_view(volume, (3, 3, 3))
    return windows.reshape(*windows.shape[:3], 27)


class Post(ProgramCase):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(4)
        self.a = random.normal(size=(14, 12, 16)).astype(numpy.float32)
        write_mha(self.folder / "a.mha", self.a, (1, 2, 3), (-7.5, -11, -19.5))

    def voxels(self, name, dtype="<f4"):
        size = self.lepus_json("info", name, "--header")["size"]
        if not name.endswith(".mha"):
            self.lepus("convert", name, "-o", "read-back.mha", "--force", "--quiet")
            name, dtype = "read-back.mha", "<f4"
        count = size[0] * size[1] * size[2] * numpy.dtype(dtype).itemsize
        return numpy.frombuffer((self.folder / name).read_bytes()[-count:], dtype).reshape(size[::-1])

    def test_median_and_rescale_in_every_format(self):
        median = self.a.copy()
        median[1:-1, 1:-1, 1:-1] = numpy.median(box_windows(self.a), axis=-1)
        low, high = numpy.percentile(median.astype(float), [0.1, 99.9])
        expected = numpy.floor(numpy.clip((median.astype(float) - low) / (high - low), 0, 1) * 65535 + 0.5)
        for name in ["out.mha", "out.mhd", "out.nrrd", "out.tif", "out.h5", "plain.raw", "slices/%04d.tif"]:
            with self.subTest(name=name):
                result = self.lepus("post", "a.mha", "-o", name, "--do", "median radius=1 dimensions=3", "--do",
                                    "rescale bits=16 low=0.1 high=99.9", code=None)
                if result.returncode == 7:
                    continue  # built without that format: it said so
                self.assertEqual(result.returncode, 0, result.stderr)
                source = "slices" if "/" in name else name
                self.assertEqual(self.lepus_json("info", source, "--header")["pixel_type"], "uint16")
                # numpy interpolates percentiles in another order of operations: a value on an edge may fall either way
                difference = abs(self.voxels(source, "<u2").astype(float) - expected)
                self.assertLessEqual(difference.max(), 1)
                self.assertLess((difference > 0).mean(), 0.01)
        self.assertEqual([n for n in self.names() if "scratch" in n or "partial" in n], [])

    def test_steps_and_numbers(self):
        result = self.lepus_json("post", "a.mha", "-o", "hu.mha", "--do", "crop z=2,9 x=1,15", "--do",
                                 "ring-mask radius_mm=6 value=0.5", "--do", "air threshold=0 value=0", "--do",
                                 "hu water=0.5")
        self.assertEqual(result["size"], [14, 12, 7])
        self.assertEqual(result["unit"], "HU")
        self.assertEqual(len(result["steps"]), 4)
        part = self.a[2:9, :, 1:15].astype(float)
        y, x = numpy.meshgrid(-11 + 2 * numpy.arange(12), -6.5 + numpy.arange(14), indexing="ij")
        part[:, x ** 2 + y ** 2 > 36] = 0.5
        part[part < 0] = 0
        numpy.testing.assert_allclose(self.voxels("hu.mha"), (part - 0.5) * 2000, rtol=0, atol=1e-3)
        info = self.lepus_json("info", "hu.mha", "--header")
        self.assertEqual(info["origin_mm"], [-6.5, -11, -13.5])
        step = info["provenance"]["post"][0]
        self.assertEqual(step["from"], "a.mha")
        self.assertEqual([s["kind"] for s in step["steps"]], ["crop", "ring-mask", "air", "hu"])
        self.lepus("post", "hu.mha", "-o", "again.mha", "--do", "box")
        self.assertEqual(len(self.lepus_json("info", "again.mha", "--header")["provenance"]["post"]), 2)
        self.assert_error(self.lepus("post", "hu.mha", "-o", "x.mha", "--do", "hu water=1", code=2), "usage", "already")

    def test_noted_axes_are_followed(self):
        self.lepus("convert", "a.mha", "--axes", "rtk", "-o", "rtk.mha")
        for name in ("a.mha", "rtk.mha"):
            self.lepus("post", name, "-o", "out-" + name, "--do", "ring-mask radius_mm=5 value=9", "--do", "crop z=2,9")
        self.assertTrue(numpy.array_equal(self.voxels("out-rtk.mha"), self.voxels("out-a.mha")))
        infos = [self.lepus_json("info", "out-" + name) for name in ("a.mha", "rtk.mha")]
        for key in ("axes", "origin_mm", "voxel_mm"):
            self.assertEqual(infos[1][key], infos[0][key])

    def test_hounsfield_units_are_made_of_attenuations(self):
        self.lepus("post", "a.mha", "-o", "grey.mha", "--do", "rescale bits=8")
        self.assert_error(self.lepus("post", "grey.mha", "-o", "hu.mha", "--do", "hu water=0.02", code=2), "usage", "1/mm")

    def test_the_same_bytes_for_any_memory_and_threads(self):
        chain = ["--do", "gaussian radius=2", "--do", "hardening threshold=-1 radius=3", "--do", "rescale bits=8"]
        self.lepus("post", "a.mha", "-o", "one.mha", *chain, "--backend", "cpu")
        whole = self.voxels("one.mha", "u1")
        for words in [("--threads", 1), ("--threads", 3, "--memory", "80MB")]:
            self.lepus("post", "a.mha", "-o", "two.mha", *chain, "--backend", "cpu", "--force", *words)
            numpy.testing.assert_array_equal(self.voxels("two.mha", "u1"), whole)

    def test_bad_chains(self):
        def refused(*steps, code=2, kind="usage", needles=()):
            words = [word for step in steps for word in ("--do", step)]
            self.assert_error(self.lepus("post", "a.mha", "-o", "bad.mha", *words, "--json", code=code), kind, *needles)
            self.assertEqual(self.names(), ["a.mha"])
        refused("medain", needles=["no step 'medain'", "did you mean 'median'"])
        refused("median raduis=2", needles=["did you mean 'radius'"])
        refused("median radius=7", needles=["too large", "take at most"])
        refused("median radius=x", needles=["integer"])
        refused("median radius=1 radius=2", needles=["radius is given twice"])
        refused("air", needles=["threshold is missing"])
        refused("rescale", "median", needles=["nothing can follow rescale"])
        refused("rescale low=5 high=5", needles=["low must be below high"])
        refused("air threshold=100", "rescale", needles=["range of the values is empty"])
        refused("crop z=3,99", needles=["14 voxels along z"])
        refused("hu water=0 air=1", needles=["above air"])
        refused("", needles=["empty"])
        self.assert_error(self.lepus("post", "a.mha", "-o", "bad.mha", "--do", "median", "--memory", "1KB", code=5),
                          "memory", "--memory", "needed, 0 B of what is allowed are left")
        self.assert_error(self.lepus("post", "a.mha", "-o", "bad.xyz", "--do", "median", code=7), "unsupported", ".xyz")
        self.assert_error(self.lepus("post", "a.mha", "-o", "a.mha", "--do", "median", "--force", code=2), "usage", "replace the input")
        self.assert_error(self.lepus("post", "none.mha", "-o", "bad.mha", "--do", "median", code=3), "input", "none.mha")
        self.lepus("post", "a.mha", "-o", "bad.mha", code=2)
        self.assertEqual(self.names(), ["a.mha"])

    def test_not_finite(self):
        self.a[3, 4, 5] = numpy.nan
        write_mha(self.folder / "nan.mha", self.a, (1, 2, 3), (-7.5, -11, -19.5))
        self.assert_error(self.lepus("post", "nan.mha", "-o", "b.mha", "--do", "box", code=3), "input", "--do finite")
        self.assertNotIn("b.mha", self.names())
        self.lepus("post", "nan.mha", "-o", "b.mha", "--do", "finite value=2", "--do", "air threshold=-99")
        self.assertEqual(self.voxels("b.mha")[3, 4, 5], 2)

    def test_force(self):
        self.lepus("post", "a.mha", "-o", "b.mha", "--do", "box")
        before = (self.folder / "b.mha").read_bytes()
        self.assert_error(self.lepus("post", "a.mha", "-o", "b.mha", "--do", "median", code=6), "disk", "exists")
        self.assertEqual((self.folder / "b.mha").read_bytes(), before)
        self.lepus("post", "a.mha", "-o", "b.mha", "--do", "median", "--force")
        self.assertNotEqual((self.folder / "b.mha").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
