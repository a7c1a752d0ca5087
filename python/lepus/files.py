# SPDX-License-Identifier: Apache-2.0
"""Volumes, frames and scan files: read whole, or part by part as an array is cut."""
import json
import os
import tempfile

import numpy

from . import _lepus
from ._arrays import floats
from ._options import compute, word
from ._progress import callback
from .errors import UsageError
from .geometry import Geometry, Grid
from .volume import Views, Volume


class OpenVolume:
    """A volume file that is read where it is indexed: only what the index names is taken from the disk, in any format.

    >>> import lepus, numpy, tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "volume.mha")
    >>> lepus.write(name, numpy.arange(24, dtype="float32").reshape(2, 3, 4), voxel_mm=0.1)
    >>> volume = lepus.open(name)
    >>> volume.shape, volume.grid.step_mm
    ((2, 3, 4), (0.1, 0.1, 0.1))
    >>> volume[1, :, ::2]
    array([[12., 14.],
           [16., 18.],
           [20., 22.]], dtype=float32)
    """

    ndim = 3
    dtype = numpy.dtype(numpy.float32)

    def __init__(self, path):
        self._reader = _lepus.open_volume(path)
        self.path = os.fspath(path)
        self.grid = Grid._of(self._reader.grid)
        self.format, self.stored_as = self._reader.format, self._reader.pixel_type
        self.unit, self.provenance = self._reader.unit, self._reader.provenance

    @property
    def shape(self):
        return self.grid.shape

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis in index:
            at = index.index(Ellipsis)
            index = index[:at] + (slice(None),) * (4 - len(index)) + index[at + 1:]
        if len(index) > 3:
            raise IndexError("a volume has three axes")
        index += (slice(None),) * (3 - len(index))
        ranges, turned = [], []
        for one, n in zip(index, self.shape):
            if isinstance(one, slice):
                start, stop, step = one.indices(n)
                chosen = range(start, stop, step)
                turned.append(slice(None, None, -1 if step < 0 else 1))
                ranges.append(chosen[::-1] if step < 0 else chosen)
            else:
                i = range(n)[one]  # IndexError where there is none
                turned.append(0)
                ranges.append(range(i, i + 1))
        if any(len(r) == 0 for r in ranges):
            return numpy.empty([len(r) for r, t in zip(ranges, turned) if t != 0], self.dtype)
        along = ranges[::-1]  # x, y, z
        part = self._reader.read_part([r[0] for r in along], [r[-1] + 1 for r in along], [r.step for r in along])
        return part[tuple(turned)]

    def __array__(self, dtype=None, copy=None):
        whole = self[:]
        return whole if dtype is None else whole.astype(dtype)

    def __repr__(self):
        return f"<lepus.OpenVolume {self.path}: {self.format}, {self.stored_as}, {self.grid!r}>"


def open(path):
    """A volume file of any format that lepus knows, to be read part by part."""
    return OpenVolume(path)


def read(path, *, progress=None, **options):
    """A volume file as a Volume; a scan (a scan file, or the folder or header of a scanner that lepus knows) as Views: its line
    integrals, corrected as it says, with their geometry. options of a scan: threads, memory_bytes."""
    if _lepus.is_scan(path):
        return _read_scan(path, progress, options)
    if options:
        raise UsageError(f"'{next(iter(options))}' is an option of scan files", str(path), "this is a volume")
    volume = OpenVolume(path)
    return Volume(volume[:], volume.grid, volume.unit, volume.provenance)


def _read_scan(path, progress, options):
    scan = _lepus.read_scan(path)
    with callback(progress) as report, tempfile.TemporaryDirectory() as scratch:
        views, geometry, notes = _lepus.line_integrals(scan, os.path.join(scratch, "views"), compute("read", options), report)
    return Views(views, Geometry._of(geometry), Grid._of(scan.grid), notes)


def read_frames(pattern, dataset="", first=0, last=None):
    """Frames as they are in the files, in their own type: "frames/*.tif", a stack, "scan.h5" with a dataset."""
    source = _lepus.open_frames(os.fspath(pattern), dataset)
    chosen = range(source.frames)[first:last]
    return source.read(chosen.start, max(chosen.start, chosen.stop))


def grid_of(volume, grid, voxel_mm, where):
    """The grid of an array: the one that is given, one of such voxels around the centre, or the array's own."""
    shape = numpy.shape(volume)
    if len(shape) != 3:
        raise UsageError(f"an array of the shape {shape} is no volume", where, "volumes have three axes: z, y, x")
    if grid is not None and voxel_mm is not None:
        raise UsageError("both grid and voxel_mm are given", where, "a grid says how large its voxels are", "give one of them")
    grid = grid if voxel_mm is None else Grid(shape, voxel_mm)
    grid = grid if grid is not None else getattr(volume, "grid", None)
    if grid is None:
        raise UsageError("where the voxels are is not known", where, "the array has no grid", "give a Volume, grid or voxel_mm")
    return grid


def _require_json(text, where):
    try:
        known = isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        known = False
    if not known:
        raise UsageError("the provenance cannot be kept", where, "it is not the text of a JSON object", 'give for example \'{"by": "me"}\'')


def write(path, volume, grid=None, *, voxel_mm=None, unit=None, dtype="float32", provenance=None, force=False):
    """Writes a volume; the ending chooses the format: .mha .mhd .nrrd .tif .h5 .raw .zarr. Where the voxels are is said by
    `grid`, by `voxel_mm`, or by the volume itself; dtype may be uint8, uint16 or int16, to which values are rounded."""
    grid = grid_of(volume, grid, voxel_mm, str(path))
    if provenance:
        _require_json(provenance, str(path))
    unit = unit if unit is not None else getattr(volume, "unit", "1/mm")
    provenance = provenance if provenance is not None else getattr(volume, "provenance", "")
    _lepus.write_volume(path, floats(volume, grid.shape, "voxels"), grid._grid, unit,
                        word(_lepus.PixelType, numpy.dtype(dtype).name, "dtype"), provenance or "{}", force)
