# SPDX-License-Identifier: Apache-2.0
"""What works on files, by the commands of the program of the same names; their options are keyword arguments with underscores
(docs/commands.md). Where a command reads a volume, an array will do: it is written to a temporary file."""
import atexit
import contextlib
import os
import re
import subprocess
import tempfile

from . import _lepus, program
from ._arrays import floats
from ._progress import callback
from .errors import UsageError, make
from .files import grid_of, read, write


def _is_file(volume, command, grid, voxel_mm):
    if not isinstance(volume, (str, os.PathLike)):
        return False
    if grid is not None or voxel_mm is not None:
        raise UsageError("grid and voxel_mm are of arrays", command, "the file says where its voxels are")
    return True


@contextlib.contextmanager
def _as_file(volume, command, grid, voxel_mm):
    if _is_file(volume, command, grid, voxel_mm):
        yield os.fspath(volume)
        return
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "volume.mha")
        write(name, volume, grid_of(volume, grid, voxel_mm, command))
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


def post(volume, *steps, output=None, grid=None, voxel_mm=None, show=False, **options):
    """Steps on a finished volume, as the scan file has them: lepus.post(volume, "median radius=2", "hu water=0.02").
    Without `output` the new Volume comes back, else the report. Of an array that is no Volume, `grid` or `voxel_mm` says where
    its voxels are."""
    with _as_file(volume, "post", grid, voxel_mm) as name, tempfile.TemporaryDirectory() as folder:
        target = output or os.path.join(folder, "post.mha")
        report = program.run("post", name, output=target, do=tuple(steps), show=show, **options)
        return report if output else read(target)


def analyze(volume, *, grid=None, voxel_mm=None, show=False, **options):
    """Threshold, phase, porosity, blobs, thickness, noise, resolution of a volume: a dict of numbers. Of an array that is no
    Volume, `grid` or `voxel_mm` says where its voxels are: lengths depend on it."""
    with _as_file(volume, "analyze", grid, voxel_mm) as name:
        return program.run("analyze", name, show=show, **options)


def compare(reference, volume, *, grid=None, radius_mm=None, peak=None, threads=0, progress=None):
    """How far a volume is from a reference (arrays or files): rmse, mae, bias, maximum_error and where, psnr_db, ssim. Where the
    voxels are is said by `grid` or by one of them; only radius_mm needs it.

    >>> import lepus, numpy
    >>> a = numpy.zeros((12, 12, 12), "float32")
    >>> lepus.compare(a, a + 1, peak=1)["rmse"]
    1.0
    """
    first, second = (read(v) if isinstance(v, (str, os.PathLike)) else v for v in (reference, volume))
    own = [one for one in (getattr(first, "grid", None), getattr(second, "grid", None)) if one is not None]
    if grid is None and not own and radius_mm is not None:
        raise UsageError("where the voxels are is not known", "compare", "radius_mm needs it", "give grid, or a Volume")
    grid = grid or (own[0] if own else grid_of(first, None, 1.0, "compare"))
    for other in own:
        if not grid._near(other):
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


def view(volume, *, browser=True, grid=None, voxel_mm=None, **options):
    """Opens the viewer on a volume (an array or a file) or a scan file: in the browser, or with browser=False in the cell of a
    notebook. Its options are those of `lepus view`. Of an array that is no Volume, `grid` or `voxel_mm` says where its voxels are."""
    folder = None
    if not _is_file(volume, "view", grid, voxel_mm):
        grid = grid_of(volume, grid, voxel_mm, "view")
        folder = tempfile.TemporaryDirectory()
        name = os.path.join(folder.name, "volume.mha")
        write(name, volume, grid)
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
