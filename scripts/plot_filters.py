#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The pictures of docs/filters.md, from the formulas on that page -> docs/images/filters-*.svg and .png.
# Needs numpy and matplotlib (Debian: python3-numpy, python3-matplotlib).
import pathlib
import numpy as np
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder = pathlib.Path(__file__).resolve().parent.parent / "docs" / "images"
plt.rcParams.update({"font.size": 9, "svg.hashsalt": "lepus", "axes.spines.top": False, "axes.spines.right": False})


def step(x):
    return np.sin(np.pi / 2 * np.clip(x, 0, 1)) ** 2


def save(figure, name):
    figure.tight_layout()
    figure.savefig(folder / name, dpi=110, metadata={"Date": None} if name.endswith("svg") else None)
    print(folder / name)


def windows():
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    x = np.linspace(0, 1, 400)  # of the cut-off
    shapes = {
        "Ram-Lak": np.ones_like(x),
        "Shepp-Logan": np.sinc(x / 2),
        "cosine": np.cos(np.pi * x / 2),
        "Hamming": 0.54 + 0.46 * np.cos(np.pi * x),
        "Hann": 0.5 + 0.5 * np.cos(np.pi * x),
    }
    for name, shape in shapes.items():
        left.plot(x / 2, x / 2 * shape, label=name)
    left.set(xlabel="cycles per pixel", ylabel="response", title="windows, cut-off 1")
    left.legend(frameon=False)
    for cutoff in (1, 0.75, 0.5):
        f = x / 2 * cutoff
        right.plot(np.append(f, [cutoff / 2, 0.5]), np.append(f * shapes["Hann"], [0, 0]), label=f"Hann, cut-off {cutoff}")
    f = x / 2
    g = 0.54 + 0.46 * np.cos(np.pi * np.arange(-2, 3) / 2)
    g /= g.sum()
    smooth = sum(g[k] * np.cos(2 * np.pi * f * (k - 2)) for k in range(5))
    right.plot(f, f * smooth, "k--", label="Ram-Lak after Hamming of 5")
    right.set(xlabel="cycles per pixel", title="cut-off and smoothing", ylim=(0, 0.22))
    right.legend(frameon=False)
    save(figure, "filters-windows.svg")


def confidence(rho, shorter, longer):
    off = longer - shorter
    return np.ones_like(rho) if off <= 0 else step((rho + shorter) / min(2 * shorter, 4 * off))


# beta and gamma in radians; one arc of views over [0, arc]
def redundancy(beta, gamma, arc, shorter=1.0, longer=1.0):
    rho = np.sin(gamma) / np.sin(np.radians(15))
    opposite = np.mod(beta + np.pi + 2 * gamma, 2 * np.pi)
    own, other = np.minimum(beta, arc - beta), np.clip(np.minimum(opposite, arc - opposite), 0, None)
    fade = np.minimum(own + other, np.radians(60))
    a = step(own / fade) * confidence(rho, shorter, longer) + 1e-30
    return a / (a + step(other / fade) * confidence(-rho, shorter, longer))


def maps():
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
    cases = [
        ("short scan, 210 degrees", 210, (-15, 15), 1, 1),
        ("over-scan, 300 degrees", 300, (-15, 15), 1, 1),
        ("210 degrees, detector shifted", 210, (-10, 15), np.sin(np.radians(10)) / np.sin(np.radians(15)), 1),
    ]
    for axis, (title, arc, (low, high), shorter, longer) in zip(axes, cases):
        beta = np.radians(np.linspace(0.2, arc - 0.2, 500))[:, None]
        gamma = np.radians(np.linspace(low + 0.05, high - 0.05, 300))[None, :]
        m = redundancy(beta, gamma, np.radians(arc), shorter, longer)
        image = axis.imshow(m, extent=[low, high, 0, arc], origin="lower", aspect="auto", vmin=0, vmax=1, cmap="viridis")
        axis.set(title=title, xlabel="fan angle, degrees")
    axes[0].set_ylabel("view angle, degrees")
    figure.colorbar(image, ax=axes[2], label="weight")
    save(figure, "filters-short-scan.png")


def displaced():
    figure, axis = plt.subplots(figsize=(5.5, 3))
    for shorter in (1, 0.95, 0.8, 0.5, 0.2):
        rho = np.linspace(-shorter, 1, 1000)
        m = confidence(rho, shorter, 1.0) / (confidence(rho, shorter, 1.0) + confidence(-rho, shorter, 1.0))
        axis.plot(rho, m, label=f"near edge at {shorter}")
    axis.set(xlabel="distance from the axis / that of the far edge", ylabel="weight", title="full turn, detector off the middle")
    axis.legend(frameon=False)
    save(figure, "filters-displaced.svg")


folder.mkdir(parents=True, exist_ok=True)
windows()
maps()
displaced()
