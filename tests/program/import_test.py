# SPDX-License-Identifier: Apache-2.0
"""lepus import: folders as scanners write them give the volume of lepus' own scan file; what is wrong with them is said."""
import os
import pathlib
import re
import shutil
import unittest

from scanner_case import CORRECTED, EXACT, FULL_RANGE, ScannerCase, merged

HEIGHT = "--pixel-height=4.4"  # no square

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


class ImportCase(ScannerCase):
    def test_the_volume_is_that_of_the_own_scan_file(self):
        for name, (says, own) in FORMATS.items():
            with self.subTest(name):
                says = [HEIGHT, *says]
                self.scan(name, *says, "--format", name)
                own_volume = self.volume(self.own_scan(*merged(says, own)), "own.mha")
                self.lepus("reconstruct", name, "--quiet", *EXACT)  # the output beside it, without a flag that says what it is
                self.assert_same(own_volume, next((self.folder / name).glob("*.mha")))

    def test_info_shows_every_field(self):
        for name in FORMATS:
            with self.subTest(name):
                self.scan(name, HEIGHT, "--format", name)
                shown = self.lepus_json("info", name)
                self.assertEqual(shown["kind"], "scanner")
                used = {field["use"] for field in shown["fields"]}
                geometry = {"geometry.import_file"} if name in IN_THE_FILE else {"geometry.source_axis_mm", "geometry.source_detector_mm"}
                self.assertLessEqual(geometry | {"frames.files" if name in ("iba", "rtk") else "frames.views"}, used)

    def test_the_scan_file_says_where_values_came_from(self):
        self.scan("nikon", HEIGHT, "--format", "nikon")
        self.lepus("import", "nikon")
        text = (self.folder / "nikon/scan.toml").read_text()
        for line in text.splitlines():
            if " = " in line and not line.startswith("#"):
                self.assertIn("  # ", line)
        self.assert_error(self.lepus("import", "nikon", code=6), "disk", "exists")
        self.lepus("import", "nikon/scan.xtekct", "-o", "elsewhere.toml", "--pixel", "5")
        self.assertIn("pixel_width_mm = 5.0  # given with --pixel", (self.folder / "elsewhere.toml").read_text())
        self.lepus("info", "elsewhere.toml")

    def test_a_header_named_without_its_folder(self):
        for name in ("nikon", "skyscan", "phoenix", "northstar", "rtk", "diondo", "iba", "sinograms", "xrad"):
            with self.subTest(name):
                folder = self.scan(name, HEIGHT, "--format", name)
                header = pathlib.Path(self.lepus_json("info", name)["header"]).name
                self.lepus("import", name)
                text = (folder / "scan.toml").read_text()
                os.remove(folder / "scan.toml")
                with self.inside(folder):
                    self.lepus("import", header)
                    self.assertEqual((folder / "scan.toml").read_text(), text)
                    self.lepus("reconstruct", header, "-o", "volume.mha", "--quiet")

    def test_numbers_that_a_geometry_for_each_view_cannot_take(self):
        self.scan("rtk", HEIGHT, "--format", "rtk")
        for option in (["--source-axis", "100"], ["--arc", "90"], ["--parallel"]):
            self.assert_error(self.lepus("import", "rtk", *option, code=2), "usage", option[0], "in every view")
        self.assert_error(self.lepus("import", "rtk", "--pixel", "2", code=3), "input", "the pixels have another size")
        geometry = self.folder / "rtk/geometry.xml"  # without the pixels that lepus notes there, as others write it
        geometry.write_text(re.sub(r"<!-- lepus.*-->\n", "", geometry.read_text()))
        self.lepus("import", "rtk", "--pixel", "2")  # 40 x 32 pixels, whose middle stays
        self.assertIn("import_first_pixel_mm = [-39.0, -31.0]", (self.folder / "rtk/scan.toml").read_text())
        self.scan("xrad", HEIGHT, "--format", "xrad")
        self.assert_error(self.lepus("import", "xrad", "--pixel", "2", code=2), "usage", "--pixel")

    def test_a_stack_that_cannot_be_read_is_no_projection(self):
        scan = self.scan("rtk", HEIGHT, "--format", "rtk")
        (scan / "mask.mha").write_text("ObjectType = Something\n")
        self.assertIn("mask.mha cannot be read and is left out", self.lepus("import", "rtk").stderr)
        next(file for file in scan.glob("*.mha") if file.name != "mask.mha").unlink()
        self.assert_error(self.lepus("import", "rtk", "--force", code=3), "input", "no stack has as many images", "mask.mha cannot be read")

    def test_mistakes_are_named(self):
        scan = self.scan("nikon", HEIGHT, "--format", "nikon")
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
        self.scan("own", HEIGHT)
        os.remove(self.folder / "own/scan.toml")
        self.assert_error(self.lepus("import", "own", code=2), "usage", "--pixel MM --source-axis MM --source-detector MM",
                          "30 files frames/*.tif of 40 x 32 pixels")
        self.lepus("import", "own", "--pixel", "4.8", "--source-axis", "500", "--source-detector", "1000")
        self.assertEqual(self.lepus_json("info", "own/scan.toml")["frames"]["count"], 30)


if __name__ == "__main__":
    unittest.main()
