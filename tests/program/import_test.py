# SPDX-License-Identifier: Apache-2.0
"""lepus import: folders as scanners write them give the volume of lepus' own scan file; what is wrong with them is said."""
import os
import shutil
import unittest

from program_case import ProgramCase

# Nothing is symmetric where the header can say so.
SIZE = ["--views", "30", "--columns", "40", "--rows", "32", "--pixel", "4.8", "--pixel-height", "4.4"]
CORRECTED = ["--flats=0", "--darks=0", "--offset-level=0"]  # of scanners that correct their frames themselves
FULL_RANGE = CORRECTED + ["--open-level=65535"]  # ... and scale air to the largest count

# Of each format: what its header can say, and what the same scan is in lepus' own files beside that. YXLON and Diondo turn
# clockwise.
FORMATS = {
    "nikon": (["--first-angle=25", "--axis-offset=1.5", "--shift-u=2", "--in-plane=0.8"], CORRECTED),
    "skyscan": (["--first-angle=25", "--shift-v=3", "--arc=240"], CORRECTED),
    "phoenix": (["--shift-u=2", "--shift-v=-3"], CORRECTED),
    "yxlon": (["--first-angle=25", "--axis-offset=1.5", "--shift-u=2", "--shift-v=-3"],
              ["--first-angle=-25", "--arc=-360", *FULL_RANGE]),
    "diondo": (["--axis-offset=1.5"], ["--arc=-360", *FULL_RANGE]),
    "northstar": (["--axis-offset=1.5", "--shift-u=2", "--shift-v=-3", "--in-plane=0.8"], ["--flats=1", "--darks=1"]),
    "rtk": (["--first-angle=25", "--axis-offset=1.5", "--shift-u=2", "--shift-v=-3", "--in-plane=0.8"],
            ["--content=line-integrals"]),
    "iba": (["--shift-u=2", "--shift-v=-3"], CORRECTED),
    "sinograms": (["--first-angle=25", "--axis-offset=1.5", "--shift-u=2", "--shift-v=-3", "--in-plane=0.8", "--arc=-240"], []),
    "sinograms-text": (["--shift-u=2"], []),
    "xrad": (["--first-angle=25", "--axis-offset=1.5", "--shift-u=2", "--shift-v=-3", "--in-plane=0.8"], []),
}
IN_THE_FILE = {"rtk", "xrad"}  # whose geometry is read where it is


def merged(options, others):
    """Both, the others before those of the same name."""
    names = {option.split("=")[0] for option in others}
    return [option for option in options if option.split("=")[0] not in names] + others


class ImportCase(ProgramCase):
    def scan(self, name, *more):
        self.lepus("simulate", "shepp-logan-modified", "-o", name, *SIZE, "--no-truth", "--quiet", *more)
        return self.folder / name

    def test_the_volume_is_that_of_the_own_scan_file(self):
        for name, (says, own) in FORMATS.items():
            with self.subTest(name):
                self.scan(name, *says, "--format", name)
                scan = self.scan("own", *merged(says, own), "--force") / "scan.toml"
                if FULL_RANGE[-1] in own:  # that air is at the largest count is no saturation
                    scan.write_text(scan.read_text().replace("[frames]", "[frames]\nsaturation_level = 65536"))
                self.lepus("reconstruct", scan, "-o", "own.mha", "--force", "--quiet")
                self.lepus("reconstruct", name, "--quiet")
                volume = next((self.folder / name).glob("*.mha"))
                result = self.lepus_json("compare", "own.mha", volume)
                self.assertGreater(result["reference_values"]["max"], 0.005)
                self.assertLess(result["metrics"]["max"], 1e-5 * result["reference_values"]["max"])

    def test_info_shows_every_field(self):
        for name in FORMATS:
            with self.subTest(name):
                self.scan(name, "--format", name)
                shown = self.lepus_json("info", name)
                self.assertEqual(shown["kind"], "scanner")
                used = {field["use"] for field in shown["fields"]}
                geometry = {"geometry.import_file"} if name in IN_THE_FILE else {"geometry.source_axis_mm", "geometry.source_detector_mm"}
                self.assertLessEqual(geometry | {"frames.files" if name == "rtk" else "frames.views"}, used)

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
