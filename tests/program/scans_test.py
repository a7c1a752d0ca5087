# SPDX-License-Identifier: Apache-2.0
"""simulate, info and convert on scans: the same frames come back from every form."""
import filecmp
import unittest

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


if __name__ == "__main__":
    unittest.main()
