# SPDX-License-Identifier: Apache-2.0
"""Iterative methods on arrays, one iteration after another: looked at, stopped, gone on with, saved."""
import os

from . import _lepus
from ._arrays import floats, same_place
from ._messages import warn
from ._options import compute, compute_options, filled
from ._progress import callback
from .errors import UsageError
from .volume import Volume


class Solver:
    """A method at work on line integrals (views, rows, columns). lepus.methods() has their names; settings are the keys of
    [method] in a scan file (subsets, relaxation, strength, low, high, stop_residual, ...), and where to compute.

    `run` may be called again: it goes on where it stopped.

    >>> import lepus
    >>> scan = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=32, rows=32, pixel_mm=1, views=24)
    >>> views = lepus.Phantom("ball", size_mm=8).project(scan)
    >>> solver = lepus.Solver(views, scan, lepus.Grid(16, 1), "cgls")
    >>> first = solver.run(3)
    >>> more = solver.run(3)
    >>> solver.iteration, solver.residuals[5] < solver.residuals[2]
    (6, True)
    """

    def __init__(self, views, geometry=None, grid=None, method="sirt", *, weights=None, start=None, prior=None, mask=None,
                 **settings):
        geometry = geometry if geometry is not None else getattr(views, "geometry", None)
        if geometry is None:
            raise UsageError("where the rays went is not known", "Solver", "the views have no geometry", "give one")
        if geometry.shape != geometry.flat_shape:
            raise UsageError("the frames were recorded on an arc", "Solver", "methods work on a flat detector",
                             "lepus.read of the scan file resamples them")
        self.geometry, self.grid = geometry, grid or getattr(views, "grid", None) or geometry.grid()
        self.method = method
        computing = {name: settings.pop(name) for name in compute_options if name in settings}
        for name in ("weights", "start", "prior", "mask", "name", "iterations", "extend", "choose_strength", "resume", "restart",
                     "save_every", "save_minutes"):
            if name in settings:
                raise UsageError(f"{name} is of scan files", "Solver", "arrays and run() take its place")
        made = filled(_lepus.MethodSettings(), {"name": method, **settings}, "Solver")

        def volume(given, what):
            same_place(self.grid, getattr(given, "grid", None), what, "the Solver")
            return None if given is None else floats(given, self.grid.shape, what)
        self._iteration = _lepus.Iteration(
            geometry._scan, self.grid._grid, made, compute("Solver", computing), floats(views, geometry.shape, "views"),
            None if weights is None else floats(weights, geometry.shape, "weights"), volume(start, "voxels of the start"),
            volume(prior, "voxels of the prior"), volume(mask, "voxels of the mask"))
        if self._iteration.negative_values > 0:
            warn(f"{self._iteration.negative_values} line integrals below zero were taken for zero: {method} needs it")

    def run(self, iterations=10, callback_function=None, *, with_volume=False, progress=None):
        """So many iterations more, or until a rule to stop holds. callback_function(iteration, residual, volume) is called
        after each; where it returns False the run ends there. volume is None unless with_volume asks for it: each is a copy."""
        if iterations < 1:
            raise UsageError(f"{iterations} iterations", "Solver.run", "at least one is needed")
        watch = None
        if callback_function is not None:
            def watch(iteration, residual, volume):
                return callback_function(iteration, residual, None if volume is None else Volume(volume, self.grid))
        with callback(progress) as report:
            self._iteration.run(iterations, watch, with_volume, report)
        if self.diverged:
            warn(f"{self.method}: {self.stopped}; the volume is that of the smallest residual. Try a smaller relaxation, fewer "
                 "subsets, or a model with an exact transpose")
        elif self._iteration.taken_back:
            warn(f"{self.method}: the last iteration led away from the data and was taken back. Try fewer subsets, or more iterations")
        return self.volume

    @property
    def iteration(self):
        """How many iterations are done, in all runs."""
        return self._iteration.iteration

    @property
    def residuals(self):
        """|A x - b| / |b| after each of them."""
        return self._iteration.residuals

    @property
    def stopped(self):
        """Why the last run ended."""
        return self._iteration.stopped

    @property
    def diverged(self):
        """Whether it went away from what was measured: the volume is then the best one before."""
        return self._iteration.diverged

    @property
    def volume(self):
        """The volume so far; a copy."""
        return Volume(self._iteration.volume, self.grid)

    def save(self, path):
        """The state after the last whole iteration, for `load` of a Solver of the same method, scan, grid and values; a callback may
        save, too."""
        self._iteration.save(os.fspath(path))

    def load(self, path):
        """Goes on from a saved state, with the same bits as if it had not been interrupted."""
        self._iteration.load(os.fspath(path))

    def __repr__(self):
        return f"<lepus.Solver {self.method}, {self.iteration} iterations, {self.grid!r}>"


def solve(views, geometry=None, grid=None, method="sirt", iterations=50, *, callback_function=None, progress=None, **settings):
    """The volume after so many iterations of a method: Solver(...).run(...)."""
    return Solver(views, geometry, grid, method, **settings).run(iterations, callback_function, progress=progress)
