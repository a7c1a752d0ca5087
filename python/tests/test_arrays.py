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


def test_what_is_put_in_another_order_forgets_where_it_was(views, scan):
    turned = [views[::-1], views[:, ::-1], views[numpy.arange(60)[::-1]], views[numpy.ones(60, bool)], numpy.roll(views, 3, 0),
              numpy.flip(views, 2), numpy.sort(views, 0), views.take(range(60), 0), numpy.take(views, range(60), 0)]
    assert all(one.shape == scan.shape and one.geometry is None for one in turned)
    with pytest.raises(lepus.UsageError, match="geometry"):
        lepus.fdk(views[::-1])
    kept = [views[:], views[...], views[:, :, :], views * 2, views.copy(), views.astype(float), numpy.clip(views, 0, 1),
            numpy.nan_to_num(views), numpy.zeros_like(views), -views, numpy.maximum(views, 0), views.view()]
    assert all(one.geometry is scan for one in kept)
    assert numpy.atleast_3d(views).geometry is scan and views.geometry is scan
    cube = lepus.Volume(numpy.zeros((4, 4, 4), "f4"), lepus.Grid(4, (1, 2, 3)))
    for turned in (cube.T, cube.transpose(0, 2, 1), cube.swapaxes(0, 2), numpy.moveaxis(cube, 0, 2), numpy.rot90(cube), cube.T.copy()):
        assert turned.shape == cube.shape and turned.grid is None
    assert cube.grid is not None and cube.reshape(cube.shape).grid == cube.grid


def test_results_do_not_go_into_what_is_read(scan):
    lines = numpy.random.default_rng(1).random((60, 40, 48)).astype("f4")
    grid = lepus.Grid(lines.shape, 0.5)
    A = lepus.Operator(scan, grid)
    memory = numpy.zeros(lines.size + 100, "f4")
    apart = memory[100:].reshape(lines.shape)
    for call in (A.forward, A.adjoint, lambda x, out: lepus.fdk(x, scan, grid, out=out)):
        for x, out in ((lines, lines), (memory[:-100].reshape(lines.shape), apart)):
            with pytest.raises(lepus.UsageError, match="out lies in the memory"):
                call(x, out=out)
    assert numpy.array_equal(A.adjoint(lines.astype(float), out=apart), A.T @ lines)


def test_masked_values_are_refused(views, scan, grid):
    masked = numpy.ma.masked_greater(numpy.array(views), 0.1)
    for call in (lambda: lepus.fdk(masked, scan, grid), lambda: lepus.Views(masked, scan), lambda: lepus.corrections.rings(masked, scan)):
        with pytest.raises(lepus.UsageError, match="masked"):
            call()
    flat = numpy.ma.masked_equal(numpy.full(scan.shape[1:], 7.0), 7)
    with pytest.raises(lepus.UsageError, match="masked"):
        lepus.corrections.correct(numpy.ones(scan.shape), scan, flat=1000.0, dark=flat)
    assert lepus.fdk(numpy.ma.masked_array(numpy.array(views)), scan, grid).shape == grid.shape  # nothing is


def test_arrays_of_others_are_written_into(scan, grid):
    x = numpy.random.default_rng(2).random(grid.shape).astype("f4")
    A, out = lepus.Operator(scan, grid), numpy.empty(scan.shape, "f4")
    made = A.forward(Exported(x), out=Exported(out))
    assert numpy.shares_memory(made, out) and numpy.array_equal(out, A @ x)
    assert numpy.array_equal(A @ Exported(x.ravel()), out.ravel())
    out.flags.writeable = False
    with pytest.raises(lepus.UsageError, match="readonly|read-only"):
        A.forward(x, out=Exported(out))
    with pytest.raises(lepus.UsageError, match="no array"):
        A @ object()


def test_options_that_there_are_not_are_named(views, scan, grid, scan_folder):
    with pytest.raises(lepus.UsageError, match="did you mean 'window'"):
        lepus.fdk(views, scan, grid, windw="hann")
    with pytest.raises(lepus.UsageError, match="did you mean 'threads'"):
        lepus.read(scan_folder / "scan.toml", thread=1)
    with pytest.raises(lepus.UsageError, match="threads"):
        lepus.fdk(views, scan, grid, threads="two")
    with pytest.raises(lepus.UsageError, match="progress"):
        lepus.fdk(views, scan, grid, progress=3)
