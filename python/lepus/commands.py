# SPDX-License-Identifier: Apache-2.0
"""What works on files, by the commands of the program of the same names; their options are keyword arguments with underscores
(docs/commands.md). Where a command reads a volume, an array will do: it is written to a temporary file."""
import atexit
import contextlib
import os
import re
import subprocess
import tempfile

import numpy

from . import _lepus, program
from ._arrays import floats
from ._progress import callback
from .errors import UsageError, make
from .files import read, write
from .geometry import Grid


@contextlib.contextmanager
def _as_file(volume):
    if isinstance(volume, (str, os.PathLike)):
        yield os.fspath(volume)
        return
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "volume.mha")
        write(name, volume, getattr(volume, "grid", None) or Grid(numpy.shape(volume)))
        yield name


def simulate(phantom, folder, *, show=False, **options):
    """A scan on disk as a scanner would have written it: frames, flats, darks, scan.toml.
    lepus.simulate("shepp-logan-modified", "scan", preset="tiny", views=90, photons=1e5)"""
    return program.run("simulate", phantom, output=folder, show=show, **options)


def import_scan(place, *, show=False, **options):
    """Writes the scan file of a scanner's folder, with a comment on every value that says where it came from."""
    return program.run("import", place, show=show, **options)


def center(scan_file, *, show=False, **options):
    """The column of the rotation axis of a scan file; write=True puts it there. Of arrays: find_center."""
    return program.run("center", scan_file, show=show, **options)


def calibrate(scan_file, *, show=False, **options):
    """The geometry of a scan of beads: distances, shifts and tilts with their errors."""
    return program.run("calibrate", scan_file, show=show, **options)


def info(path, **options):
    """What a scan, a volume or frames are."""
    return program.run("info", path, **options)


def plan(scan_file, **options):
    """What a reconstruction would take: memory, disk, time; nothing is computed."""
    return program.run("plan", scan_file, **options)


def convert(source, target, *, show=False, **options):
    """A volume, frames or a scan in another format."""
    return program.run("convert", source, output=target, show=show, **options)


def post(volume, *steps, output=None, show=False, **options):
    """Steps on a finished volume, as the scan file has them: lepus.post(volume, "median radius=2", "to-hu water=0.02").
    Without `output` the new Volume comes back, else the report."""
    with _as_file(volume) as name, tempfile.TemporaryDirectory() as folder:
        target = output or os.path.join(folder, "post.mha")
        report = program.run("post", name, output=target, do=tuple(steps), show=show, **options)
        return report if output else read(target)


def analyze(volume, *, show=False, **options):
    """Threshold, phase, porosity, blobs, thickness, noise, resolution of a volume: a dict of numbers."""
    with _as_file(volume) as name:
        return program.run("analyze", name, show=show, **options)


def compare(reference, volume, *, grid=None, radius_mm=None, peak=None, threads=0, progress=None):
    """How far a volume is from a reference (arrays or files): rmse, mae, bias, maximum_error and where, psnr_db, ssim.

    >>> import lepus, numpy
    >>> a = numpy.zeros((12, 12, 12), "float32")
    >>> lepus.compare(a, a + 1, peak=1)["rmse"]
    1.0
    """
    first, second = (read(v) if isinstance(v, (str, os.PathLike)) else v for v in (reference, volume))
    grid = grid or getattr(first, "grid", None) or Grid(numpy.shape(first))
    other = getattr(second, "grid", None)
    if other is not None and other != grid:
        raise UsageError("the volumes lie on different grids", "compare", f"{grid!r} and {other!r}", "convert one of them")
    with callback(progress) as report:
        return _lepus.compare(floats(first, grid.shape, "voxels of the reference"), floats(second, grid.shape, "voxels"), grid._grid,
                              radius_mm, peak, threads, report)


_open_views = set()  # they stay open although nobody keeps what `view` returned


@atexit.register
def _close_views():
    for opened in list(_open_views):
        opened.close()


class View:
    """A viewer at work: `address` is its page; close() ends it, as leaving a `with` or Python does."""

    def __init__(self, process, address, folder):
        self._process, self.address, self._folder = process, address, folder

    def close(self):
        _open_views.discard(self)
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._process.stdout.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<lepus.View {self.address}>"

    def _repr_html_(self):
        return f'<iframe src="{self.address}" width="100%" height="600"></iframe>'


def view(volume, *, browser=True, **options):
    """Opens the viewer on a volume (an array or a file) or a scan file: in the browser, or with browser=False in the cell of a
    notebook. Its options are those of `lepus view`."""
    folder = None
    if not isinstance(volume, (str, os.PathLike)):
        folder = tempfile.TemporaryDirectory()
        name = os.path.join(folder.name, "volume.mha")
        write(name, volume, getattr(volume, "grid", None) or Grid(numpy.shape(volume)))
        volume = name
    words = [program.find(), "view", os.fspath(volume), *program.words_of({"no_browser": not browser, **options})]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = re.search(r"https?://\S+", line)
        if found:
            opened = View(process, found.group(), folder)
            _open_views.add(opened)
            return opened
    process.wait()
    raise make("internal", f"the viewer ended with code {process.returncode}", os.fspath(volume), "its own message is on standard error")
