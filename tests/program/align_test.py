# SPDX-License-Identifier: Apache-2.0
"""center and calibrate: what the simulator hid from the scan file is found again, and bad input is explained."""
import re
import subprocess
import unittest

from program_case import PROGRAM, ProgramCase

SCANNER = ["--flats", "2", "--darks", "2", "--source-axis", "300", "--source-detector", "600", "--photons", "20000",
           "--no-truth", "--quiet"]
HEAD = ["--views", "96", "--columns", "96", "--rows", "64", "--pixel", "2", *SCANNER]


class Align(ProgramCase):
    def scan(self, name, phantom, *more):
        self.lepus("simulate", phantom, "-o", name, *HEAD, *more)
        return f"{name}/scan.toml"

    def test_hidden_shift_is_found_and_the_lines_mend_it(self):
        scan = self.scan("head", "shepp-logan-modified", "--hidden-shift", "3.3", "--in-plane", "0.6")
        text = (self.folder / scan).read_text()
        (self.folder / scan).write_text(re.sub(r"(?m)^in_plane_deg.*\n", "", text))  # hide the angle too
        found = self.lepus_json("center", scan, "--picture", "center.png")
        self.assertEqual(found["method"], "conjugate")
        self.assertAlmostEqual(found["column"] - found["given_column"], -3.3, delta=0.1)
        self.assertAlmostEqual(found["in_plane_deg"], 0.6, delta=0.1)
        self.assertAlmostEqual(found["geometry"]["detector_shift_u_mm"], 6.6, delta=0.2)
        self.assertEqual((self.folder / "center.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        # What is printed can be pasted in place of the lines of the same names.
        printed = re.findall(r"(?m)^(\w+ = [-+.e0-9]+)$", self.lepus("center", scan, "--first", "42", "--last", "47").stdout)
        self.assertEqual([line.split()[0] for line in printed], ["detector_shift_u_mm", "in_plane_deg"])
        text = (self.folder / scan).read_text()
        text = re.sub(r"(?m)^(detector_shift_u_mm|in_plane_deg).*\n", "", text)
        (self.folder / scan).write_text(text.replace("[geometry]\n", "[geometry]\n" + "\n".join(printed) + "\n"))
        again = self.lepus_json("center", scan)
        self.assertAlmostEqual(again["column"], again["given_column"], delta=0.05)
        self.assertAlmostEqual(again["in_plane_deg"], again["given_in_plane_deg"], delta=0.05)
        self.assertIn("detector_shift_u_mm =", self.lepus("center", scan, "--no-tilt", "--row", "31").stdout)
        self.assertIn("axis_offset_mm =", self.lepus("center", scan, "--no-tilt", "--key", "axis_offset_mm").stdout)

    def test_write_puts_the_keys_into_the_scan_file(self):
        scan = self.scan("head", "shepp-logan-modified", "--hidden-shift", "3.3")
        file = self.folder / scan
        file.write_text(file.read_text().replace("[geometry]\n", "# mine\n[geometry]  # ours\ndetector_shift_u_mm = 0.5 # measured\n"))
        before = file.read_text()
        self.lepus("center", scan, "--no-tilt", "--row", "31", "--write")
        after = file.read_text()
        self.assertRegex(after, r"# mine\n\[geometry\]  # ours\ndetector_shift_u_mm = 6\.[4-8]\d* # measured\n")
        self.assertEqual(re.sub(r"shift_u_mm = \S+", "", before), re.sub(r"shift_u_mm = \S+", "", after))
        again = self.lepus_json("center", scan, "--no-tilt", "--row", "31")
        self.assertAlmostEqual(again["column"], again["given_column"], delta=0.1)
        self.assertEqual(sorted(p.name for p in file.parent.iterdir() if "partial" in p.name or "lock" in p.name), [])

    def test_an_arc_is_centred_by_columns_of_its_frames(self):
        scan = self.scan("arc", "shepp-logan-modified", "--arc-detector", "--shift-u", "6.6")
        known = self.lepus_json("center", scan, "--column", "44.2")
        self.assertAlmostEqual(known["given_column"], 44.2, delta=1e-6)
        self.assertAlmostEqual(known["geometry"]["detector_shift_u_mm"], 6.6, delta=1e-6)
        self.assertAlmostEqual(known["middle_row"], 31.5, delta=0.6)
        text = (self.folder / scan).read_text()
        plain = re.sub(r"(?m)^detector_shift_u_mm.*\n", "", text)
        self.assertNotEqual(plain, text)
        (self.folder / "arc/plain.toml").write_text(plain)
        found = self.lepus_json("center", "arc/plain.toml")
        self.assertAlmostEqual(found["given_column"], 47.5, delta=1e-6)
        self.assertAlmostEqual(found["column"], 44.2, delta=0.05)
        self.assertAlmostEqual(found["geometry"]["detector_shift_u_mm"], 6.6, delta=0.1)
        self.assertEqual(list(found["geometry"]), ["detector_shift_u_mm"], "an arc has no tilt")
        (self.folder / "arc/auto.toml").write_text(plain.replace("[geometry]\n", '[geometry]\ncenter = "auto"\n'))
        for name in ["scan", "plain", "auto"]:
            self.lepus("reconstruct", f"arc/{name}.toml", "-o", f"{name}.mha", "--backend", "cpu", "--quiet")
        plain, auto = (self.lepus_json("compare", "scan.mha", f"{name}.mha")["metrics"] for name in ["plain", "auto"])
        self.assertLess(auto["rmse"], 0.05 * plain["rmse"])

    def test_two_writes_at_once_and_a_change_meanwhile(self):
        scan = self.scan("head", "shepp-logan-modified", "--hidden-shift", "3.3")
        one, other = (subprocess.Popen([PROGRAM, "center", scan, "--write", "--no-tilt", "--quiet"], cwd=self.folder, text=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2))
        said = [p.communicate()[1] for p in (one, other)]
        self.assertIn(0, (one.returncode, other.returncode), said)
        for code, text in zip((one.returncode, other.returncode), said):
            if code != 0:
                self.assertRegex(text, "another run|changed during the run|is being written|in use", text)
        self.assertRegex((self.folder / scan).read_text(), r"detector_shift_u_mm = 6\.[4-8]")

    def test_an_unknown_axis_is_not_written_and_is_in_the_provenance(self):
        scan = self.scan("quarter", "shepp-logan-modified", "--hidden-shift", "3.3", "--arc", "90")
        before = (self.folder / scan).read_text()
        result = self.lepus("center", scan, "--write", "--json", code=3)
        self.assert_error(result, "input", "axis is not known")
        self.assertEqual((self.folder / scan).read_text(), before)
        said = self.lepus("center", scan)
        self.assertIn("the views cover 90.00 degrees", said.stderr)
        self.assertIn("axis      not known; the scan file has column 47.5", said.stdout)
        self.lepus("center", scan, "--column", "44.2", "--picture", "trials.png", "--write")  # the remedy that is named
        self.assertRegex((self.folder / scan).read_text(), r"detector_shift_u_mm = 6\.6")

        (self.folder / scan).write_text(before.replace("[geometry]\n", '[geometry]\ncenter = "auto"\n'))
        self.lepus("reconstruct", scan, "-o", "v.mha", "--quiet")
        provenance = self.lepus_json("info", "v.mha")["provenance"]
        self.assertTrue([w for w in provenance["warnings"] if "rotation axis cannot be found" in w], provenance["warnings"])

    def test_a_shift_is_warned_of_and_both_remedies_mend_it(self):
        scan = self.scan("head", "shepp-logan-modified", "--hidden-shift", "8")
        text = (self.folder / scan).read_text()

        def warnings():
            return self.lepus_json("reconstruct", scan, "-o", "v.mha", "--force")["warnings"]
        self.assertRegex("\n".join(warnings()), "the axis 8 columns to the left.*geometry.center")
        self.lepus("center", scan, "--write", "--no-tilt", "--row", "31")
        self.assertEqual(warnings(), [])
        (self.folder / scan).write_text(text.replace("[geometry]\n", '[geometry]\ncenter = "auto"\n'))
        self.assertEqual(warnings(), [])

    def test_a_volume_chosen_before_the_axis_was_found_is_warned_of(self):
        scan = self.scan("half", "shepp-logan-modified", "--hidden-shift", "20", "--phantom-size", "90")
        text = re.sub(r"(?m)^(size|voxel_mm) = .*\n", "", (self.folder / scan).read_text())

        def warned(geometry):
            (self.folder / scan).write_text(text.replace("[geometry]\n", f"[geometry]\n{geometry}\n"))
            made = self.lepus_json("reconstruct", scan, "-o", "v.mha", "--force")
            return "before the axis was found" in "\n".join(made["warnings"]), made["provenance"]["warnings"]
        self.assertTrue(warned('center = "auto"')[0])
        self.assertTrue(any("lepus center --write" in w for w in warned('center = "auto"')[1]))
        self.assertFalse(warned("detector_shift_u_mm = 40")[0])
        self.assertFalse(warned('detector_shift_u_mm = 39\ncenter = "auto"')[0], "off by less than a voxel")

    def test_the_short_side_of_a_half_fan_is_no_truncation(self):
        wide = ["--shift-u", "70", "--phantom-size", "120"]
        half_fan = self.scan("half", "shepp-logan-modified", *wide)
        self.assertEqual(self.lepus_json("reconstruct", half_fan, "-o", "v.mha")["warnings"], [])
        wider = self.scan("wider", "shepp-logan-modified", "--shift-u", "70", "--phantom-size", "220")
        said = self.lepus_json("reconstruct", wider, "-o", "w.mha")["warnings"]
        self.assertRegex("\n".join(said), "reach past the detector's side at its last column")

    def test_keys_of_a_tilted_detector(self):
        scan = self.scan("head", "shepp-logan-modified", "--shift-u", "6.6", "--yaw", "4", "--pitch", "1", "--in-plane", "0.8")
        text = (self.folder / scan).read_text()
        hidden = re.sub(r"(?m)^(detector_shift_u_mm|in_plane_deg).*\n", "", text)
        (self.folder / "head/hidden.toml").write_text(hidden)
        found = self.lepus_json("center", "head/hidden.toml")["geometry"]
        self.assertAlmostEqual(found["detector_shift_u_mm"], 6.6, delta=0.2)
        self.assertAlmostEqual(found["in_plane_deg"], 0.8, delta=0.1)
        # Where the column is known, so is the key.
        column = self.lepus_json("center", scan, "--column", 40)["given_column"]
        (self.folder / "head/turned.toml").write_text(re.sub(r"(?m)^detector_shift_u_mm.*\n", "", text))
        known = self.lepus_json("center", "head/turned.toml", "--column", column)["geometry"]
        self.assertAlmostEqual(known["detector_shift_u_mm"], 6.6, delta=1e-6)
        # The other key puts the axis on the same column.
        aside = self.lepus_json("center", "head/hidden.toml", "--key", "axis_offset_mm", "--no-tilt")
        offset = aside["geometry"]["axis_offset_mm"]
        (self.folder / "head/aside.toml").write_text(hidden.replace("[geometry]\n", f"[geometry]\naxis_offset_mm = {offset}\n"))
        self.assertAlmostEqual(self.lepus_json("center", "head/aside.toml", "--column", 40)["given_column"], aside["column"], delta=1e-3)
        # center = "auto" makes the volume that the keys make.
        keys = "".join(f"{key} = {value}\n" for key, value in found.items())
        for name, lines in ("keys", keys), ("auto", 'center = "auto"\n'):
            (self.folder / f"head/{name}.toml").write_text(hidden.replace("[geometry]\n", "[geometry]\n" + lines))
            self.lepus("reconstruct", f"head/{name}.toml", "-o", f"{name}.mha", "--backend", "cpu", "--quiet")
        self.assertLess(self.lepus_json("compare", "keys.mha", "auto.mha", "--ssim", "none")["metrics"]["nrmse"], 1e-4)

    def test_what_is_not_seen_is_judged_after_the_axis_was_found(self):
        scan = self.scan("head", "shepp-logan-modified", "--hidden-shift", "3")
        text = re.sub(r"(?m)^size = .*$", "size = [96, 96, 64]", (self.folder / scan).read_text())
        text = re.sub(r"(?m)^voxel_mm = .*$", "voxel_mm = 0.98", text)

        def warned(lines):
            (self.folder / scan).write_text(text.replace("[geometry]\n", f"[geometry]\n{lines}\n"))
            said = self.lepus_json("reconstruct", scan, "-o", "v.mha", "--force")["warnings"]
            return [w.split(";")[0] for w in said if "not seen by every view" in w]
        self.assertEqual(len(warned("detector_shift_u_mm = 6")), 1)
        self.assertEqual(warned('center = "auto"'), warned("detector_shift_u_mm = 6"))
        self.assertEqual(warned('detector_shift_u_mm = -9\ncenter = "auto"'), warned("detector_shift_u_mm = 6"))

    def test_a_fitted_hardening_waits_for_the_axis(self):
        (self.folder / "ball.toml").write_text(
            '[[shape]]\nkind = "sphere"\ncentre_mm = [3, 2, 0]\nradius_mm = 14\nvalue_per_mm = 0.05\n')
        self.lepus("simulate", "ball.toml", "-o", "ball", "--views", "90", "--columns", "96", "--rows", "24", "--pixel", "1", "--flats",
                   "2", "--darks", "2", "--source-axis", "200", "--source-detector", "400", "--photons", "200000", "--no-truth",
                   "--quiet", "--hidden-shift", "5")
        text = (self.folder / "ball/scan.toml").read_text() + '\n[[correct]]\nkind = "hardening"\nhomogeneous = true\n'
        (self.folder / "ball/scan.toml").write_text(text)
        self.assertAlmostEqual(self.lepus_json("center", "ball/scan.toml")["geometry"]["detector_shift_u_mm"], 5, delta=0.1)
        (self.folder / "ball/scan.toml").write_text(text.replace("[geometry]\n", '[geometry]\ncenter = "auto"\n'))
        made = self.lepus_json("reconstruct", "ball/scan.toml", "-o", "v.mha")
        self.assertIn("hardening: p' =", made["corrections"][0])

    def test_few_rows_are_no_reason_for_silence_about_the_angle(self):
        scan = self.scan("head", "shepp-logan-modified")
        text = (self.folder / scan).read_text()
        (self.folder / scan).write_text(text.replace("[frames]\n", "[frames]\nfirst_row = 20\nlast_row = 43\n", 1))
        said = self.lepus("center", scan).stdout
        self.assertRegex(said, r"in-plane  not looked for: 24 rows are too few, \d+ are needed")
        self.assertNotIn("in-plane", self.lepus("center", scan, "--no-tilt").stdout)

    def test_a_column_of_ones_own(self):
        scan = self.scan("head", "shepp-logan-modified")
        taken = self.lepus_json("center", scan, "--column", "45.5", "--picture", "mine.png")
        self.assertAlmostEqual(taken["column"], 45.5)
        self.assertAlmostEqual(taken["geometry"]["detector_shift_u_mm"], 4, delta=1e-6)
        self.assert_error(self.lepus("center", scan, "--column", "45.5", "--picture", "mine.png", code=6), "disk", "exists")

    def test_bad_input(self):
        scan = self.scan("ball", "ball")
        self.assert_error(self.lepus("center", scan, "--first", "60", "--last", "40", "--json", code=2), "usage", "first")
        self.assert_error(self.lepus("center", scan, "--row", "999", "--json", code=2), "usage", "no row 999")
        self.assert_error(self.lepus("calibrate", scan, "--json", code=3), "input", "bead")
        self.assert_error(self.lepus("calibrate", scan, "--plate-width-mm", "-1", "--json", code=2), "usage", "above zero")

    def test_beads(self):
        self.lepus("simulate", "beads", "-o", "beads", *SCANNER, "--beads", "12", "--columns", "160", "--rows", "160",
                   "--pixel", "1.2", "--views", "36", "--bead-radius", "0.025", "--hidden-shift", "2.5")
        found = self.lepus_json("calibrate", "beads/scan.toml", "-o", "geometry.toml")
        self.assertAlmostEqual(found["geometry"]["detector_shift_u_mm"], 3.0, delta=0.05)
        self.assertAlmostEqual(found["geometry"]["source_detector_mm"], 600, delta=3)
        self.assertLess(found["rms_px"], 0.15)
        self.assertEqual(len(found["view_rms_px"]), 36)
        self.assertIn("[geometry]", (self.folder / "geometry.toml").read_text())
        (self.folder / "other.toml").write_text("[geometry]\npixel_width_mm = 1.2 # ours\nsource_detector_mm = 1\n")
        self.lepus("calibrate", "beads/scan.toml", "--write", "--into", "other.toml")
        text = (self.folder / "other.toml").read_text()
        self.assertIn("pixel_width_mm = 1.2 # ours\nsource_detector_mm = 60", text)
        self.assertRegex(text, r"detector_shift_u_mm = (3\.0|2\.9)")
        self.lepus("calibrate", "beads/scan.toml", "--write")
        again = self.lepus_json("calibrate", "beads/scan.toml")
        text = (self.folder / "beads/scan.toml").read_text()
        self.assertRegex(text, r"detector_shift_u_mm = (3\.0|2\.9)")
        self.assertLess(again["rms_px"], 0.15)
        # What the scan file knows of single views is not found once more.
        text = re.sub(r"(?m)^detector_shift_u_mm.*\n", "", text)
        shifts = ", ".join(["3.0"] * 36)
        (self.folder / "beads/shifted.toml").write_text(
            text.replace("[geometry]\n", f"[geometry]\nview_shifts_u_mm = [{shifts}]\n"))
        shifted = self.lepus_json("calibrate", "beads/shifted.toml")
        self.assertAlmostEqual(shifted["geometry"]["detector_shift_u_mm"], 0, delta=0.05)
        (self.folder / "beads/helix.toml").write_text(text.replace("[geometry]\n", "[geometry]\npitch_mm = 2.0\n"))
        self.assert_error(self.lepus("calibrate", "beads/helix.toml", "--json", code=2), "usage", "one geometry for all views")

    def test_beads_that_pass_one_another(self):
        # Some are taken for one another: without care the geometry came out of the false track, the pitch at -20 degrees.
        truth = {"shift_u": 3.1, "shift_v": -2.2, "in_plane": 0.5, "pitch": 0.7, "yaw": -0.4}
        self.lepus("simulate", "beads", "-o", "beads", "--source-axis", "300", "--source-detector", "612", "--photons", "20000",
                   "--beads", "14", "--bead-radius", "0.03", "--columns", "200", "--rows", "133", "--pixel", "1", "--pixel-height",
                   "1.5", "--views", "90", "--format", "raw", "--no-truth", "--quiet",
                   *(word for key, value in truth.items() for word in ("--" + key.replace("_", "-"), value)))
        text = (self.folder / "beads/scan.toml").read_text()
        text = re.sub(r"(?m)^((detector_shift_[uv]_mm|\w+_plane_deg|pitch_deg|yaw_deg) = )[-.\d]+", r"\g<1>0.0", text)
        (self.folder / "beads/scan.toml").write_text(text.replace("source_detector_mm = 612.0", "source_detector_mm = 600.0"))
        found = self.lepus_json("calibrate", "beads/scan.toml")
        self.assertEqual((found["beads"], found["false_tracks"]), (14, 1))
        self.assertRegex("\n".join(found["warnings"]), "a track was followed that no bead makes")
        self.assertAlmostEqual(found["geometry"]["source_detector_mm"], 612, delta=1)
        near = {"detector_shift_u_mm": 0.01, "detector_shift_v_mm": 0.05, "in_plane_deg": 0.01,
                "pitch_deg": 0.8, "yaw_deg": 0.05}
        for (key, delta), value in zip(near.items(), truth.values()):
            self.assertAlmostEqual(found["geometry"][key], value, delta=delta, msg=key)
            self.assertGreater(found["errors"][key], 0)

    def test_plate(self):
        (self.folder / "plate.toml").write_text(
            '[[shape]]\nkind = "box"\ncentre_mm = [0, 0, 0]\nsize_mm = [40, 4, 60]\nvalue_per_mm = 0.2\n')
        made = self.lepus("simulate", "plate.toml", "-o", "plate", *SCANNER, "--beam", "parallel", "--pixel", "1",
                          "--columns", "96", "--rows", "32", "--views", "8", "--arc", "0.08", code=None)
        self.assertEqual(made.returncode, 0, made.stderr)
        found = self.lepus_json("calibrate", "plate/scan.toml", "--plate-width-mm", "40")
        self.assertAlmostEqual(found["interval_mm"], 1, delta=0.01)


if __name__ == "__main__":
    unittest.main()
