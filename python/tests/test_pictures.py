# SPDX-License-Identifier: Apache-2.0
"""Pictures as another decoder sees them, and the examples of the documentation strings."""
import doctest
import importlib
import pkgutil
import zlib

import numpy
import pytest

import lepus
from lepus import picture


def decoded(data):
    """A grey PNG by its specification; checks every checksum."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == int.from_bytes(data[at + 8 + length:at + 12 + length], "big")
        parts[kind] = body
        at += 12 + length
    columns, rows = (int.from_bytes(parts[b"IHDR"][i:i + 4], "big") for i in (0, 4))
    lines = numpy.frombuffer(zlib.decompress(parts[b"IDAT"]), numpy.uint8).reshape(rows, columns + 1)
    assert not lines[:, 0].any()
    return lines[:, 1:]


def test_a_picture_is_what_it_was():
    image = numpy.random.default_rng(6).integers(0, 256, (7, 11), dtype=numpy.uint8)
    assert numpy.array_equal(decoded(picture.png(image)), image)


def test_middle_slices_of_a_volume():
    values = numpy.zeros((4, 6, 8), "f4")
    values[3, 3, 4] = 1  # at the top, in the middle
    shown = decoded(lepus.Volume(values, lepus.Grid(values.shape))._repr_png_())
    assert shown.shape == (6, 8 + 4 + 8 + 4 + 6)
    across_y = shown[:4, 12:20]
    assert across_y[0, 4] == 255 and across_y.sum() == 255  # z upwards


def test_views_and_broken_values_are_shown_too(views):
    assert decoded(views._repr_png_()).shape[0] == 60
    broken = numpy.full((3, 3, 3), numpy.nan, "f4")
    assert decoded(lepus.Volume(broken)._repr_png_()).max() == 255  # the gaps between the slices
    assert lepus.Volume(broken)[0]._repr_png_() is None


modules = [name for _, name, _ in pkgutil.iter_modules(lepus.__path__) if name not in ("_lepus", "autograd", "bin")]


@pytest.mark.parametrize("name", modules)
def test_examples(name):
    module = importlib.import_module("lepus." + name)
    assert doctest.testmod(module).failed == 0
    if name in ("geometry", "volume", "files", "reconstruction", "operator", "iterative", "corrections", "phantom", "errors", "commands"):
        assert doctest.testmod(module).attempted > 0
