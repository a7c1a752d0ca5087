# SPDX-License-Identifier: Apache-2.0
"""What lepus raises. Every error says what went wrong, where, why, and what to do about it:

>>> import lepus
>>> try:
...     lepus.read("missing.mha")
... except lepus.InputError as error:
...     print(error.where, "|", error.kind)
missing.mha | input
"""


class Error(Exception):
    """The base of all errors of lepus; `what`, `where`, `why` and `hint` are its parts, "" where there is nothing to say."""

    kind = "internal"

    def __init__(self, what, where="", why="", hint=""):
        self.what, self.where, self.why, self.hint = what, where, why, hint
        super().__init__(what, where, why, hint)

    def __str__(self):
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.why:
            text += f" ({self.why})"
        return f"{text}; {self.hint}" if self.hint else text


class UsageError(Error, ValueError):
    """Options or sizes that do not go together."""

    kind = "usage"


class InputError(Error):
    """A file that is missing, damaged or of another size, or values that cannot be used."""

    kind = "input"


class GeometryError(Error, ValueError):
    """A geometry that cannot give the volume that was asked for."""

    kind = "geometry"


class MemoryLimitError(Error, MemoryError):
    """Work that does not fit into the memory limit."""

    kind = "memory"


class DiskError(Error, OSError):
    """Writing failed: the disk is full, it is not permitted, the file exists already."""

    kind = "disk"


class UnsupportedError(Error, NotImplementedError):
    """A format or feature that this build of lepus was made without."""

    kind = "unsupported"


class CancelledError(Error):
    """A call that was interrupted from inside; Ctrl-C is KeyboardInterrupt."""

    kind = "cancelled"


class ComparisonError(Error):
    """compare found a metric beyond the limit it was given."""

    kind = "comparison"


class InternalError(Error, RuntimeError):
    """An error in lepus itself; please report it."""


class LepusWarning(UserWarning):
    """Something in the data or the options that a person should look at."""


_kinds = {error.kind: error for error in (UsageError, InputError, GeometryError, MemoryLimitError, DiskError,
                                          UnsupportedError, CancelledError, ComparisonError)}
_kinds["stopped"] = CancelledError  # the program, asked to end


def make(kind, what, where="", why="", hint="", memory="memory_bytes"):
    """The error of a kind, as the library and the program call them. Where the hint speaks of the program's options it gets those of
    the functions here; `memory` is how the one at hand calls its limit."""
    for option, argument in (("--force", "force=True"), ("--restart", "restart=True"), ("--memory", memory)):
        hint = hint.replace(option, argument)
    return _kinds.get(kind, InternalError)(what, where, why, hint)
