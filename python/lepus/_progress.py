# SPDX-License-Identifier: Apache-2.0
"""The `progress` argument of long calls: None, True (a bar by tqdm), or a function of (stage, done, steps)."""
import contextlib

from .errors import UsageError


class _Bars:
    """One bar per stage."""

    def __init__(self, tqdm):
        self._tqdm, self._bar, self._stage = tqdm, None, None

    def __call__(self, stage, done, steps):
        if self._bar is None or stage != self._stage or done < self._bar.n:
            self.close()
            self._bar, self._stage = self._tqdm(total=steps, desc=stage), stage
        self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
        self._bar = None


@contextlib.contextmanager
def callback(progress):
    """What the library calls, or None."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        from tqdm.auto import tqdm

        bars = _Bars(tqdm)
        try:
            yield bars
        finally:
            bars.close()
    elif callable(progress):
        yield progress
    else:
        raise UsageError(f"progress = {progress!r} cannot be used", "", "it is None, True, or a function of (stage, done, steps)")
