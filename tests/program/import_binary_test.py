# SPDX-License-Identifier: Apache-2.0
"""lepus import of scanners with binary files: the volumes are those of lepus' own scan files, what is wrong is said."""
import os
import pathlib
import re
import shutil
import struct
import unittest

from scanner_case import CORRECTED, NO_DARKS, ScannerCase, merged

# Of each format: what its header can say, what the same scan is in lepus' own files beside that, the keys that a field of
# its header must be used for, and whether the header leaves open where the axis is.
PARALLEL = ["--beam=parallel", "--arc=180", "--shift-u=2"]
DISTANCES = {"geometry.source_axis_mm", "geometry.source_detector_mm"}
FORMATS = {
    "zeiss": (["--first-angle=25", "--shift-u=2", "--shift-v=-3"], NO_DARKS, DISTANCES | {"frames.views"}, False),
    "nxtomo": (["--first-angle=25", "--shift-u=2", "--pixel-height=4.4"], [], DISTANCES | {"frames.image_key"}, False),
    "varian": (["--first-angle=25", "--shift-u=2", "--shift-v=-3", "--pixel-height=4.4"], NO_DARKS,
               DISTANCES | {"geometry.angles_deg"}, False),
    "elekta": (["--source-axis=1000", "--source-detector=1536", "--pixel=10.24", "--pixel-height=12.8", "--first-angle=25",
                "--shift-u=2", "--shift-v=-3"], [*CORRECTED, "--open-level=65536"],
               {"geometry.angles_deg", "geometry.detector_shift_u_mm"}, False),
    "iba-dicom": (["--first-angle=25", "--axis-offset=1.5", "--shift-u=2", "--shift-v=-3", "--in-plane=0.8", "--pixel-height=4.4"],
                  CORRECTED, DISTANCES | {"geometry.angles_deg", "geometry.view_perturbations"}, False),
    "iba-flexmap": (["--first-angle=25", "--shift-u=2", "--pixel-height=4.4", "--jitter-source=0.5", "--jitter-detector=0.5",
                     "--jitter-in-plane=0.3", "--jitter-angle=0.2", "--jitter-known"],
                    CORRECTED, DISTANCES | {"geometry.angles_deg"}, False),
    "edf": (PARALLEL, [], {"geometry.pixel_width_mm"}, True),
    "dxchange": (PARALLEL, [], {"frames.dataset"}, True),
}


