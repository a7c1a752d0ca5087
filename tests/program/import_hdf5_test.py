# SPDX-License-Identifier: Apache-2.0
"""lepus import of NXtomo and DXchange as their writers vary: flips, looks at the way back, pixels behind optics, units."""
import unittest

from scanner_case import ScannerCase

DETECTOR = "entry/instrument/detector/"
PARALLEL = ["--beam=parallel", "--arc=180"]


class ImportHdf5Case(ScannerCase):
    def changed(self, changes, *more, name="nxtomo"):
        """A simulated file in which these datasets are others (None: none), with the attribute units of each."""
        import h5py
        file = self.scan(name, *more, "--format", name, "--force") / ("scan.nxs" if name == "nxtomo" else "scan.h5")
        with h5py.File(file, "r+") as h:
            for path, (value, unit) in changes.items():
                if path in h:
                    del h[path]
                if value is not None:
                    h[path] = value
                    h[path].attrs["units"] = unit
        return name

    def text(self, name, *options):
        result = self.lepus("import", name, "-o", "scan.toml", "--force", *options)
        return (self.folder / "scan.toml").read_text(), result.stderr

    def stored(self, path, name="nxtomo/scan.nxs"):
        import h5py
        with h5py.File(self.folder / name) as h:
            return h[path][...]

    def test_flips_that_h5py_stored_as_truth_values(self):
        import numpy as np
        self.scan("nxtomo", "--shift-u=9.6", "--format", "nxtomo")
        straight = self.volume("nxtomo", "straight.mha")
        images, axis = self.stored(DETECTOR + "data"), self.stored(DETECTOR + "x_rotation_axis_pixel_position")
        flips = {DETECTOR + "x_flipped": (np.bool_(True), ""), DETECTOR + "y_flipped": (np.bool_(True), "")}
        self.changed({DETECTOR + "data": (images[:, ::-1, ::-1], ""),
                      DETECTOR + "x_rotation_axis_pixel_position": (39 - axis, "pixel"), **flips}, "--shift-u=9.6")
        text, _ = self.text("nxtomo")
        self.assertIn("mirror_columns = true", text)
        self.assert_same(straight, self.volume("nxtomo", "flipped.mha"))
        self.changed({DETECTOR + "x_flipped": ("maybe", "")})
        self.assert_error(self.lepus("import", "nxtomo", code=3), "input", "whether the images are mirrored", "x_flipped")

    def test_flips_that_nxtomo_stored_as_turns_of_the_detector(self):
        turns = DETECTOR + "transformations/"
        for angles, mirrored in (({"rz": 180.0, "ry": 0.0}, ["columns"]), ({"rz": 0.0, "ry": 180.0}, ["rows"]),
                                 ({"rx": 180.0, "ry": 180.0}, ["rows", "columns"]), ({"ry": 180.0}, [])):
            with self.subTest(angles):
                self.changed({turns + name: (angle, "degree") for name, angle in angles.items()})
                text, said = self.text("nxtomo")
                for side in ("columns", "rows"):
                    self.assertEqual(f"mirror_{side} = true" in text, side in mirrored)
                self.assertEqual("transformations/ry = 180 degree is not applied" in said, not mirrored)

    def test_looks_at_the_way_back_are_no_views(self):
        import numpy as np
        self.scan("nxtomo", *PARALLEL, "--format", "nxtomo")
        volume = self.volume("nxtomo", "views.mha")
        images, keys, angles = (self.stored(path) for path in (DETECTOR + "data", DETECTOR + "image_key", "entry/sample/rotation_angle"))
        looks = np.repeat(images[-1:], 3, axis=0)
        self.changed({DETECTOR + "data": (np.concatenate([images, looks]), ""),
                      DETECTOR + "image_key": (np.r_[keys, 0, 0, 0], ""),
                      DETECTOR + "image_key_control": (np.r_[keys, -1, -1, -1].astype(int), ""),
                      "entry/sample/rotation_angle": (np.r_[angles, 180, 90, 0], "degrees")}, *PARALLEL)
        text, said = self.text("nxtomo")
        self.assertIn("views = 30", text)
        self.assertIn("3 images are looks at the way back", said)
        self.assert_same(volume, self.volume("nxtomo", "without.mha"))

    def test_of_a_parallel_beam_the_pixel_is_that_of_the_sample(self):
        sample = {"entry/sample/x_pixel_size": (0.5, "mm"), "entry/sample/y_pixel_size": (0.25, "mm")}
        text, said = self.text(self.changed(sample, *PARALLEL))
        self.assertIn("pixel_width_mm = 0.5 ", text)
        self.assertIn("pixel_height_mm = 0.25 ", text)
        self.assertIn("the pixel is taken as 0.5 mm", said)
        self.assertIn("pixel_width_mm = 4.8 ", self.text(self.changed(sample))[0])  # a cone
        text, _ = self.text(self.changed({"entry/sample/x_pixel_size": (0.5, "mm")}, *PARALLEL))
        self.assertIn("pixel_width_mm = 0.5 ", text)
        self.assertNotIn("pixel_height_mm", text)  # the detector's own is of another place: square
        instrument = "measurement/instrument/"
        self.changed({instrument + "detector/actual_pixel_size_x": (None, ""),
                      instrument + "detector/pixel_size": ([3.45], "microns"),
                      instrument + "detection_system/objective/resolution": ([0.69], "microns")}, *PARALLEL, name="dxchange")
        text, said = self.text("dxchange")
        self.assertIn("pixel_width_mm = 0.00069 ", text)
        self.assertIn("0.00345 mm, which is that of the detector", said)

    def test_units_and_numbers_that_go_before_them(self):
        for unit, pixel in (("micrometers", 0.0048), ("micrometre", 0.0048), ("\u00b5m", 0.0048), ("\u03bcm", 0.0048),
                            ("millimetre", 4.8), ("meters", 4800.0)):
            with self.subTest(unit):
                text, _ = self.text(self.changed({DETECTOR + "x_pixel_size": (4.8, unit)}))
                self.assertIn(f"pixel_width_mm = {pixel} ", text)
        self.changed({DETECTOR + "x_pixel_size": (4.8, "furlong")}, "--shift-u=9.6")
        self.assert_error(self.lepus("import", "nxtomo", code=3), "input", "furlong", "--pixel")
        text, _ = self.text("nxtomo", "--pixel", "2.4", "--arc", "200")
        self.assertIn("detector_shift_u_mm = 4.8 ", text)  # two pixels
        self.assertIn("arc_deg = 200.0 ", text)
        self.assertNotIn("angles_dataset", text)


if __name__ == "__main__":
    unittest.main()
