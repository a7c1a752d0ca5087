# SPDX-License-Identifier: Apache-2.0
"""compare, slice, convert and info on volumes, judged by NumPy on the files' own bytes."""
import json
import unittest

import numpy

from program_case import ProgramCase


def write_mha(path, values, spacing=(1, 1, 1), offset=(0, 0, 0)):
    """values[z, y, x] as float32."""
    nz, ny, nx = values.shape
    header = (f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
              f"CompressedData = False\nTransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = {' '.join(map(str, offset))}\n"
              f"ElementSpacing = {' '.join(map(str, spacing))}\nDimSize = {nx} {ny} {nz}\n"
              f"ElementType = MET_FLOAT\nElementDataFile = LOCAL\n")
    path.write_bytes(header.encode() + values.astype("<f4").tobytes())


class Volumes(ProgramCase):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(1)
        self.a = random.normal(size=(14, 12, 16)).astype(numpy.float32)
        self.b = self.a + 0.1 * random.normal(size=self.a.shape).astype(numpy.float32)
        write_mha(self.folder / "a.mha", self.a, (1, 2, 3), (-7.5, -11, -19.5))
        write_mha(self.folder / "b.mha", self.b, (1, 2, 3), (-7.5, -11, -19.5))

    def test_compare(self):
        result = self.lepus_json("compare", "a.mha", "b.mha")
        d = self.b.astype(float) - self.a.astype(float)
        metrics = result["metrics"]
        self.assertAlmostEqual(metrics["rmse"], numpy.sqrt(numpy.mean(d ** 2)), delta=1e-12)
        self.assertAlmostEqual(metrics["bias"], d.mean(), delta=1e-12)
        self.assertAlmostEqual(metrics["max"], abs(d).max(), delta=1e-12)
        z, y, x = numpy.unravel_index(abs(d).argmax(), d.shape)
        self.assertEqual(result["max_at_voxel"], [x, y, z])
        self.assertEqual(result["max_at_mm"], [-7.5 + x, -11 + 2 * y, -19.5 + 3 * z])
        text = self.lepus("compare", "a.mha", "b.mha").stdout
        for word in ["rmse", "psnr", "ssim", "max"]:
            self.assertIn(word, text)

    def test_compare_takes_no_negative_distance(self):
        for option in ("--radius=-1", "--ball=-1", "--radius=nan"):
            self.assert_error(self.lepus("compare", "a.mha", "b.mha", option, code=2), "usage", option.split("=")[0])

    def test_compare_says_that_large_integers_are_rounded(self):
        header = ("ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nDimSize = 2 2 2\n"
                  "ElementType = MET_INT\nElementDataFile = LOCAL\n").encode()
        for name, largest in (("i.mha", 2 ** 24), ("j.mha", 2 ** 24 + 1), ("k.mha", 2 ** 23)):
            (self.folder / name).write_bytes(header + numpy.array([0, 1, 2, 3, 4, 5, 6, largest], "<i4").tobytes())
        self.assertIn("j.mha: integers above 2^24", self.lepus("compare", "i.mha", "j.mha", "--ssim", "none").stderr)
        self.assertNotIn("2^24", self.lepus("compare", "k.mha", "k.mha", "--ssim", "none").stderr)

    def test_axes(self):
        self.lepus("convert", "a.mha", "--axes", "rtk", "-o", "rtk.npy")  # X is x, Y is z, Z is -y
        turned = numpy.load(self.folder / "rtk.npy")
        self.assertTrue(numpy.array_equal(turned, self.a[:, ::-1, :].transpose(1, 0, 2)))
        info = self.lepus_json("info", "rtk.npy")
        self.assertEqual(info["axes"], "x,z,-y")
        self.assertEqual(info["voxel_mm"], [1, 3, 2])
        self.assertEqual(info["origin_mm"], [-7.5, -19.5, -11])  # y goes to 11, and the other way round
        self.assertEqual(self.lepus_json("compare", "a.mha", "rtk.npy")["metrics"]["max"], 0)  # it says so itself
        for name in ("a.mha", "rtk.npy"):  # and slices follow it
            self.lepus("slice", name, "--axis", "y", "--position", "3", "-o", name + ".png")
        self.assertEqual((self.folder / "rtk.npy.png").read_bytes(), (self.folder / "a.mha.png").read_bytes())
        numpy.save(self.folder / "bare.npy", self.a.transpose())  # A[x, y, z] of nobody knows what
        self.lepus("convert", "bare.npy", "--from-axes", "zyx", "-o", "back.npy")
        self.assertTrue(numpy.array_equal(numpy.load(self.folder / "back.npy"), self.a))
        self.assertEqual(self.lepus_json("info", "back.npy")["axes"], "x,y,z")
        self.assertEqual(self.lepus_json("compare", "back.npy", "bare.npy", "--axes", "zyx")["metrics"]["max"], 0)
        self.assertIn("no order of axes", self.lepus("convert", "a.mha", "--axes", "xyy", "-o", "c.mha", code=2).stderr)

    def test_dicom_in_hounsfield_units(self):
        attenuation = 0.02 + 0.005 * self.a  # -1000 HU and more, as of a scan
        write_mha(self.folder / "mu.mha", attenuation, (1, 2, 3), (-7.5, -11, -19.5))
        expected = numpy.floor(1000 * (attenuation.astype(numpy.float32).astype(float) / 0.02 - 1) + 0.5)
        for name in ["ct.dcm", "series/%04d.dcm"]:
            with self.subTest(name):
                self.lepus("convert", "mu.mha", "--water", "0.02", "-o", name)
                info = self.lepus_json("info", name)
                self.assertEqual((info["format"], info["unit"], info["size"]), ("DICOM", "HU", [16, 12, 14]))
                self.lepus("convert", name, "-o", "back.npy", "--force")
                self.assertLessEqual(abs(numpy.load(self.folder / "back.npy") - expected).max(), 1)  # halves go either way
        self.assertEqual(len(list((self.folder / "series").glob("*.dcm"))), 14)
        self.assert_error(self.lepus("convert", "a.mha", "-o", "no.dcm", code=7), "unsupported", "--water")
        self.assert_error(self.lepus("convert", "ct.dcm", "--water", "0.02", "-o", "no.dcm", code=2), "usage", "in HU already")
        (self.folder / "grey.mha").write_bytes((self.folder / "a.mha").read_bytes().replace(b"NDims", b"lepus_value_unit = grey levels\nNDims", 1))
        self.assert_error(self.lepus("convert", "grey.mha", "--water", "0.02", "-o", "no.dcm", code=2), "usage", "grey levels")
        self.assert_error(self.lepus("convert", "mu.mha", "--water", "0", "-o", "no.dcm", code=2), "usage", "above zero")
        self.assert_error(self.lepus("convert", "mu.mha", "--water", "0.02", "--surface", "0.01", "-o", "no.stl", code=2),
                          "usage", "--water")
        self.assertIn("beyond the range", self.lepus("convert", "a.mha", "--water", "1e-6", "-o", "bright.dcm").stderr)
        numpy.save(self.folder / "labels.npy", numpy.arange(60, dtype=numpy.uint16).reshape(3, 4, 5))
        self.lepus("convert", "labels.npy", "-o", "labels.dcm")  # integers need no unit
        self.assertEqual(self.lepus_json("info", "labels.dcm")["values"]["max"], 59)

    def test_files_of_several_arrays(self):
        numpy.savez(self.folder / "two.npz", a=self.a, b=self.b, theta=numpy.arange(5.0))
        shown = self.lepus_json("info", "two.npz")
        self.assertEqual({one["dataset"] for one in shown["sets"]}, {"a", "b"})
        self.assert_error(self.lepus("compare", "a.mha", "two.npz", code=3), "input", "which of the arrays", "a (14 x 12 x 16)")
        self.lepus("convert", "two.npz:b", "-o", "picked.npy")
        self.assertTrue(numpy.array_equal(numpy.load(self.folder / "picked.npy"), self.b))

    def test_limits_for_scripts(self):
        self.lepus("compare", "a.mha", "b.mha", "--fail-above", "rmse=0.2", "--fail-below", "psnr=20")
        broken = self.lepus("compare", "a.mha", "b.mha", "--fail-above", "rmse=0.05", "--json", code=8)
        self.assertEqual(json.loads(broken.stdout)["failed"][0]["metric"], "rmse")
        self.assertIn("rmse", broken.stderr)
        self.lepus("compare", "a.mha", "b.mha", "--fail-below", "psnr=90", code=8)
        self.b[3, 4, 5] = numpy.nan
        write_mha(self.folder / "nan.mha", self.b, (1, 2, 3), (-7.5, -11, -19.5))
        result = self.lepus("compare", "a.mha", "nan.mha", "--fail-above", "rmse=1e9", "--json", code=8)
        self.assertIsNone(json.loads(result.stdout)["metrics"]["rmse"])

    def test_masks(self):
        z, y, x = numpy.meshgrid(-19.5 + 3 * numpy.arange(14), -11 + 2 * numpy.arange(12), -7.5 + numpy.arange(16),
                                 indexing="ij")
        count = lambda *words: self.lepus_json("compare", "a.mha", "b.mha", *words)["voxels"]
        self.assertEqual(count("--radius", 5), int((x ** 2 + y ** 2 <= 25).sum()))
        self.assertEqual(count("--ball", 8), int((x ** 2 + y ** 2 + z ** 2 <= 64).sum()))
        self.assertEqual(count("--box", "-2,2,-3,3,-1,9"), int(((abs(x) <= 2) & (abs(y) <= 3) & (z >= -1) & (z <= 9)).sum()))
        self.assertEqual(count("--reference-above", 0.5, "--reference-below", 1.5),
                         int(((self.a > 0.5) & (self.a < 1.5)).sum()))
        self.assert_error(self.lepus("compare", "a.mha", "b.mha", "--radius", 0.01, code=3), "input", "no voxel")

    def test_different_grids(self):
        write_mha(self.folder / "c.mha", self.a[:-1], (1, 2, 3), (-7.5, -11, -19.5))
        self.assert_error(self.lepus("compare", "a.mha", "c.mha", code=3), "input", "16 x 12 x 14", "16 x 12 x 13")

    def test_zarr_is_a_volume_like_any_other(self):
        if self.lepus("convert", "a.mha", "-o", "a.zarr", code=None).returncode == 7:
            self.skipTest("built without OME-Zarr")
        self.assertEqual(self.lepus_json("compare", "a.zarr", "b.mha"), {**self.lepus_json("compare", "a.mha", "b.mha"), "reference": "a.zarr"})
        info, original = self.lepus_json("info", "a.zarr"), self.lepus_json("info", "a.mha")
        self.assertEqual(info["format"], "OME-Zarr")
        for key in ("size", "step_mm", "origin_mm", "statistics"):
            self.assertEqual(info.get(key), original.get(key), key)
        self.assertNotIn("levels", info)  # it has one alone
        write_mha(self.folder / "large.mha", numpy.zeros((8, 70, 140), numpy.float32), (1, 2, 3), (0, 0, 0))
        self.lepus("convert", "large.mha", "-o", "large.zarr")
        levels = self.lepus_json("info", "large.zarr", "--header")["levels"]
        self.assertEqual([level["size"] for level in levels], [[140, 70, 8], [70, 35, 4]])
        self.assertEqual([level["voxel_mm"] for level in levels], [[1, 2, 3], [2, 4, 6]])
        self.assertIn("large.zarr#1", self.lepus("info", "large.zarr", "--header").stdout)
        for name in ("a.mha", "a.zarr"):
            self.lepus("slice", name, "-o", f"{name}.png", "--axis", "x")
            self.lepus("post", name, "-o", f"{name}.raw", "--do", "gaussian radius=1", "--backend", "cpu")
        self.assertEqual((self.folder / "a.mha.png").read_bytes(), (self.folder / "a.zarr.png").read_bytes())
        self.assertEqual((self.folder / "a.mha.raw").read_bytes(), (self.folder / "a.zarr.raw").read_bytes())
        self.lepus("convert", "a.zarr#0", "-o", "back.raw")
        self.assertEqual((self.folder / "back.raw").read_bytes(), self.a.tobytes())
        self.assert_error(self.lepus("convert", "b.mha", "-o", "a.zarr", code=6), "disk", "exists already", "--force")
        self.lepus("convert", "b.mha", "-o", "a.zarr", "--force")
        self.assertEqual(self.lepus_json("compare", "b.mha", "a.zarr")["metrics"]["max"], 0)
        self.assert_error(self.lepus("info", "a.zarr#1", code=2), "usage", "no level 1")
        self.assert_error(self.lepus("info", "none.zarr", code=3), "input", "not found")
        chunk = self.folder / "a.zarr/0/0/0/0"
        chunk.write_bytes(chunk.read_bytes()[:100])
        self.assert_error(self.lepus("info", "a.zarr", code=3), "input", "damaged", "a.zarr/0/0/0/0")
        self.assertEqual([n for n in self.names() if "partial" in n or "scratch" in n or "lock" in n], [])

    def test_pictures(self):
        self.lepus("compare", "a.mha", "b.mha", "--difference", "d.png")
        self.lepus("slice", "a.mha", "--three", "-o", "three.png")
        for words in (["--three", "--axis", "x"], ["--window", "1", "--level", "0", "--percentiles", "1,99"]):
            self.lepus("slice", "a.mha", *words, "-o", "no.png", code=2)
        self.lepus("slice", "a.mha", "--montage", 6, "-o", "montage.png")
        for name in ["d.png", "three.png", "montage.png"]:
            self.assertEqual((self.folder / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([n for n in self.names() if "partial" in n], [])

    def test_a_slice_shows_its_voxels(self):
        try:
            from skimage.io import imread
        except ImportError:
            self.skipTest("python3-skimage is not installed: the PNG is NOT looked at")
        self.lepus("slice", "a.mha", "--axis", "z", "--index", 5, "--min", -1, "--max", 1, "-o", "z.png")
        shown = imread(self.folder / "z.png")
        grey = numpy.floor(numpy.clip((self.a[5, ::-1].astype(float) + 1) / 2, 0, 1) * 255 + 0.5)  # y points up
        numpy.testing.assert_array_equal(shown, numpy.repeat(grey, 2, axis=0))  # voxels are 1 x 2 mm
        self.lepus("slice", "a.mha", "--axis", "x", "--position", 0.4, "--window", 2, "--level", 0, "-o", "x.png")
        grey = numpy.floor(numpy.clip((self.a[::-1, :, 8].astype(float) + 1) / 2, 0, 1) * 255 + 0.5)
        # y steps of 2 mm, z steps of 3 mm: pixels of 2 mm, each shows the voxel under its centre
        rows = ((numpy.arange(21) + 0.5) * 2 / 3).astype(int)
        numpy.testing.assert_array_equal(imread(self.folder / "x.png"), grey[rows])

    def test_info(self):
        result = self.lepus_json("info", "a.mha")
        self.assertEqual(result["size"], [16, 12, 14])
        self.assertEqual(result["voxel_mm"], [1, 2, 3])
        self.assertEqual(result["origin_mm"], [-7.5, -11, -19.5])
        self.assertAlmostEqual(result["values"]["mean"], float(self.a.astype(float).mean()), delta=1e-9)
        self.assertAlmostEqual(result["values"]["min"], float(self.a.min()), delta=1e-9)
        self.assertIn("16 x 12 x 14", self.lepus("info", "a.mha").stdout)
        self.assertNotIn("values", self.lepus_json("info", "a.mha", "--header"))

    def test_a_star_in_an_existing_name_is_no_pattern(self):
        (self.folder / "a*b").mkdir()
        write_mha(self.folder / "a*b" / "v[1].mha", self.a)
        self.assertEqual(self.lepus_json("info", "a*b/v[1].mha")["kind"], "volume")

    def test_a_volume_is_known_by_its_content(self):
        (self.folder / "a.mha").rename(self.folder / "a.dat")
        self.assertEqual(self.lepus_json("info", "a.dat")["format"], "MetaImage")
        (self.folder / "sub").mkdir()
        header = (self.folder / "b.mha").read_bytes().replace(b"LOCAL", b"../a.dat")
        (self.folder / "sub" / "b.mhd").write_bytes(header)
        self.assert_error(self.lepus("info", "sub/b.mhd", code=3), "input", "../a.dat", "outside the folder")

    def test_convert_there_and_back(self):
        for name in ["meta.mhd", "v.nrrd", "v.tif", "v.h5", "v.raw", "slices/%04d.tif"]:
            with self.subTest(name=name):
                if "/" in name:
                    (self.folder / "slices").mkdir()
                result = self.lepus("convert", "a.mha", "-o", name, code=None)
                if result.returncode == 7:
                    continue  # built without that format: it said so
                self.assertEqual(result.returncode, 0, result.stderr)
                source = "slices" if "/" in name else name
                self.lepus("convert", source, "-o", "back.mha", "--force")
                same = self.lepus_json("compare", "a.mha", "back.mha")
                self.assertEqual(same["metrics"]["max"], 0)
                steps = self.lepus_json("info", "back.mha")["provenance"]["converted"]
                self.assertEqual([step["from"] for step in steps], ["a.mha", source])

    def test_an_input_is_not_written_over(self):
        self.lepus("convert", "a.mha", "-o", "in.mhd")
        before = (self.folder / "in.raw").read_bytes()
        for command in (["convert", "in.mhd", "-o", "in.nhdr", "--water", "0.01"], ["convert", "in.mhd", "-o", "in.raw"],
                        ["post", "in.mhd", "-o", "in.nhdr", "--do", "hu water=0.01"]):
            self.assert_error(self.lepus(*command, "--force", code=2), "usage", "in.raw", "replace the input")
        self.assertEqual((self.folder / "in.raw").read_bytes(), before)
        self.lepus("convert", "a.mha", "-o", "s_%03d.tif")
        for output in ("v.tif", "v.raw", "v.npy", "b_%03d.tif"):  # beside slices, and no slice of them
            for _ in range(2):
                self.lepus("convert", "s_%03d.tif", "-o", output, "--force")
        self.assert_error(self.lepus("convert", "s_%03d.tif", "-o", "s_001.tif", "--force", code=2), "usage", "replace the input")

    def test_a_shorter_series_over_a_longer_one(self):
        (self.folder / "series").mkdir()
        self.lepus("convert", "a.mha", "--water", "1", "-o", "series/%04d.dcm")
        result = self.lepus("convert", "a.mha", "--water", "1", "--slices", "0,2", "-o", "series/%04d.dcm", "--force", code=6)
        self.assert_error(result, "disk", "more images", "remove the old images")

    def test_convert_a_part(self):
        self.lepus("convert", "a.mha", "-o", "part.mha", "--slices", "3,7", "--crop", "2,10,1,12")
        result = self.lepus_json("info", "part.mha")
        self.assertEqual(result["size"], [8, 11, 5])
        self.assertEqual(result["origin_mm"], [-5.5, -9, -10.5])
        data = (self.folder / "part.mha").read_bytes()[-4 * 8 * 11 * 5:]
        numpy.testing.assert_array_equal(numpy.frombuffer(data, "<f4").reshape(5, 11, 8), self.a[3:8, 1:12, 2:10])
        self.assert_error(self.lepus("convert", "a.mha", "-o", "x.mha", "--slices", "3,14", code=2), "usage", "--slices")
        self.assert_error(self.lepus("convert", "a.mha", "-o", "a.mha", "--force", code=2), "usage", "same")

    def test_little_memory(self):
        """The program itself counts: memory_test has volumes that are cut into slabs."""
        for words in (["convert", "a.mha", "-o", "small.mha"], ["compare", "a.mha", "b.mha"], ["info", "a.mha"], ["slice", "a.mha", "-o", "a.png"]):
            self.assert_error(self.lepus(*words, "--memory", "1KB", code=5), "memory", "--memory", "for the program itself")


if __name__ == "__main__":
    unittest.main()
