# SPDX-License-Identifier: Apache-2.0
"""lepus rabbitct: a file made, looked at, run and scored; its bytes read and its score computed again by NumPy."""
import struct
import unittest

import numpy

from program_case import ProgramCase

SMALL_SWEEP = ["--width", 64, "--height", 48, "--views", 12, "--sizes", 128, "--reference-slices", 4]


class RabbitCt(ProgramCase):
    def make(self, name="a.rct", *more):
        return self.lepus_json("rabbitct", "make", name, *SMALL_SWEEP, *more)

    def test_make_info_run(self):
        for version in [1, 2]:
            with self.subTest(version=version):
                name = f"v{version}.rct"
                self.assertEqual(self.make(name, "--file-version", version)["references"], [{"size": 128, "slices": 4}])
                info = self.lepus_json("rabbitct", "info", name)
                self.assertEqual((info["version"], info["views"], info["columns"], info["rows"], info["references"]),
                                 (version, 12, 64, 48, [128]))
                result = self.lepus_json("rabbitct", "run", name, "--size", 128, "--backend", "cpu", "-o", f"{name}d",
                                         "--file-version", version)
                self.assertEqual(len(result["view_microseconds"]), 12)
                self.assertLessEqual(result["score"]["rmse_hu"], 0.05)
                self.assertEqual(result["score"]["voxels"], 4 * 128 * 128)
                kept = self.lepus_json("rabbitct", "info", f"{name}d")
                self.assertEqual((kept["kind"], kept["version"], kept["size"]), ("result", version, 128))
                self.assertAlmostEqual(kept["mse_hu2"], result["score"]["mse_hu2"], delta=1e-12)
        self.assertEqual((self.folder / "v1.rct").read_bytes()[20:], (self.folder / "v2.rct").read_bytes()[24:])

    def test_the_reference_is_the_definition(self):
        """The formula of RabbitCT in NumPy, with the file read by hand: one slice, within the rounding to whole HU."""
        self.make()
        data = (self.folder / "a.rct").read_bytes()
        version, width, height, views = struct.unpack_from("<4I", data)
        scale = struct.unpack_from("<2f", data, 16)
        self.assertEqual((version, width, height, views), (2, 64, 48, 12))
        z = 48  # of 4 spread slices the second
        axis = -127.0 + 2.0 * numpy.arange(128)
        x, y = numpy.meshgrid(axis, axis)
        total = numpy.zeros((128, 128))
        offset = 24
        for _ in range(views):
            a = numpy.frombuffer(data, "<f8", 12, offset)
            picture = numpy.zeros((height + 2, width + 2))
            picture[1:-1, 1:-1] = numpy.frombuffer(data, "<f4", width * height, offset + 96).reshape(height, width)
            offset += 96 + 4 * width * height
            w = a[2] * x + a[5] * y + a[8] * axis[z] + a[11]
            u = numpy.clip((a[0] * x + a[3] * y + a[6] * axis[z] + a[9]) / w, -1, width - 1e-9)
            v = numpy.clip((a[1] * x + a[4] * y + a[7] * axis[z] + a[10]) / w, -1, height - 1e-9)
            i, j = numpy.floor(u).astype(int), numpy.floor(v).astype(int)
            f, g = u - i, v - j
            value = ((1 - f) * (1 - g) * picture[j + 1, i + 1] + f * (1 - g) * picture[j + 1, i + 2]
                     + (1 - f) * g * picture[j + 2, i + 1] + f * g * picture[j + 2, i + 2])
            total += value / w ** 2
        hu = numpy.where(total > 0, numpy.clip(scale[0] * total + scale[1], 0, 4095), 0)
        reference = numpy.frombuffer(data, "<u2", 128 * 128, offset + 2 * 128 * 128 * z).reshape(128, 128)
        self.assertLessEqual(abs(hu - reference).max(), 0.5 + 1e-6)
        self.assertGreater(hu.max(), 300)  # and there is something in it
        empty = numpy.frombuffer(data, "<u2", 128 * 128, offset + 2 * 128 * 128 * (z + 1))
        self.assertTrue((empty == 0xFFFF).all())

    def test_protocols(self):
        self.make()
        for protocol in ["views", "blocks", "whole"]:
            repeats = ["--repeats", 1] if protocol == "whole" else []
            result = self.lepus_json("rabbitct", "run", "a.rct", "--size", 128, "--backend", "cpu", "--protocol", protocol,
                                     *repeats, "--check-slices", 1)
            self.assertLessEqual(result["score"]["rmse_hu"], 0.05)
            self.assertLessEqual(result["unrounded"]["rmse_hu"], 0.003)
        text = self.lepus("rabbitct", "run", "a.rct", "--size", 128, "--backend", "cpu", "--no-score").stdout
        self.assertIn("not scored", text)

    def test_bad_input(self):
        self.make()
        run = ["rabbitct", "run", "a.rct", "--backend", "cpu"]
        self.assert_error(self.lepus(*run, "--size", 100, code=2), "usage", "128, 256, 512 and 1024")
        self.assert_error(self.lepus(*run, "--size", 256, code=3), "input", "no reference of 256")
        self.assert_error(self.lepus(*run, "--size", 128, "--memory", "2MB", code=5), "memory", "limit")
        self.assert_error(self.lepus("rabbitct", "make", "a.rct", *SMALL_SWEEP, code=6), "disk", "a.rct", "exists")
        self.assert_error(self.lepus("rabbitct", "make", "b.rct", "--sizes", "100", code=2), "usage", "128, 256")
        for words, option in [([*run, "--views", 3], "--views"), ([*run, "--repeats", 2], "--repeats"),
                              ([*run, "--file-version", 1], "--file-version"),
                              ([*run, "--no-score", "--check-slices", 1], "--check-slices"),
                              ([*run, "--no-score", "-o", "b.rctd"], "--output"),
                              (["rabbitct", "make", "b.rct", "-o", "b.rctd"], "--output"),
                              (["rabbitct", "info", "a.rct", "--size", 128], "--size")]:
            with self.subTest(words=words):
                self.assert_error(self.lepus(*words, code=2), "usage", option)
        whole = (self.folder / "a.rct").read_bytes()
        for name, data, needle in [("empty", b"", "not a rabbitct"), ("cut", whole[:40000], "cut off"),
                                   ("longer", whole + b"x", "cut off"), ("text", b"hello, world! " * 100, "rabbitct"),
                                   ("magic", struct.pack("<I", 7) + whole[4:], "magic.rct")]:
            (self.folder / f"{name}.rct").write_bytes(data)
            with self.subTest(name=name):
                for action in ["run", "info"]:
                    self.assert_error(self.lepus("rabbitct", action, f"{name}.rct", code=3), "input", needle)
        damaged = bytearray(whole)
        damaged[24 + 16:24 + 24] = struct.pack("<d", float("nan"))
        (self.folder / "nan.rct").write_bytes(damaged)
        self.assert_error(self.lepus("rabbitct", "run", "nan.rct", "--size", 128, code=3), "input", "not finite", "view 0")
        self.assertEqual([n for n in self.names() if "partial" in n], [])


if __name__ == "__main__":
    unittest.main()
