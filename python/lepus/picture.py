# SPDX-License-Identifier: Apache-2.0
"""Pictures of volumes and views for notebooks and people without one: the middle slices as a grey PNG."""
import struct
import zlib

import numpy


def png(grey):
    """An 8-bit grey image (rows, columns) as the bytes of a PNG file."""
    rows, columns = grey.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = numpy.zeros((rows, columns + 1), numpy.uint8)  # every line begins with the number of its filter: none
    lines[:, 1:] = grey
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b""))


def grey_levels(image, low, high):
    """Values to 0..255 between low and high; what is not a number is black."""
    span = high - low if high > low else 1.0
    scaled = numpy.nan_to_num((numpy.asarray(image, float) - low) / span, nan=0.0, posinf=1.0, neginf=0.0)
    return numpy.uint8(numpy.round(255 * numpy.clip(scaled, 0, 1)))


def window(images):
    """The values between which all but a few of the voxels lie."""
    values = numpy.concatenate([numpy.ravel(image) for image in images])
    values = values[numpy.isfinite(values)]
    return tuple(numpy.percentile(values, (0.2, 99.8))) if values.size else (0.0, 1.0)


def side_by_side(images, largest=384, gap=4):
    """Images beside each other, each thinned to at most `largest` pixels along a side."""
    thinned = [image[::-(-image.shape[0] // largest), ::-(-image.shape[1] // largest)] for image in images]
    low, high = window(thinned)
    height = max(image.shape[0] for image in thinned)
    columns = []
    for image in thinned:
        column = numpy.full((height, image.shape[1] + gap), 255, numpy.uint8)
        column[:image.shape[0], :image.shape[1]] = grey_levels(image, low, high)
        columns.append(column)
    return numpy.concatenate(columns, axis=1)[:, :-gap]


def middle_slices(volume):
    """The three slices through the middle: across z, y and x, z upwards."""
    nz, ny, nx = volume.shape
    return [numpy.asarray(volume[nz // 2]), numpy.asarray(volume[::-1, ny // 2]), numpy.asarray(volume[::-1, :, nx // 2])]


def some_views(views):
    """Three views spread over the scan, and the sinogram of the middle row."""
    n = views.shape[0]
    return [numpy.asarray(views[n * i // 3]) for i in range(3)] + [numpy.asarray(views[:, views.shape[1] // 2])]
