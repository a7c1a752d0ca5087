# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs beside the same call from C++. Long: LEPUS_SPEED names the program lepus_fdk_time."""
import os
import subprocess
import time

import numpy
import pytest

import lepus

program = os.environ.get("LEPUS_SPEED")


def python_seconds(columns, rows, views, voxels):
    scan = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=columns, rows=rows, pixel_mm=0.5, views=views)
    lines, grid, processor, wall = numpy.ones(scan.shape, "f4"), lepus.Grid(voxels, 0.25), [], []
    for _ in range(3):
        before, start = time.process_time(), time.perf_counter()
        lepus.fdk(lines, scan, grid, backend="cpu")
        processor.append(time.process_time() - before)
        wall.append(time.perf_counter() - start)
    return min(processor), min(wall)


@pytest.mark.skipif(not program, reason="long: LEPUS_SPEED names the program lepus_fdk_time")
def test_fdk_costs_no_more_than_from_cpp():
    size = 256, 256, 180, 160
    pairs = []
    for _ in range(4):  # in turn, so that what else the machine does meets both
        mine = python_seconds(*size)
        theirs = [float(x) for x in subprocess.run([program, *map(str, size)], capture_output=True, text=True, check=True).stdout.split()]
        pairs.append((mine, theirs))
    mine, theirs = (min(pair[i][0] for pair in pairs) for i in (0, 1))
    print(f"processor: Python {mine:.3f} s, C++ {theirs:.3f} s; clock: Python {min(p[0][1] for p in pairs):.3f} s, C++ {min(p[1][1] for p in pairs):.3f} s")
    assert mine <= 1.02 * theirs


def test_a_small_call_takes_no_time():
    scan = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=8, rows=8, pixel_mm=4, views=4)
    lines, grid = numpy.zeros(scan.shape, "f4"), lepus.Grid(8, 1)
    seconds = []
    for _ in range(50):
        start = time.perf_counter()
        lepus.fdk(lines, scan, grid, threads=1)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.02  # 50 ms would be a call that waits for its own watch over signals
