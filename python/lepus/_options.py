# SPDX-License-Identifier: Apache-2.0
"""Words and keyword arguments to the option structs of the library."""
import difflib

from . import _lepus
from .errors import UsageError


def word(enum, text, name):
    """The member of an enum by its name; "shepp-logan" and "shepp_logan" are the same."""
    known = enum.__members__
    key = str(text).replace("-", "_")
    if key in known:
        return known[key]
    near = difflib.get_close_matches(key, known, 1)
    raise UsageError(f'{name} = "{text}" is not known', "", "there are " + ", ".join(known),
                     f'did you mean "{near[0]}"?' if near else "take one of these")


def _unknown(name, key, known):
    near = difflib.get_close_matches(key, known, 1)
    raise UsageError(f"{name} has no option '{key}'", "", "there are " + ", ".join(known),
                     f"did you mean '{near[0]}'?" if near else "take one of these")


def filled(struct, values, name):
    """Sets the fields of a struct; an unknown one is an error that suggests the nearest."""
    known = [field for field in dir(struct) if not field.startswith("_")]
    for key, value in values.items():
        if key not in known:
            _unknown(name, key, known)
        try:
            setattr(struct, key, value)
        except TypeError:
            raise UsageError(f"{key} = {value!r} cannot be used", "", "it is of another type") from None
    return struct


compute_options = ("backend", "device", "precision", "threads", "memory_bytes", "device_memory_bytes")


def compute(name, options, others=()):
    """What computes, and how much it may take: the options that every long call has. `others`: those of this call alone."""
    for key in options:
        if key not in compute_options:
            _unknown(name, key, [*compute_options, *others])
    given = {"precision": "half", "device": "0", **options}
    return filled(_lepus.Compute(), {**{key: value for key, value in given.items() if key != "device"}, "devices": str(given["device"]),
                                     "precision": word(_lepus.Precision, given["precision"], "precision")}, name)
