# SPDX-License-Identifier: Apache-2.0
"""Phantoms of which all is known: their line integrals in any geometry, and their voxels."""
from . import _lepus
from ._arrays import output
from ._progress import callback
from .errors import UsageError
from .volume import Views, Volume


class Phantom:
    """One of lepus.phantoms(), or a phantom file (.toml, .pd). size_mm is its diameter or edge.

    >>> import lepus
    >>> scan = lepus.Geometry(beam="parallel", columns=33, rows=1, pixel_mm=1, views=1)
    >>> float(lepus.Phantom("ball", size_mm=20, value_per_mm=0.02).project(scan)[0, 0, 16])  # through the middle
    0.4000000059604645
    """

    def __init__(self, name="shepp-logan-modified", size_mm=80.0, value_per_mm=0.02, seed=1):
        if not size_mm > 0:
            raise UsageError(f"size_mm = {size_mm}", "Phantom", "it is not above zero")
        self._phantom = _lepus.make_phantom(name, float(size_mm), float(value_per_mm), int(seed))
        self.name, self.size_mm = name, size_mm

    def project(self, geometry, *, subpixels=1, out=None, threads=0, progress=None):
        """Exact line integrals, the mean over subpixels x subpixels rays to each pixel."""
        views = output(out, geometry.shape, "line integrals")
        with callback(progress) as report:
            _lepus.project_phantom(self._phantom, geometry._scan, subpixels, views, threads, report)
        return Views(views, geometry)

    def voxels(self, grid, *, samples=3, out=None, threads=0, progress=None):
        """The phantom on a grid, the mean of samples^3 points in each voxel, in 1/mm."""
        volume = output(out, grid.shape, "voxels")
        with callback(progress) as report:
            _lepus.voxelise_phantom(self._phantom, grid._grid, samples, volume, threads, report)
        return Volume(volume, grid)

    def __repr__(self):
        return f"<lepus.Phantom {self.name}, {self.size_mm:g} mm>"


def phantoms():
    """The names of the phantoms that lepus knows."""
    return _lepus.phantom_names()
