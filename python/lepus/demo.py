# SPDX-License-Identifier: Apache-2.0
"""A first look: a phantom, its scan, its volume, and a picture of it."""
import os
import shutil
import subprocess
import sys

from .geometry import Geometry, Grid
from .phantom import Phantom
from .picture import middle_slices, png, side_by_side
from .reconstruction import fdk


def demo(path="lepus-demo.png", *, size=128, show=True, progress=None):
    """Simulates a scan of a head phantom, reconstructs it, writes a PNG of the middle slices, prints its path, and shows it where
    there is a display or a notebook. Returns the Volume."""
    scan = Geometry(source_axis_mm=500, source_detector_mm=1000, columns=2 * size, rows=2 * size, pixel_mm=200 / (2 * size),
                    views=max(90, 3 * size // 2))
    views = Phantom("shepp-logan-modified", size_mm=80).project(scan, progress=progress)
    volume = fdk(views, scan, Grid(size, 90 / size), progress=progress)
    with open(path, "wb") as file:
        file.write(png(side_by_side(middle_slices(volume))))
    print(os.path.abspath(path))
    if show:
        _show(path)
    return volume


def _show(path):
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    if shell is not None and hasattr(shell, "kernel"):
        from IPython.display import Image, display

        display(Image(filename=path))
    elif (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) and shutil.which("xdg-open"):
        subprocess.Popen(["xdg-open", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
