# SPDX-License-Identifier: Apache-2.0
"""lepus import: folders as scanners write them give the volume of lepus' own scan file; what is wrong with them is said."""
import os
import shutil
import unittest

from program_case import ProgramCase

# Nothing is symmetric: axis, shift, first angle, a detector that is turned where the header can say it.
ODD = ["--views", "30", "--columns", "40", "--rows", "32", "--pixel", "4.8", "--first-angle", "25", "--axis-offset", "1.5"]
CORRECTED = ["--flats", "0", "--darks", "0", "--offset-level", "0"]  # of scanners that correct their frames themselves


class ImportCase(ProgramCase):
    # format: what its header can say beyond ODD, and what the same scan is in lepus' own files
    FORMATS = {"nikon": (["--shift-u", "2", "--in-plane", "0.8"], CORRECTED)}

    def scan(self, name, *more):
        self.lepus("simulate", "shepp-logan-modified", "-o", name, *ODD, "--no-truth", "--quiet", *more)
        return self.folder / name

    def test_the_volume_is_that_of_the_own_scan_file(self):
        for name, (more, own) in self.FORMATS.items():
            with self.subTest(name):
                self.scan(name, *more, "--format", name)
                self.scan("own", *more, *own, "--force")
                self.lepus("reconstruct", "own/scan.toml", "-o", "own.mha", "--force", "--quiet")
                self.lepus("reconstruct", name, "--quiet")
                volume = next((self.folder / name).glob("*.mha"))
                result = self.lepus_json("compare", "own.mha", volume)
                self.assertLess(result["metrics"]["max"], 1e-5 * result["reference_values"]["max"])

    def test_info_shows_every_field(self):
        for name in self.FORMATS:
            with self.subTest(name):
                self.scan(name, "--format", name)
                shown = self.lepus_json("info", name)
                self.assertEqual(shown["kind"], "scanner")
                used = {field["use"] for field in shown["fields"]}
                self.assertTrue({"frames.views", "geometry.source_axis_mm", "geometry.source_detector_mm"} <= used, used)

    def test_the_scan_file_says_where_values_came_from(self):
        self.scan("nikon", "--format", "nikon")
        self.lepus("import", "nikon")
        text = (self.folder / "nikon/scan.toml").read_text()
        for line in text.splitlines():
            if " = " in line and not line.startswith("#"):
                self.assertIn("  # ", line)
        self.assert_error(self.lepus("import", "nikon", code=6), "disk", "exists")
        self.lepus("import", "nikon/scan.xtekct", "-o", "elsewhere.toml", "--pixel", "5")
        self.assertIn("pixel_width_mm = 5.0  # given with --pixel", (self.folder / "elsewhere.toml").read_text())
        self.lepus("info", "elsewhere.toml")

    def test_mistakes_are_named(self):
        scan = self.scan("nikon", "--format", "nikon")
        lost = scan / "scan_0007.tif"
        os.rename(lost, self.folder / "kept.tif")
        self.assert_error(self.lepus("reconstruct", "nikon", code=3), "input", "scan_0007.tif is missing")
        os.rename(self.folder / "kept.tif", lost)
        shutil.copy(scan / "scan_0030.tif", scan / "scan_0031.tif")
        self.assert_error(self.lepus("import", "nikon", code=3), "input", "more frames than the header says", "Projections = 30")
        os.remove(scan / "scan_0031.tif")
        shutil.copy(scan / "scan.xtekct", scan / "other.xtekct")
        self.assert_error(self.lepus("import", "nikon", code=3), "input", "2 scans lie in this folder", "other.xtekct")

    def test_unknown_folders_ask_for_the_fewest_numbers(self):
        self.scan("own")
        os.remove(self.folder / "own/scan.toml")
        self.assert_error(self.lepus("import", "own", code=2), "usage", "--pixel MM --source-axis MM --source-detector MM",
                          "30 files frames/*.tif of 40 x 32 pixels")
        self.lepus("import", "own", "--pixel", "4.8", "--source-axis", "500", "--source-detector", "1000")
        self.assertEqual(self.lepus_json("info", "own/scan.toml")["frames"]["count"], 30)


if __name__ == "__main__":
    unittest.main()
