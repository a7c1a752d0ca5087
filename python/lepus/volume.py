# SPDX-License-Identifier: Apache-2.0
"""Arrays that know where they lie: Volume (z, y, x) with its grid, Views (view, row, column) with their geometry. NumPy
arrays in every other way; notebooks show the middle slices."""
import numpy

from . import picture
from ._arrays import host_array

# Functions of NumPy whose results stay where the values were; all others (roll, flip, sort, ...) may move them.
_in_place = {"angle", "around", "clip", "copy", "empty_like", "fix", "full_like", "gradient", "imag", "isclose", "nan_to_num",
             "ones_like", "real", "round", "round_", "where", "zeros_like"}


class _Located(numpy.ndarray):
    """What is computed from one value by value keeps the attributes; what is cut out of it or put in another order has none."""

    _attributes = {}

    def __array_finalize__(self, parent):
        same = isinstance(parent, type(self)) and parent.shape == self.shape
        for name, default in self._attributes.items():
            setattr(self, name, getattr(parent, name, default) if same else default)

    def _forget(self):
        for name, default in self._attributes.items():
            setattr(self, name, default)
        return self

    def __getitem__(self, index):
        part = super().__getitem__(index)
        # Turned round, or copied by a list or a mask. What is left is all of it in its order, or of another shape.
        moved = isinstance(part, _Located) and (part.strides != self.strides or not numpy.may_share_memory(part, self))
        return part._forget() if moved else part

    def take(self, *arguments, **options):
        part = super().take(*arguments, **options)
        return part._forget() if isinstance(part, _Located) else part

    def transpose(self, *axes):
        return super().transpose(*axes)._forget()

    def swapaxes(self, first, second):
        return super().swapaxes(first, second)._forget()

    T = property(transpose)
    mT = property(lambda self: self.swapaxes(-1, -2))

    def __array_function__(self, function, types, arguments, options):
        result = super().__array_function__(function, types, arguments, options)
        if function.__name__ not in _in_place:
            for one in result if isinstance(result, (list, tuple)) else [result]:
                if isinstance(one, _Located) and not any(one is given for given in (*arguments, *options.values())):
                    one._forget()
        return result

    def __array_wrap__(self, array, context=None, return_scalar=False):
        # Sums over all of it are numbers, not arrays of no dimension.
        return array[()] if array.ndim == 0 else super().__array_wrap__(array, context)

    def __reduce__(self):
        rebuild, arguments, state = super().__reduce__()
        return rebuild, arguments, (state, {name: getattr(self, name) for name in self._attributes})

    def __setstate__(self, state):
        super().__setstate__(state[0])
        for name, value in state[1].items():
            setattr(self, name, value)

    def _images(self):
        raise NotImplementedError

    def _repr_png_(self):
        return picture.png(picture.side_by_side(self._images())) if self.ndim == 3 and self.size else None


class Volume(_Located):
    """A volume (nz, ny, nx): `grid` says where its voxels are, `unit` what its values are in, `provenance` (JSON) how it was
    made.

    >>> import lepus, numpy
    >>> volume = lepus.Volume(numpy.zeros((4, 8, 8), "float32"), lepus.Grid((4, 8, 8), 0.5))
    >>> (volume + 1).grid
    <lepus.Grid 4 x 8 x 8 (z, y, x) voxels of 0.5 mm>
    >>> volume[0].grid is None
    True
    """

    _attributes = {"grid": None, "unit": "", "provenance": ""}

    def __new__(cls, values, grid=None, unit="1/mm", provenance=""):
        made = numpy.asarray(host_array(values, "voxels")).view(cls)
        made.grid, made.unit, made.provenance = grid, unit, provenance
        return made

    def _images(self):
        return picture.middle_slices(self)


class Views(_Located):
    """Line integrals (views, rows, columns) with the `geometry` that they were measured in; `grid` is the one that the scan
    file asks for, `notes` what the corrections did."""

    _attributes = {"geometry": None, "grid": None, "notes": ()}

    def __new__(cls, values, geometry=None, grid=None, notes=()):
        made = numpy.asarray(host_array(values, "views")).view(cls)
        made.geometry, made.grid, made.notes = geometry, grid, tuple(notes)
        return made

    def _images(self):
        return picture.some_views(self)
