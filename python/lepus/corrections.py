# SPDX-License-Identifier: Apache-2.0
"""Corrections as functions, and as a chain. docs/corrections.md says what each does.

A step is made by its class, with its options; a chain is a list of them, done in order:

>>> import numpy, lepus
>>> from lepus.corrections import Drift, correct
>>> scan = lepus.Geometry(beam="parallel", columns=32, rows=8, pixel_mm=1, views=40, arc_deg=180)
>>> counts = numpy.full(scan.shape, 900.0, "float32")
>>> views = correct(counts, scan, flat=1000.0, steps=[Drift()])
>>> bool(numpy.allclose(views, 0, atol=1e-5))  # the beam is open everywhere: what is missing is its drift
True

These classes have the options that people change, and take arrays. Step has every kind of [[correct]] with all its keys
(`kinds()` lists them); both may stand in one chain, and each kind is a function, too:

>>> smooth = lepus.corrections.filter(views, filter="gaussian", radius_px=2, sigma_px=1.0)
>>> chain = correct(counts, scan, flat=1000.0, steps=[Drift(), lepus.corrections.Step("filter", radius_px=1)])
"""
import functools
import itertools
import json
import os
from collections.abc import Iterable

import numpy

from . import _lepus
from ._arrays import floats, host_array, output
from ._lepus import DeadPixels, Dose, Drift, Hardening, HotPixels, Lag, Phase, Zingers
from ._messages import note
from ._options import word
from ._progress import callback
from .errors import UsageError
from .volume import Views

__all__ = ["DeadPixels", "Dose", "Drift", "Hardening", "HotPixels", "Lag", "Phase", "Rings", "Step", "Zingers", "correct", "dead_pixels",
           "dose", "drift", "hardening", "hot_pixels", "kinds", "lag", "phase", "rings", "zingers"]


def Rings(method="trend"):
    """Stripes of sinograms. method: "automatic", "trend", "wavelet-fourier", "sorting" or "combined"."""
    return _lepus.Rings(word(_lepus.RingMethod, method, "method"))


class Step:
    """A correction as a [[correct]] section of a scan file has it: Step("filter", radius_px=2). docs/corrections.md lists kinds and
    keys; names of files are relative to the current folder."""

    def __init__(self, kind, **keys):
        self.kind, self.keys = kind, keys

    def _toml(self):
        def text(value):
            value = value.tolist() if isinstance(value, (numpy.generic, numpy.ndarray)) else value
            value = os.fspath(value) if isinstance(value, os.PathLike) else value
            try:
                return json.dumps(list(value) if isinstance(value, tuple) else value)  # TOML writes these as JSON does
            except TypeError:
                raise UsageError(f"{value!r} cannot be used", repr(self.kind), "it is no value of a scan file") from None
        lines = [f"kind = {text(self.kind)}"] + [f"{key} = {text(value)}" for key, value in self.keys.items()]
        return "\n".join(["[[correct]]", *lines, ""])

    def __repr__(self):
        return f"Step({self.kind!r}{''.join(f', {k}={v!r}' for k, v in self.keys.items())})"


_steps = (Step, DeadPixels, Dose, Drift, Hardening, HotPixels, Lag, Phase, Zingers, _lepus.Rings)


def kinds():
    """Every kind of correction, with what it does."""
    return _lepus.correction_kinds()


def correct(frames, geometry=None, *, flat=None, dark=None, steps=(), out=None, threads=0, progress=None):
    """Frames (views, rows, columns) to corrected line integrals, as Views with what the steps did in `notes`.

    With `flat` (rows, columns), or one number for the open beam above the dark, frames are counts; without, they are line
    integrals already. `out` may be the frames themselves where these are line integrals of float32: nothing is copied then."""
    geometry = geometry if geometry is not None else getattr(frames, "geometry", None)
    if geometry is None:
        raise UsageError("where the rays went is not known", "correct", "the frames have no geometry", "give one")
    steps = list(steps) if isinstance(steps, Iterable) else [steps]
    for step in steps:
        if not isinstance(step, _steps):
            raise UsageError(f"{step!r} is no step", "correct", "the classes of lepus.corrections make them", 'give Rings(), or Step("rings")')
    # Runs of classes and of Steps; what is between them are line integrals.
    parts = [(by_keys, list(run)) for by_keys, run in itertools.groupby(steps, lambda step: isinstance(step, Step))]
    lines = output(out, geometry.shape, "line integrals")
    notes = []
    with callback(progress) as report:
        if flat is None:
            if dark is not None:
                raise UsageError("a dark without a flat", "correct", "line integrals have no dark", "give the flat, too")
            given = floats(frames, geometry.shape, "line integrals")
            if given.ctypes.data != lines.ctypes.data:
                lines[...] = given
        else:
            frame = geometry.shape[1:]
            flats = None if numpy.ndim(flat) == 0 else floats(_mean(flat), frame, "flat")
            darks = None if dark is None else floats(numpy.broadcast_to(_mean(dark), frame), frame, "dark")
            first = parts.pop(0)[1] if parts and not parts[0][0] else []
            notes += _lepus.correct_counts(geometry._scan, floats(frames, geometry.shape, "counts"), flats, darks,
                                           float(flat) if flats is None else 0.0, first, lines, threads, report)
        for by_keys, part in parts:
            if by_keys:
                notes += _lepus.correct_by_keys(geometry._scan, lines, "".join(step._toml() for step in part), threads, report)
            else:
                notes += _lepus.correct_line_integrals(geometry._scan, lines, part, threads, report)
    for line in notes:
        note(line)
    return Views(lines, geometry, getattr(frames, "grid", None), notes)


def _mean(frames):
    """One frame of several."""
    frames = host_array(frames, "flats and darks")
    return numpy.mean(frames, axis=0, dtype=float) if numpy.ndim(frames) == 3 else frames


def _as_function(step, text):
    def function(frames, geometry=None, *, flat=None, dark=None, out=None, threads=0, progress=None, **options):
        return correct(frames, geometry, flat=flat, dark=dark, steps=[step(**options)], out=out, threads=threads, progress=progress)
    function.__doc__ = text + " Arrays as `correct` takes them; options as the step has them."
    return function


hot_pixels = _as_function(HotPixels, "Columns of sinograms that stand out.")
zingers = _as_function(Zingers, "Single values that stand out.")
dead_pixels = _as_function(DeadPixels, "Known pixels, row * columns + column, are bridged.")
drift = _as_function(Drift, "The beam's strength from a region of air; of counts.")
dose = _as_function(Dose, "The beam's strength as it was measured; of counts.")
lag = _as_function(Lag, "What a detector remembers of the frames before; of counts.")
phase = _as_function(Phase, "Paganin's filter; of counts.")
hardening = _as_function(Hardening, "p becomes c1 p + c2 p^2 + ...")
rings = _as_function(Rings, "Stripes of sinograms.")
for _kind, _text in kinds().items():  # all that have no class
    globals().setdefault(_kind.replace("-", "_"), _as_function(functools.partial(Step, _kind), _text[:1].upper() + _text[1:] + "."))
for _name in {kind.replace("-", "_") for kind in kinds()} | {"hot_pixels", "zingers", "dead_pixels", "drift", "dose", "lag", "phase", "hardening", "rings"}:
    globals()[_name].__name__ = _name
