# SPDX-License-Identifier: Apache-2.0
"""Line integrals to volumes: FDK of arrays, and everything that a scan file asks for."""
import os
import tempfile

from . import _lepus
from ._arrays import floats, output
from ._options import compute, filled, word
from ._progress import callback
from .errors import UsageError
from .files import read
from .geometry import Grid
from .volume import Volume


def fdk(views, geometry=None, grid=None, *, window="ram-lak", cutoff=1.0, spatial_hamming_samples=0, extrapolate=0.0,
        interpolation="linear", mask=False, out=None, progress=None, **options):
    """The volume of line integrals (views, rows, columns) by filtered backprojection, in 1/mm.

    geometry and grid may be left out where `views` knows them (lepus.read of a scan file); without a grid it is the one that
    the geometry supports. options: backend, device, precision, threads, memory_bytes.

    >>> import lepus
    >>> scan = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=48, rows=48, pixel_mm=1, views=60)
    >>> ball = lepus.Phantom("ball", size_mm=12, value_per_mm=0.02)
    >>> volume = lepus.fdk(ball.project(scan), scan, lepus.Grid(32, 0.5))
    >>> round(float(volume[16, 16, 16]), 3)
    0.02
    """
    geometry = geometry if geometry is not None else getattr(views, "geometry", None)
    if geometry is None:
        raise UsageError("where the rays went is not known", "fdk", "the views have no geometry", "give one")
    grid = grid or getattr(views, "grid", None) or geometry.grid()
    made = _lepus.FdkOptions()
    made.interpolation = word(_lepus.Interpolation, interpolation, "interpolation")
    made.field_of_view_mask, made.compute = mask, compute("fdk", options, fdk.__kwdefaults__)
    filled(made.filter, dict(window=word(_lepus.Window, window, "window"), cutoff=cutoff, extrapolate=extrapolate,
                             spatial_hamming_samples=spatial_hamming_samples), "fdk")
    lines = floats(views, geometry.shape, "views")
    volume = output(out, grid.shape, "voxels", lines)
    with callback(progress) as report:
        _lepus.fdk(geometry._scan, lines, grid._grid, volume, made, report)
    return Volume(volume, grid)


def reconstruct(scan_file, output_file=None, *, method=None, force=False, progress=None, threads=0, memory_bytes=0,
                backend="auto", device="0", precision="half", device_memory_bytes=0, **settings):
    """All that a scan file asks for: find the axis, correct, reconstruct, post-process. The folder of a scanner that lepus knows
    will do, too.

    With `output_file` the volume is written there, never held in memory whole, and a dict that reports the run comes back;
    without, the Volume itself. `method` and settings (iterations, subsets, strength, ...: the keys of [method]) replace those
    of the scan file."""
    scan = _lepus.read_scan(scan_file)
    if method is not None:
        settings["name"] = method
    if settings:
        chosen = filled(scan.method, settings, "method")
        if chosen.name == "fdk" and set(settings) != {"name"}:
            raise UsageError("the method fdk has no iterations and none of their options", str(scan_file),
                             "neither the call nor the scan file names an iterative method", 'give for example method="os-sart"')
        scan.method = chosen
    made = compute("reconstruct", dict(backend=backend, device=device, precision=precision, threads=threads, memory_bytes=memory_bytes,
                                       device_memory_bytes=device_memory_bytes))
    with callback(progress) as report:
        if output_file is not None:
            return _lepus.reconstruct(scan, os.fspath(output_file), made, force, report)
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "volume.mha")
            _lepus.reconstruct(scan, name, made, True, report)
            return read(name)


def list_devices():
    """What can compute here: a list of dicts; `why_not` says why one cannot be used."""
    return _lepus.list_devices()


def methods():
    """The iterative methods, each with what it is for."""
    return _lepus.method_kinds()
