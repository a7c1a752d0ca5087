#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The pictures of docs/simulation.md: one view and the middle slice of every phantom, and what the detector makes of a
# view -> docs/images/phantom-*.png. Usage: scripts/plot_phantoms.py [path of the lepus program]
# Needs numpy, matplotlib, tifffile (Debian: python3-numpy, python3-matplotlib, python3-tifffile).
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import tifffile

root = pathlib.Path(__file__).resolve().parent.parent
lepus = sys.argv[1] if len(sys.argv) > 1 else str(root / "build" / "bin" / "lepus")
folder = root / "docs" / "images"

near = ["--columns", "300", "--rows", "300", "--pixel", "0.7", "--size", "200,200,200", "--voxel", "0.5"]
head = ["--source-axis", "1000", "--source-detector", "1500", "--columns", "320", "--rows", "320", "--pixel", "1.4",
        "--size", "250,250,260", "--voxel", "1"]
small = ["--columns", "300", "--rows", "300", "--pixel", "0.5", "--size", "200,200,200", "--voxel", "0.3"]
example = root / "examples" / "phantoms"
# name, options, (window of the slice in 1/mm)
phantoms = [
    ("shepp-logan", near, (0.0198, 0.0212)),
    ("shepp-logan-modified", near, (0, 0.02)),
    ("defrise", near, (0, 0.02)),
    ("ball", near, (0, 0.02)),
    ("forbild-head", head, (0.0203, 0.0217)),
    ("porous-block", near, (0, 0.02)),
    ("beads", near, (0, 0.1)),
    (str(example / "step_wedge.toml"), small, (0, 0.09)),
    (str(example / "turbine_blade.toml"), small, (0, 0.4)),
    (str(example / "resolution_rods.toml"), small, (0, 0.045)),
]


def simulate(name, out, options):
    subprocess.run([lepus, "simulate", name, "-o", str(out), "--views", "1", "--first-angle", "20", "--quiet"] + options,
                   check=True)
    return tifffile.imread(sorted((out / "frames").glob("*.tif"))[0])


def overview(work):
    figure, axes = plt.subplots(4, 5, figsize=(11, 9.2))
    for i, (name, options, window) in enumerate(phantoms):
        out = work / str(i)
        frame = simulate(name, out, ["--content", "line-integrals", "--truth-file", "truth.tif"] + options)
        truth = tifffile.imread(out / "truth.tif")
        top, bottom = axes[i // 5 * 2][i % 5], axes[i // 5 * 2 + 1][i % 5]
        top.imshow(frame, cmap="gray")
        top.set_title(pathlib.Path(name).name, fontsize=9)
        level = truth.shape[0] // 2 - (21 if name.startswith("shepp") else 0)  # Shepp-Logan: where its ventricles are
        section = truth[:, truth.shape[1] // 2, :] if name == "defrise" else truth[level]
        # Slices count y (and z) upwards.
        bottom.imshow(section[::-1], cmap="gray", vmin=window[0], vmax=window[1])
    for a in axes.ravel():
        a.set_axis_off()
    figure.tight_layout(pad=0.4)
    figure.savefig(folder / "phantom-overview.png", dpi=90)
    print(folder / "phantom-overview.png")


def physics(work):
    base = ["--columns", "200", "--rows", "200", "--pixel", "1", "--no-truth"]
    cases = [
        ("no noise", []),
        ("2000 photons", ["--photons", "2000"]),
        ("gain, hot, dead", ["--gain-spread", "0.08", "--hot-pixels", "60", "--dead-pixels", "60", "--dead-columns", "3"]),
        ("5 mm spot", ["--spot", "5"]),
    ]
    figure, axes = plt.subplots(1, len(cases), figsize=(11, 3))
    for i, (title, options) in enumerate(cases):
        frame = simulate("beads", work / f"physics{i}", base + options)
        axes[i].imshow(frame, cmap="gray", vmin=0, vmax=52000)
        axes[i].set_title(title, fontsize=9)
        axes[i].set_axis_off()
    figure.tight_layout(pad=0.4)
    figure.savefig(folder / "phantom-detector.png", dpi=90)
    print(folder / "phantom-detector.png")


with tempfile.TemporaryDirectory() as name:
    overview(pathlib.Path(name))
    physics(pathlib.Path(name))