class ImportBinaryCase(ScannerCase):
    def test_the_volume_is_that_of_the_own_scan_file(self):
        for name, (says, own, used, find_axis) in FORMATS.items():
            with self.subTest(name):
                self.scan(name, *says, "--format", name)
                own_file = self.own_scan(*merged(says, own))
                if find_axis:  # as the importer asks for it
                    own_file.write_text(re.sub(r"detector_shift_u_mm.*", 'center = "auto"', own_file.read_text()))
                if find_axis or "--jitter-known" in says:  # the field of view is not that of the scan without jitter or with a known middle
                    own_file.write_text(re.sub(r"\[volume\]\n(.+\n)*", "", own_file.read_text()))
                self.assert_same(self.volume(own_file, "own.mha"), self.volume(name, f"{name}.mha"))
                shown = self.lepus_json("info", name)
                self.assertEqual(shown["kind"], "scanner")
                self.assertLessEqual(used, {field["use"] for field in shown["fields"]})

    def test_a_parallel_beam(self):
        for name in ("zeiss", "nxtomo"):
            with self.subTest(name):
                more = ["--beam=parallel", "--shift-u=2", "--arc=180"]
                self.scan(name, *more, "--format", name)
                own_file = self.own_scan(*more, *FORMATS[name][1])
                self.assert_same(self.volume(own_file, "own.mha"), self.volume(name, f"{name}.mha"))

    def test_zeiss_shifts_of_views_are_like_that_of_the_axis(self):
        try:
            import olefile
        except ImportError:
            self.skipTest("SKIPPED: no olefile")
        file = self.scan("zeiss", "--shift-u=9.6", "--format", "zeiss") / "scan.txrm"
        before = self.volume("zeiss", "before.mha")
        with olefile.OleFileIO(str(file), write_mode=True) as ole:  # 9.6 mm are two pixels
            self.assertAlmostEqual(struct.unpack("<f", ole.openstream("ReconSettings/CenterShift").read())[0], 2, 5)
            ole.write_stream("ReconSettings/CenterShift", struct.pack("<f", 0.5))
            ole.write_stream("Alignment/X-Shifts", struct.pack("<30f", *[1.5] * 30))
        self.assert_same(before, self.volume("zeiss", "after.mha"))

    def test_zeiss_counts_in_pixels_at_the_axis(self):
        self.scan("zeiss", "--shift-u=9.6", "--format", "zeiss")
        keys = ("pixel_width_mm", "detector_shift_u_mm")
        for option, expected in (([], (4.8, 9.6)), (["--pixel", "2"], (2, 4)), (["--source-detector", "1500"], (7.2, 14.4))):
            self.lepus("import", "zeiss", "-o", "scan.toml", "--force", *option)
            text = (self.folder / "scan.toml").read_text()
            for key, value in zip(keys, expected):
                self.assertAlmostEqual(float(re.search(rf"{key} = (\S+)", text).group(1)), value, 4)

    def test_headers_named_without_their_folder(self):
        for name in ("zeiss", "nxtomo", "varian", "elekta", "iba-dicom", "edf"):
            with self.subTest(name):
                folder = self.scan(name, *FORMATS[name][0], "--format", name)
                header = pathlib.Path(self.lepus_json("info", name)["header"]).name
                with self.inside(folder):
                    self.lepus("reconstruct", header, "-o", "volume.mha", "--quiet")

    def test_varian_below_a_folder_named_calibrations(self):
        self.scan("calibrations/varian", "--format", "varian")
        self.lepus("import", "calibrations/varian")

    def test_elekta_frames_and_views_have_the_same_numbers(self):
        scan = self.scan("elekta", *FORMATS["elekta"][0], "--format", "elekta")
        (scan / "00011.his").unlink()
        header = scan / "_Frames.xml"
        lines = header.read_text().splitlines(keepends=True)
        views = [i for i, line in enumerate(lines) if "<Seq>" in line]
        header.write_text("".join(lines[:views[-1]] + lines[views[-1] + 1:]))
        self.assert_error(self.lepus("import", "elekta", code=3), "input", "00012.his stands where view 10 is, of number 11")
        header.write_text("".join(lines[:views[10]] + lines[views[10] + 1:]))  # that view was never taken
        self.lepus("import", "elekta")
        without = re.sub(r"<Seq>\d+</Seq>", "", header.read_text())
        header.write_text(without)
        self.assert_error(self.lepus("import", "elekta", "--force", code=3), "input", "00012.his")

    def test_mistakes_are_named(self):
        import h5py
        file = self.scan("nxtomo", "--format", "nxtomo") / "scan.nxs"
        with h5py.File(file, "r+") as h:
            angles = h["entry/sample/rotation_angle"][...]
            del h["entry/sample/rotation_angle"]
            h["entry/sample/rotation_angle"] = angles[:20]
        self.assert_error(self.lepus("import", "nxtomo", code=3), "input", "the angles stop early", "20 angles for 30 views")
        scan = self.scan("varian", "--format", "varian")
        lost = scan / "Acquisitions/1/Proj_00007.xim"
        os.rename(lost, self.folder / "kept")
        self.assert_error(self.lepus("reconstruct", "varian", code=3), "input", "Proj_00007.xim")
        os.rename(self.folder / "kept", lost)
        lost.write_bytes(lost.read_bytes()[:500])
        self.assert_error(self.lepus("reconstruct", "varian", code=3), "input", "Proj_00007.xim")
        shutil.copytree(scan / "Acquisitions/1", scan / "Acquisitions/2")
        self.assert_error(self.lepus("import", "varian", code=3), "input")
        file = self.scan("zeiss", "--format", "zeiss") / "scan.txrm"
        file.write_bytes(file.read_bytes()[:-5000])
        self.assert_error(self.lepus("import", "zeiss", code=3), "input", "scan.txrm")

    def test_real_files(self):
        shared = os.environ.get("LEPUS_SHARED_DATA", str(pathlib.Path(__file__).parents[2] / "../shared/data"))
        files = {"dxchange_formats/txrm_test_chip_tomo.txrm": ("Zeiss", 600), "dxchange_formats/test_chip00.xrm": ("Zeiss", 600),
                 "dxchange_formats/reader.h5": ("DXchange", 2), "tomopy_tooth/tooth.h5": ("DXchange", 7),
                 "varian_xim/FilterBowtie.xim": ("Varian", 148)}
        for name, (scanner, fields) in files.items():
            with self.subTest(name):
                if not os.path.exists(f"{shared}/{name}"):
                    self.skipTest(f"SKIPPED: no {shared}/{name}")
                shown = self.lepus_json("info", f"{shared}/{name}")
                self.assertIn(scanner, shown["scanner"])
                self.assertGreaterEqual(len(shown["fields"]), fields)


if __name__ == "__main__":
    unittest.main()
