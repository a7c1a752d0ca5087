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


def filled(struct, values, name):
    """Sets the fields of a struct; an unknown one is an error that suggests the nearest."""
    known = [field for field in dir(struct) if not field.startswith("_")]
    for key, value in values.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise UsageError(f"{name} has no option '{key}'", "", "there are " + ", ".join(known),
                             f"did you mean '{near[0]}'?" if near else "take one of these")
        try:
            setattr(struct, key, value)
        except TypeError:
            raise UsageError(f"{key} = {value!r} cannot be used", "", "it is of another type") from None
    return struct


def compute(backend="auto", device="0", precision="half", threads=0, memory_bytes=0, device_memory_bytes=0):
    """What computes, and how much it may take: the options that every long call has."""
    made = _lepus.Compute()
    made.backend, made.devices = backend, str(device)
    made.precision = word(_lepus.Precision, precision, "precision")
    made.threads, made.memory_bytes, made.device_memory_bytes = threads, memory_bytes, device_memory_bytes
    return made
