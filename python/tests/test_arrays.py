# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out: no copies, no leaks, sizes checked, threads and signals as Python expects them."""
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import lepus


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Exported:
    """Somebody else's array, known by DLPack alone."""

    def __init__(self, array):
        self.array, self.taken = array, 0

    @property
    def shape(self):
        return self.array.shape

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        self.taken += 1
        return self.array.__dlpack__(**arguments)


def test_fdk_of_a_ball(views, scan):
    volume = lepus.fdk(views, scan, lepus.Grid(40, 0.5))
    assert volume[18:22, 18:22, 18:22] == pytest.approx(0.02, rel=0.03)
    assert abs(float(volume[20, 20, 2])) < 0.002  # beside the ball


def test_results_go_into_the_callers_array(views, scan, grid):
    out = numpy.full(grid.shape, numpy.nan, numpy.float32)
    volume = lepus.fdk(views, scan, grid, out=out)
    assert numpy.shares_memory(volume, out)
    assert numpy.array_equal(out, lepus.fdk(views, scan, grid))


def test_arrays_of_others_are_not_copied(views, scan, grid):
    from lepus._arrays import floats

    plain = numpy.array(views)
    other = Exported(plain)
    assert numpy.shares_memory(floats(plain, scan.shape, "views"), plain)
    assert numpy.shares_memory(floats(other, scan.shape, "views"), plain)
    assert numpy.array_equal(lepus.fdk(other, scan, grid), lepus.fdk(plain, scan, grid))
    assert other.taken == 2
    assert numpy.shares_memory(numpy.from_dlpack(lepus.fdk(plain, scan, grid, out=(out := numpy.empty(grid.shape, "f4")))), out)


def test_other_types_and_layouts_are_converted(views, scan, grid):
    expected = lepus.fdk(views, scan, grid)
    assert numpy.array_equal(lepus.fdk(views.astype(float), scan, grid), expected)
    assert numpy.array_equal(lepus.fdk(numpy.asfortranarray(views), scan, grid), expected)
    assert numpy.array_equal(lepus.fdk(views.tolist(), scan, grid), expected)


def test_what_does_not_fit_is_refused(views, scan, grid):
    with pytest.raises(lepus.UsageError, match=r"\(60, 40, 48\)"):
        lepus.fdk(views[1:], scan, grid)
    with pytest.raises(lepus.UsageError, match="complex"):
        lepus.fdk(views * 1j, scan, grid)
    read_only = numpy.empty(grid.shape, "f4")
    read_only.flags.writeable = False
    for out in (numpy.empty(grid.shape), numpy.empty(grid.shape[::-1], "f4").T, numpy.empty((2, 2, 2), "f4"), read_only):
        with pytest.raises(lepus.UsageError, match="out"):
            lepus.fdk(views, scan, grid, out=out)
    with pytest.raises(lepus.UsageError, match="shepp_logan"):
        lepus.fdk(views, scan, grid, window="sheplogan")


def test_a_value_that_is_no_number_is_named(views, scan, grid):
    broken = numpy.array(views)
    broken[7, 20, 20] = numpy.nan
    with pytest.raises(lepus.InputError, match="view 7"):
        lepus.fdk(broken, scan, grid)


def test_the_interpreter_is_free_meanwhile(views, scan):
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)
    counter = threading.Thread(target=count)
    counter.start()
    started = time.perf_counter()
    lepus.fdk(views, scan, lepus.Grid(96, 0.15), threads=1)
    seconds = time.perf_counter() - started
    stop.set()
    counter.join()
    assert counted[0] > 20 * seconds, f"{counted[0]} turns of another thread in {seconds:.3f} s"


def test_progress_is_reported_in_the_callers_thread(views, scan, grid):
    calls = []
    lepus.fdk(views, scan, grid, progress=lambda stage, done, steps: calls.append((stage, done, steps, threading.current_thread())))
    assert calls and all(thread is threading.main_thread() for *_, thread in calls)
    stage, done, steps, _ = calls[-1]
    assert done == steps > 0 and stage


def test_progress_by_tqdm(views, scan, grid, capsys):
    pytest.importorskip("tqdm")
    lepus.fdk(views, scan, grid, progress=True)
    assert "100%" in capsys.readouterr().err


def test_what_a_callback_raises_comes_out(views, scan):
    def refuse(*_):
        raise LookupError("enough")
    with pytest.raises(LookupError, match="enough"):
        lepus.fdk(views, scan, lepus.Grid(64, 0.2), progress=refuse)


def test_control_c_ends_a_long_call():
    program = """
import lepus, os, signal, threading, time
scan = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=256, rows=256, pixel_mm=0.2, views=720)
views = __import__("numpy").zeros(scan.shape, "float32")
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
started = time.time()
try:
    lepus.fdk(views, scan, lepus.Grid(512, 0.05), backend="cpu")  # a GPU ends before it is asked to
    print("finished")
except KeyboardInterrupt:
    print("interrupted", time.time() - started)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("interrupted"), done.stdout + done.stderr
    assert float(done.stdout.split()[1]) < 10


def test_a_thousand_calls_leave_nothing_behind():
    scan = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=16, rows=16, pixel_mm=2, views=8)
    grid = lepus.Grid(16, 1)
    views = lepus.Phantom("ball", size_mm=12).project(scan)
    A = lepus.Operator(scan, grid, threads=1)

    def calls(count):
        for _ in range(count):
            A.T @ (A @ lepus.fdk(views, scan, grid, threads=1))
            scan.matrices, A.subset([1]), lepus.Geometry.from_matrices(scan.matrices, 16, 16)
            with pytest.raises(lepus.UsageError):
                A @ views
    calls(100)  # what is kept once
    gc.collect()
    before = resident_bytes()
    calls(1000)
    gc.collect()
    # Less than one of the arrays of 16 KiB that each call makes, for every tenth call.
    assert resident_bytes() - before < 100 * 16 * 1024


def test_what_an_array_knows_travels_with_it(views, scan, grid):
    volume = lepus.fdk(views, scan, grid)
    again = pickle.loads(pickle.dumps(volume))
    assert again.grid == grid and again.unit == "1/mm" and numpy.array_equal(again, volume)
    assert (2 * volume).grid == grid and volume[:-1].grid is None
    assert isinstance(volume.sum(), numpy.floating)
