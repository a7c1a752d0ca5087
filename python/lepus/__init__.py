# SPDX-License-Identifier: Apache-2.0
"""lepus: cone-beam CT in Python. docs/python.md is the guide.

    import lepus
    views = lepus.read("scan.toml")          # corrected line integrals, with their geometry
    volume = lepus.fdk(views)                # a NumPy array with its grid; notebooks show its middle slices
    lepus.write("volume.mha", volume)

Long calls give up the interpreter's lock, end on Ctrl-C, and take progress=True (tqdm) or a function of (stage, done, steps).
"""
from . import corrections
from ._lepus import version as __version__
from .align import Center, find_center
from .commands import analyze, calibrate, center, compare, convert, import_scan, info, plan, post, simulate, view
from .demo import demo
from .errors import (CancelledError, ComparisonError, DiskError, Error, GeometryError, InputError, InternalError, LepusWarning,
                     MemoryLimitError, UnsupportedError, UsageError)
from .files import OpenVolume, open, read, read_frames, write
from .geometry import Geometry, Grid
from .iterative import Solver, solve
from .operator import Operator
from .phantom import Phantom, phantoms
from .reconstruction import fdk, list_devices, methods, reconstruct
from .volume import Views, Volume

__all__ = ["CancelledError", "Center", "ComparisonError", "DiskError", "Error", "Geometry", "GeometryError", "Grid", "InputError",
           "InternalError", "LepusWarning", "MemoryLimitError", "OpenVolume", "Operator", "Phantom", "Solver", "UnsupportedError",
           "UsageError", "Views", "Volume", "analyze", "calibrate", "center", "compare", "convert", "corrections", "demo", "fdk",
           "find_center", "import_scan", "info", "list_devices", "methods", "open", "phantoms", "plan", "post", "read", "read_frames", "reconstruct",
           "simulate", "solve", "view", "write"]
