#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example of docs/preview.md: a porous block whose pixels' gains are 3 % off in the frames but not in the flats.

    LEPUS_PROGRAM=build/bin/lepus docs/results/preview-gains.py FOLDER

writes the scan and preview.html, preview.png into FOLDER and prints the page's table. Needs numpy and tifffile."""
import json
import os
import pathlib
import subprocess
import sys

import numpy
import tifffile

CHAIN = """
[[correct]]
kind = "filter"
filter = "median"
radius_px = 1

[[correct]]
kind = "rings"
"""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.environ.get("LEPUS_PROGRAM", "lepus")
    folder = pathlib.Path(sys.argv[1])
    subprocess.run([program, "simulate", "porous-block", "--photons", "3000", "--views", "240", "--columns", "160", "--rows",
                    "120", "--pixel", "1.6", "--pores", "300", "--format", "tiff", "--no-truth", "--quiet", "-o", folder],
                   check=True, stdout=subprocess.DEVNULL)
    gain = 1 + 0.03 * numpy.random.default_rng(1).standard_normal((120, 160))
    for file in (folder / "frames").glob("*.tif"):
        frame = tifffile.imread(file)
        tifffile.imwrite(file, numpy.clip(numpy.rint((frame - 100.0) * gain + 100), 0, 65535).astype(frame.dtype))
    scan = folder / "preview.toml"
    scan.write_text((folder / "scan.toml").read_text() + CHAIN)
    made = subprocess.run([program, "preview", scan, "--slice", "0.5", "-o", folder / "preview.html", "--force", "--json"],
                          check=True, stdout=subprocess.PIPE)
    print("| version | rings, 1/mm | noise, 1/mm | gradient energy, 1/mm⁴ |\n|---|---|---|---|")
    for v in json.loads(made.stdout)["versions"]:
        print(f"| {v['name']} | {v['rings_per_mm']:.2e} | {v['noise_per_mm']:.2e} | {v['gradient_energy']:.2e} |")


if __name__ == "__main__":
    main()
