# SPDX-License-Identifier: Apache-2.0
"""simulate, info and convert on scans: the same frames come back from every form."""
import filecmp
import json
import shutil
import unittest

import numpy

from program_case import SMALL, ProgramCase


class Scans(ProgramCase):
    def test_simulate_is_reproducible(self):
        words = ["simulate", "shepp-logan", *SMALL, "--photons", "1000", "--gain-spread", "0.02", "--hot-pixels", "3"]
        self.lepus(*words, "-o", "one", "--seed", "5")
        self.lepus(*words, "-o", "two", "--seed", "5", "--threads", "1")
        self.lepus(*words, "-o", "other", "--seed", "6")
        frames = [name for name in self.names(self.folder / "one") if name.endswith((".tif", ".raw"))]
        self.assertTrue(frames)
        same, different, failed = filecmp.cmpfiles(self.folder / "one", self.folder / "two", frames, shallow=False)
        self.assertEqual((different, failed), ([], []))
        _, different, _ = filecmp.cmpfiles(self.folder / "one", self.folder / "other", frames, shallow=False)
        self.assertTrue(different)

    def test_info_of_a_scan(self):
        self.simulate()
        result = self.lepus_json("info", "scan/scan.toml")
        self.assertEqual(result["kind"], "scan")
        self.assertEqual(result["views"]["count"], 24)
        self.assertIn("24", self.lepus("info", "scan/scan.toml").stdout)

    def test_geometry_options(self):
        for words in [["--beam", "parallel"], ["--beam", "fan"], ["--arc-detector"], ["--shift-u", "-3"],
                      ["--pitch", "1", "--yaw", "-1", "--in-plane", "0.5"], ["--arc", "200"],
                      ["--content", "line-integrals"], ["--format", "raw"], ["--voxel", "5"], ["--size", "16,16,8"],
                      ["--jitter-source", "0.1", "--jitter-known"]]:
            with self.subTest(words=words):
                name = "-".join(words).strip("-")
                self.simulate(name, *words)
                self.lepus("info", f"{name}/scan.toml")
        self.assertEqual(self.lepus_json("info", "size-16,16,8/truth.mha", "--header")["size"], [16, 16, 8])

    def test_every_form_of_a_scan(self):
        self.simulate("scan", "--photons", "500")
        original = self.folder / "scan"
        self.lepus("convert", "scan/scan.toml", "-o", "plain", "--frames", "tiff")
        for frames in ["tiff", "stack", "hdf5", "raw"]:
            for order in ["frames", "sinograms"]:
                with self.subTest(frames=frames, order=order):
                    name = f"{frames}-{order}"
                    result = self.lepus("convert", "scan/scan.toml", "-o", name, "--frames", frames, "--order", order, code=None)
                    if result.returncode == 7:
                        continue  # built without that format: it said so
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.lepus("info", f"{name}/scan.toml")
                    # And back to single TIFF files, which must be the same as those of a direct conversion.
                    self.lepus("convert", f"{name}/scan.toml", "-o", f"{name}-back", "--frames", "tiff")
                    for part in ["frames", "flats", "darks"]:
                        names = self.names(self.folder / "plain" / part)
                        self.assertEqual(self.names(self.folder / f"{name}-back" / part), names)
                        same, *rest = filecmp.cmpfiles(self.folder / "plain" / part,
                                                       self.folder / f"{name}-back" / part, names, shallow=False)
                        self.assertEqual(rest, [[], []])
        self.assertTrue((original / "scan.toml").exists())
        self.assertEqual([n for n in self.names() if "partial" in n], [])

    def test_a_scan_is_not_converted_onto_itself_or_over_another(self):
        self.simulate()
        before = self.names()
        self.assert_error(self.lepus("convert", "scan/scan.toml", "-o", "scan", "--force", code=2), "usage", "scan")
        self.simulate("other")
        self.assert_error(self.lepus("convert", "scan/scan.toml", "-o", "other", code=6), "disk", "other", "--force")
        self.assertEqual([n for n in self.names() if not n.startswith("other")], before)

    def test_side_files_come_along(self):
        self.simulate("scan", "--jitter-source", "0.1", "--jitter-known")
        self.assertIn("jitter.csv", self.names(self.folder / "scan"))
        self.lepus("convert", "scan/scan.toml", "-o", "moved", "--frames", "stack")
        (self.folder / "scan").rename(self.folder / "gone")
        self.lepus("info", "moved/scan.toml")

    def test_volumes_of_the_method_come_along(self):
        scan = self.simulate("scan", "--content", "line-integrals")
        self.lepus("convert", "scan/truth.mha", "-o", "scan/start.mhd")
        self.lepus("convert", "scan/truth.mha", "-o", "scan/mask.h5")
        (scan / "scan.toml").write_text((scan / "scan.toml").read_text() + '\n[method]\nname = "sirt"\niterations = 1\nstart = "start.mhd"\n'
                                        'mask = "mask.h5:/volume"\n')
        self.lepus("reconstruct", "scan/scan.toml", "-o", "before.mha", "--backend", "cpu")
        self.lepus("convert", "scan/scan.toml", "-o", "moved", "--frames", "stack")
        scan.rename(self.folder / "gone")
        self.lepus("reconstruct", "moved/scan.toml", "-o", "after.mha", "--backend", "cpu")
        self.assertEqual(self.lepus_json("compare", "before.mha", "after.mha")["metrics"]["max"], 0)

    def test_sinograms_of_laboratory_systems_are_converted(self):
        self.lepus("simulate", "ball", "-o", "files", *SMALL, "--format", "sinograms", "--quiet")
        self.lepus("import", "files", "-o", "files/scan.toml")
        self.lepus("convert", "files/scan.toml", "-o", "moved", "--frames", "stack")
        for scan, volume in (("files", "before.mha"), ("moved", "after.mha")):
            self.lepus("reconstruct", f"{scan}/scan.toml", "-o", volume, "--backend", "cpu")
        self.assertEqual(self.lepus_json("compare", "before.mha", "after.mha")["metrics"]["max"], 0)

    def test_an_axis_that_is_to_be_found(self):
        """project, its matrix and the geometry for others are those of the axis that reconstruct finds."""
        scan = self.simulate("scan", "--hidden-shift", "2", "--phantom-size", "40", "--content", "line-integrals")
        given = (scan / "scan.toml").read_text()
        self.lepus("project", "scan/truth.mha", "--scan", "scan/scan.toml", "-o", "given.tif")
        self.lepus("convert", "scan/scan.toml", "--geometry", "astra", "-o", "given.txt")
        apart = self.lepus_json("project", "scan/truth.mha", "--scan", "scan/scan.toml", "--against", "-o", "a.tif")["residual_norm"]
        (scan / "scan.toml").write_text(given.replace("[geometry]", '[geometry]\ncenter = "auto"'))
        said = self.lepus("project", "scan/truth.mha", "--scan", "scan/scan.toml", "-o", "found.tif").stderr
        self.assertIn("the rotation axis is seen on column", said)
        self.lepus("convert", "scan/scan.toml", "--geometry", "astra", "-o", "found.txt")
        for ending in ("tif", "txt"):
            self.assertNotEqual((self.folder / f"given.{ending}").read_bytes(), (self.folder / f"found.{ending}").read_bytes())
        found = self.lepus_json("project", "scan/truth.mha", "--scan", "scan/scan.toml", "--against", "-o", "b.tif")["residual_norm"]
        self.assertLess(found, apart / 5)
        self.assertIn("seen on column", self.lepus("project", "--scan", "scan/scan.toml", "--matrix", "-o", "m.npz").stderr)

    def test_the_volume_is_where_the_scan_sees_it(self):
        shifted = ["--shift-v", "60", "--rows", "20", "--pixel", "4", "--columns", "32", "--views", "8", "--flats", "1", "--darks", "1"]
        for name, more in (("plain", []), ("voxel", ["--voxel", "4"]), ("size", ["--size", "8"])):
            self.lepus("simulate", "ball", "-o", name, *shifted, *more, "--quiet")
            volume = self.lepus_json("info", f"{name}/scan.toml")["volume"]
            middle = volume["origin_mm"][2] + 0.5 * (volume["size"][2] - 1) * volume["voxel_mm"][2]
            self.assertAlmostEqual(middle, -30, delta=1e-6, msg=name)

    def test_options_without_use_are_refused(self):
        (self.folder / "p.toml").write_text('[[shape]]\nkind = "ellipsoid"\ncentre_mm = [0, 0, 0]\nradii_mm = [9, 9, 9]\nvalue_per_mm = 0.02\n')
        (self.folder / "angles.txt").write_text("".join(f"{15 * i}\n" for i in range(24)))
        for phantom, option, *more in [
                ("p.toml", "--phantom-size=3"), ("p.toml", "--value=0.1"), ("p.toml", "--material=water"), ("ball", "--material=water"),
                ("ball", "--aluminium=2"), ("ball", "--pores=7"), ("ball", "--two-rings"), ("ball", "--jitter-known"),
                ("ball", "--arc=180", "--angles", "angles.txt"), ("ball", "--first-angle=3", "--angles", "angles.txt"),
                ("ball", "--photons=100", "--content", "line-integrals"), ("ball", "--hot-pixels=3", "--content", "line-integrals"),
                ("ball", "--truth-samples=2", "--no-truth")]:
            with self.subTest(option=option):
                result = self.lepus("simulate", phantom, "-o", "refused", *SMALL, option, *more, code=2)
                self.assert_error(result, "usage", option.split("=")[0], "leave it out")
        self.lepus("simulate", "ball", "-o", "spectrum", *SMALL, "--tube-kv", "90", "--copper", "0.1", "--spot", "0.5", "--subpixels", "1", "--quiet")
        self.assertEqual(json.loads((self.folder / "spectrum" / "truth.json").read_text())["rays_per_pixel"], 12)
        self.lepus("simulate", "ball", "-o", "dark", *SMALL[:-4], "--flats", "0", "--darks", "0", "--offset-level", "5000", "--quiet")
        self.assertIn("value = 55000.0  # open beam; 5000.0 of it are there without beam", (self.folder / "dark" / "scan.toml").read_text())

    def test_a_stranger_among_the_frames(self):
        scan = self.simulate()
        frames = sorted((scan / "frames").iterdir())
        other = frames[0].with_name("preview.tif")
        shutil.copy(frames[3], other)
        self.assertIn("preview.tif", self.lepus("info", "scan/scan.toml").stderr)
        other.rename(frames[3].with_name(f"{frames[3].stem} (copy).tif"))
        self.assert_error(self.lepus("info", "scan/scan.toml", code=3), "input", "(copy).tif", "equally spaced")
        frames[3].with_name(f"{frames[3].stem} (copy).tif").unlink()
        text = (scan / "scan.toml").read_text()
        (scan / "scan.toml").write_text(text.replace("[frames]", "[frames]\nviews = 24"))
        self.assertNotIn("warning", self.lepus("info", "scan/scan.toml").stderr)
        frames[-1].unlink()
        self.assert_error(self.lepus("info", "scan/scan.toml", code=3), "input", f"{frames[-1].name} is missing",
                          "views = 24")

    def test_frames_in_the_arrays_of_other_programs(self):
        """Frames, flats, darks and angles in one file of NumPy or MATLAB give the voxels of the same frames in TIFF files."""
        self.simulate()
        self.lepus("reconstruct", "scan/scan.toml", "-o", "expected.npy", "--quiet")
        self.lepus("convert", "scan/scan.toml", "-o", "plain", "--frames", "raw", "--quiet")
        arrays = {name: numpy.fromfile(self.folder / f"plain/{name}.raw", "<u2").reshape(-1, 24, 32)
                  for name in ["frames", "flats", "darks"]}
        arrays["theta"] = numpy.arange(24) * 15.0
        numpy.savez_compressed(self.folder / "plain/all.npz", **arrays)
        files = ["all.npz"]
        try:
            import scipy.io
            scipy.io.savemat(self.folder / "plain/all.mat", {name: a.transpose() for name, a in arrays.items()})
            files.append("all.mat")
        except ImportError:
            print("NOT tried, python3-scipy is not installed: MATLAB files in the program")
        text = (self.folder / "plain/scan.toml").read_text()
        text = text.replace("[frames]", "[frames]\ndataset = 'frames'\nflats_dataset = 'flats'\ndarks_dataset = 'darks'")
        text = text.replace("arc_deg = 360.0\n", "angles_dataset = 'theta'\n").replace("first_angle_deg = 0.0\n", "")
        for file in files:
            with self.subTest(file):
                here = text
                for name in ["frames", "flats", "darks"]:
                    here = here.replace(f"'{name}.raw'", f"'{file}'")
                (self.folder / "plain/arrays.toml").write_text(here)
                self.lepus("reconstruct", "plain/arrays.toml", "-o", "volume.npy", "--quiet", "--force")
                self.assertTrue(numpy.array_equal(numpy.load(self.folder / "volume.npy"),
                                                  numpy.load(self.folder / "expected.npy")))
                (self.folder / "plain/arrays.toml").write_text(here.replace("= 'frames'", "= 'views'"))
                self.assert_error(self.lepus("info", "plain/arrays.toml", code=3), "input", "no array 'views'", "theta")

    def test_one_dataset_of_everything_is_converted(self):
        """NXtomo: frames, flats and darks in one dataset, angles of all images in radians, beside a correction's file."""
        try:
            import h5py
        except ImportError:
            self.skipTest("python3-h5py is not installed: image keys are NOT tried in the program")
        images = numpy.arange(20 * 6 * 8, dtype=numpy.uint16).reshape(20, 6, 8) + 1000
        keys = numpy.array([2, 2] + [1] * 3 + [0] * 14 + [3])
        with h5py.File(self.folder / "nx.h5", "w") as file:
            file["data"], file["key"] = images, keys
            file["angle"] = numpy.arange(20) * numpy.pi / 10
            file["angle"].attrs["units"] = "rad"
        with h5py.File(self.folder / "master.h5", "w") as file:
            for name in ["data", "key", "angle"]:
                file[name] = h5py.ExternalLink("nx.h5", name)
        (self.folder / "angles.txt").write_text("1\n" * 14)  # a dose of each view, named as the angles will be
        (self.folder / "scan.toml").write_text(
            '[frames]\nfiles = "master.h5"\ndataset = "/data"\nimage_key = "/key"\nviews = 14\n'
            '[geometry]\nbeam = "parallel"\npixel_width_mm = 1\nangles_dataset = "/angle"\n'
            '[[correct]]\nkind = "dose"\nfile = "angles.txt"\n')
        result = self.lepus_json("info", "scan.toml")
        self.assertEqual(result["frames"]["count"], 14)
        self.assertAlmostEqual(result["geometry"]["angle_step_deg"], 18, delta=1e-6)
        self.assertIn("20 of 8 x 6", self.lepus("info", "master.h5", "--dataset", "/data").stdout)
        with h5py.File(self.folder / "master.h5", "r+") as file:
            file["more"] = h5py.SoftLink("/data")
            file["lost"] = h5py.ExternalLink("gone.h5", "data")
        sets = self.lepus_json("info", "master.h5")["sets"]
        self.assertEqual([(s["dataset"], s["images"], s["columns"]) for s in sets], [("/data", 20, 8), ("/more", 20, 8)])
        self.assertIn("20 of 8 x 6 pixels, uint16", self.lepus("info", "master.h5").stdout)
        self.lepus("convert", "scan.toml", "-o", "new", "--frames", "tiff")
        self.assertEqual(len(list((self.folder / "new" / "flats").iterdir())), 3)
        (self.folder / "nx.h5").unlink()
        (self.folder / "angles.txt").unlink()
        again = self.lepus_json("info", "new/scan.toml")
        self.assertEqual(again["frames"]["count"], 14)
        for key in ["first_angle_deg", "angle_step_deg"]:
            self.assertAlmostEqual(again["geometry"][key], result["geometry"][key], delta=1e-9)
        self.assertEqual((self.folder / "new" / "angles.txt").read_text(), "1\n" * 14)

    def test_flats_of_several_times_are_converted(self):
        scan = self.simulate()
        text = (scan / "scan.toml").read_text()
        flats = ", ".join(f'"flats/{path.name}"' for path in sorted((scan / "flats").iterdir()))
        self.assertEqual(text.count('"flats/*.tif"'), 1, text)
        (scan / "scan.toml").write_text(text.replace('"flats/*.tif"', f"[{flats}]\nflats_at_view = [0, 24]"))
        for frames in ["stack", "hdf5"]:
            result = self.lepus("convert", "scan/scan.toml", "-o", frames, "--frames", frames, code=None)
            if result.returncode == 7:
                continue  # built without that format: it said so
            self.assertEqual(result.returncode, 0, result.stderr)
            self.lepus("info", f"{frames}/scan.toml")

    def test_a_scan_says_its_phantom(self):
        for name in ["shepp-logan", "shepp-logan-modified"]:
            self.simulate(name, phantom=name)
            self.assertIn(f": {name}, 24 views", (self.folder / name / "scan.toml").read_text())


if __name__ == "__main__":
    unittest.main()
