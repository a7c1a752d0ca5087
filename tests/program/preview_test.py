# SPDX-License-Identifier: Apache-2.0
"""lepus preview: one slice with and without each correction, as a page, a picture and numbers."""
import base64
import re
import unittest

from program_case import ProgramCase


class Preview(ProgramCase):
    def add_corrections(self, scan, *kinds):
        text = (scan / "scan.toml").read_text()
        (scan / "scan.toml").write_text(text + "".join(f'\n[[correct]]\nkind = "{kind}"\n{more}' for kind, more in kinds))

    def test_versions_side_by_side(self):
        scan = self.simulate("scan")
        self.add_corrections(scan, ("filter", "filter = \"box\"\nradius_px = 2\n"), ("rings", "radius_px = 5\nwrite = \"after.mha\"\n"))
        before = self.names(scan)
        result = self.lepus_json("preview", "scan/scan.toml", "--slice", 0.25, "-o", "p.html")
        names = [version["name"] for version in result["versions"]]
        self.assertEqual(names, ["no corrections", "without filter", "without rings", "all corrections"])
        for version in result["versions"]:
            self.assertGreater(version["noise_per_mm"], 0)
            self.assertGreater(version["gradient_energy"], 0)
            self.assertGreaterEqual(version["rings_per_mm"], 0)
        numbers = {version["name"]: version for version in result["versions"]}
        # A box along rows takes sharpness away.
        self.assertLess(numbers["all corrections"]["gradient_energy"], numbers["without filter"]["gradient_energy"])
        page = (self.folder / "p.html").read_text()
        pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
        self.assertEqual(len(pictures), 7)  # four slices, three differences
        for picture in pictures:
            self.assertEqual(base64.b64decode(picture)[:8], b"\x89PNG\r\n\x1a\n")
        self.assertNotIn("http", page)  # nothing from elsewhere
        self.assertEqual((self.folder / "p.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(self.names(scan), before)
        self.assertEqual([n for n in self.names() if "/" not in n], ["p.html", "p.png", "scan"])

    def test_the_slice_is_that_of_the_volume(self):
        scan = self.simulate("scan")
        self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", "cpu")
        index = self.lepus_json("info", "v.mha", "--header")["size"][2] // 2
        result = self.lepus_json("preview", "scan/scan.toml", "--backend", "cpu")
        self.assertEqual(result["slice"], index)
        self.assertEqual(len(result["versions"]), 1)
        self.lepus("slice", "v.mha", "--index", index, "-o", "v.png")
        page = (self.folder / "preview.html").read_text()
        picture = re.search(r'src="data:image/png;base64,([^"]+)"', page).group(1)
        self.assertEqual(base64.b64decode(picture), (self.folder / "v.png").read_bytes())

    def test_only_rows_of_the_slice_are_corrected(self):
        scan = self.simulate("scan")
        self.add_corrections(scan, ("rings", "radius_px = 5\n"))
        versions = self.lepus_json("preview", "scan/scan.toml", "--backend", "cpu")["versions"]
        took = [line for line in versions[1]["corrections"] if line.startswith("corrections took")]
        rows = int(re.search(r": (\d+) rows of all views at a time", took[0]).group(1))
        self.assertLessEqual(rows, 6, "of 24: the slice and what is interpolated beside it")

    def test_a_corrected_slice_is_that_of_the_volume(self):
        scan = self.simulate("scan")
        self.add_corrections(scan, ("rings", "radius_px = 5\n"))
        self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", "cpu")
        text = (scan / "scan.toml").read_text()
        size = [int(n) for n in re.search(r"(?m)^size = \[(\d+), (\d+), (\d+)\]", text).groups()]
        self.assertEqual(size[2] % 2, 0)
        step = float(re.search(r"(?m)^voxel_mm = \[([\d.]+)", text).group(1))
        text = re.sub(r"(?m)^size = .*$", f"size = [{size[0]}, {size[1]}, 1]", text)
        text = re.sub(r"(?m)^centre_mm = .*$", f"centre_mm = [0.0, 0.0, {step / 2}]", text)
        (scan / "one.toml").write_text(text)
        self.lepus("reconstruct", "scan/one.toml", "-o", "one.mha", "--backend", "cpu")
        middle = size[2] // 2
        self.lepus("post", "v.mha", "-o", "cut.mha", "--do", f"crop z={middle},{middle + 1}")
        # Coordinates are rounded to single precision from another slice's place: 1e-6 is expected.
        self.assertLess(self.lepus_json("compare", "cut.mha", "one.mha", "--ssim", "none")["metrics"]["nrmse"], 1e-5)

    def test_the_picture_has_room_for_its_texts(self):
        try:
            from skimage.io import imread
        except ImportError:
            self.skipTest("python3-skimage is not installed: the PNG is NOT looked at")
        scan = self.simulate("scan")
        (scan / "scan.toml").rename(scan / ("a-scan-with-a-name-that-is-wider-than-its-only-slice-" * 2 + "µ.toml"))
        self.lepus("preview", next(scan.glob("*.toml")), "-o", "p.html")
        picture = imread(self.folder / "p.png")
        self.assertTrue((picture[:, -8:] == 255).all(), "text is cut off at the right")
        self.assertTrue((picture[-8:] == 255).all(), "the picture is cut off at the bottom")
        self.assertLess(picture[:30, -40:].min(), 128, "the name does not reach the right")

    def test_slices_are_by_fdk_and_it_is_said(self):
        scan = self.simulate("scan")
        plain = self.lepus_json("preview", "scan/scan.toml", "-o", "p.html")
        self.assertEqual((plain["method"], plain["warnings"]), ("fdk", []))
        self.assertIn("by FDK", (self.folder / "p.html").read_text())
        text = (scan / "scan.toml").read_text()
        (scan / "scan.toml").write_text(text + '\n[method]\nname = "sirt"\niterations = 2\n[[post]]\nkind = "rescale"\nbits = 8\n')
        other = self.lepus_json("preview", "scan/scan.toml", "-o", "q.html")
        self.assertRegex("\n".join(other["warnings"]), r'(?s)by FDK.*"sirt".*before the scan file.s \[\[post\]\]')
        self.assertEqual(other["versions"][0]["noise_per_mm"], plain["versions"][0]["noise_per_mm"])
        self.simulate("helix", "--helix-pitch", "20", "--arc", "720", "--size", "16,16,8", "--voxel", "4")
        helix = self.lepus("preview", "helix/scan.toml", "-o", "h.html", code=None)
        self.assertNotEqual(helix.returncode, 0)
        self.assertIn("the slices of a preview are made by FDK", helix.stderr)
        self.assertNotIn("--method", helix.stderr)

    def test_bad_input(self):
        scan = self.simulate("scan")
        refused = lambda *words, code=2: self.lepus("preview", "scan/scan.toml", "-o", "p.html", *words, code=code)
        self.assert_error(refused("--slice", 1.5), "usage", "--slice")
        self.assert_error(refused("--index", 9999), "usage", "no slice 9999")
        self.assert_error(refused("--index", 1, "--slice", 0.5), "usage", "both")
        self.assert_error(self.lepus("preview", "scan/scan.toml", "-o", "p.png", code=2), "usage", "one name", "--output p.html")
        (self.folder / "p.png").write_text("mine")
        self.assert_error(refused(code=6), "disk", "exists")
        self.assertEqual((self.folder / "p.png").read_text(), "mine")
        self.assertFalse((self.folder / "p.html").exists())
        self.assert_error(self.lepus("preview", "scan/scan.toml", "-o", "none/p.html", code=6), "disk", "none")
        self.assert_error(self.lepus("preview", "none.toml", code=3), "input", "none.toml")
        self.add_corrections(scan, ("rigns", ""))
        self.assert_error(refused(code=3), "input", "rings")


if __name__ == "__main__":
    unittest.main()
