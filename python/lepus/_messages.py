# SPDX-License-Identifier: Apache-2.0
"""Where the library's warnings and notes go: warnings.warn, and the logger "lepus"."""
import logging
import os
import sys
import warnings

from .errors import LepusWarning

log = logging.getLogger("lepus")
_package = os.path.dirname(__file__)


def warn(text):
    # Named after the caller's line, not after one of this package.
    level, frame = 1, sys._getframe(0)
    while frame.f_back and frame.f_code.co_filename.startswith(_package):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, LepusWarning, stacklevel=level)


def note(text):
    log.info(text)
