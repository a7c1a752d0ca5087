# SPDX-License-Identifier: Apache-2.0
"""Real scans from the command line, with center = "auto" and a chain of corrections (docs/real-scans.md)."""
import os
import pathlib
import re
import unittest

from program_case import ProgramCase

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("LEPUS_SHARED_DATA", ROOT.parent / "shared" / "data"))


class RealScans(ProgramCase):
    def reconstructed(self, name, folder, chain):
        """A scan file of tests/judges without its axis, with center = "auto" and a chain; the result of its run."""
        if not (DATA / folder).exists():
            self.skipTest(f"*** the real scan {folder} is not there: nothing was tested ***")
        text = (ROOT / "tests" / "judges" / f"{name}.toml").read_text()
        text = text.replace("../../../shared/data", str(DATA))
        text = re.sub(r"axis_offset_mm.*\n", 'center = "auto"\n', text)
        (self.folder / f"{name}.toml").write_text(text + chain)
        result = self.lepus_json("reconstruct", f"{name}.toml", "-o", f"{name}.mha")
        column = float(re.search(r'center = "auto": the rotation axis is seen on column ([0-9.]+)',
                                 result["provenance"]["scan"]).group(1))
        return column, {c["kind"]: c for c in result["provenance"]["corrections"]}

    def test_tooth(self):
        column, done = self.reconstructed("tooth", "tomopy_tooth", '\n[[correct]]\nkind = "rings"\nmethod = "auto"\n')
        self.assertTrue(295.5 < column < 296.4, column)  # others found 295.6 to 296.34
        # 13 dB were measured; 9 dB leave room for another choice among the methods.
        self.assertLess(done["rings"]["rings_after"], 0.35 * done["rings"]["rings_before"])

    def test_i13(self):
        column, done = self.reconstructed(
            "i13", "savu_i13_24737", '\n[[correct]]\nkind = "rings"\nfilter = "median"\nradius_px = 3\n')
        self.assertAlmostEqual(column, 86, delta=0.5)  # known to about a pixel
        self.assertIn("1 dead pixel", done["dead-pixels"]["found"])
        self.assertLess(done["rings"]["rings_after"], done["rings"]["rings_before"])


if __name__ == "__main__":
    unittest.main()
