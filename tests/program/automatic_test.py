#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""24 scans, four arcs with six kinds of trouble: nothing that lepus chooses by itself may make the slice worse than leaving it out.

The figure is the root mean square error against the phantom where every view sees it. A choice may cost 2 % of the error that
the slice has without it; where it is made for the trouble that the scan has, it must help.
"""
import re
import sys
import unittest

import numpy
import tifffile

from program_case import ProgramCase

ARCS = {"full": 360, "half": 180, "short": 216, "limited": 120}
ALLOWED = 1.02
CHOICES = {
    "center": lambda text: text.replace("[geometry]", '[geometry]\ncenter = "auto"'),
    "rings": lambda text: text + '\n[[correct]]\nkind = "rings"\nmethod = "auto"\n',
    "hot-pixels": lambda text: text + '\n[[correct]]\nkind = "hot-pixels"\n',
}


def stripes(image, index):
    """Gains that the flats do not know: the same in every view."""
    gain = 1 + 0.03 * numpy.random.default_rng(5).standard_normal(image.shape[1])
    return numpy.clip(100 + (image - 100.0) * gain, 0, 65535).astype(numpy.uint16)


def dead_columns(image, index):
    image = image.copy()
    image[:, [37, 38, 90]] = 400
    return image


class Automatic(ProgramCase):
    def make(self, arc, trouble):
        """The scan of one row of the table; the scan file is right but for what the trouble is."""
        options = ["--beam", "fan", "--columns", "128", "--rows", "3", "--pixel", "1.6", "--arc", ARCS[arc],
                   "--views", ARCS[arc] // 2, "--flats", "2", "--darks", "2", "--size", "96,96,1", "--voxel", "1",
                   "--phantom-size", "130" if trouble == "truncation" else "80"]  # of a field of view of 101 mm
        options += ["--photons", "3000", "--open-level", "30000"] if trouble == "noise" else []
        self.lepus("simulate", "shepp-logan-modified", "-o", "scan", *options, "--quiet", "--force")
        change = {"rings": stripes, "dead columns": dead_columns}.get(trouble)
        if change:
            for index, file in enumerate(sorted((self.folder / "scan" / "frames").glob("*.tif"))):
                tifffile.imwrite(file, change(tifffile.imread(file), index))
        text = (self.folder / "scan" / "scan.toml").read_text()
        if trouble == "wrong units":  # radians that are taken for degrees
            text = re.sub(r"arc_deg = [0-9.]+", f"arc_deg = {numpy.radians(ARCS[arc])}", text)
        return text

    def error(self, text):
        (self.folder / "scan" / "tried.toml").write_text(text)
        self.lepus("reconstruct", "scan/tried.toml", "-o", "tried.mha", "--force", "--quiet")
        found = self.lepus_json("compare", "scan/truth.mha", "tried.mha", "--radius", "40", "--ssim", "none")
        return found["metrics"]["rmse"]

    def row(self, arc, trouble):
        text = self.make(arc, trouble)
        left_out = self.error(text)
        return left_out, {name: self.error(choice(text)) / left_out for name, choice in CHOICES.items()}

    def check(self, arc):
        for trouble in ("clean", "rings", "dead columns", "noise", "truncation", "wrong units"):
            with self.subTest(arc=arc, trouble=trouble):
                left_out, ratios = self.row(arc, trouble)
                print(f"{arc:8} {trouble:13} rmse {left_out:.5f}  " + "  ".join(f"{n} x {r:.3f}" for n, r in ratios.items()),
                      file=sys.stderr)
                for name, ratio in ratios.items():
                    self.assertLess(ratio, ALLOWED, f"{name} makes the slice worse")
                if trouble == "rings" and arc in ("full", "short"):
                    self.assertLess(ratios["rings"], 0.7, "stripes are taken away")

    def test_full_turns(self):
        self.check("full")

    def test_half_turns(self):
        self.check("half")

    def test_short_scans(self):
        self.check("short")

    def test_limited_arcs(self):
        self.check("limited")


if __name__ == "__main__":
    unittest.main()
