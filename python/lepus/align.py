# SPDX-License-Identifier: Apache-2.0
"""Where the rotation axis is seen."""
from . import _lepus
from ._arrays import floats
from ._options import filled, word
from ._progress import callback
from .errors import UsageError
from .geometry import Geometry


class Center(dict):
    """What was found: column, column_error, in_plane_deg, known, method, ...; `geometry` has the axis there."""

    geometry = None

    def __repr__(self):
        return f"<lepus.Center column {self['column']:.3f} by {self['method']}{'' if self['known'] else ', not to be trusted'}>"


def find_center(views, geometry=None, *, method="auto", bands=5, threads=0, progress=None, **options):
    """The column on which the rotation axis is projected, and the angle at which it crosses the rows, from line integrals.

    method: "auto", "conjugate" (rays measured from both ends), "wedge" (half a turn of a parallel beam) or "sharpness" (trial
    slices). options: first, last, step (columns that are tried), tilt. Where the result is not `known` a warning says why."""
    geometry = geometry if geometry is not None else getattr(views, "geometry", None)
    if geometry is None:
        raise UsageError("where the rays went is not known", "find_center", "the views have no geometry", "give one")
    made = filled(_lepus.CenterOptions(), {"method": word(_lepus.CenterMethod, method, "method"), **options}, "find_center")
    with callback(progress) as report:
        found, moved = _lepus.find_center(floats(views, geometry.flat_shape, "views"), geometry._scan, made, bands, threads, report)
    result = Center(found)
    result.geometry = Geometry._of(moved)
    return result
