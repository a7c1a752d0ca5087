# SPDX-License-Identifier: Apache-2.0
"""Counts to line integrals: each correction takes away what it is for."""
import numpy
import pytest

import lepus
from lepus import corrections as c


@pytest.fixture(scope="module")
def counts(views):
    return (100 + 10000 * numpy.exp(-numpy.asarray(views, float))).astype("uint16")


def error(lines, views):
    return float(numpy.sqrt(numpy.mean((numpy.asarray(lines) - views) ** 2)))


def test_counts_become_line_integrals(counts, scan, views):
    lines = c.correct(counts, scan, flat=numpy.full((5, *scan.shape[1:]), 10100.0), dark=100)
    assert error(lines, views) < 1e-4 and lines.geometry is scan
    assert error(c.correct(counts - 100, scan, flat=10000.0), views) < 1e-4


def test_a_chain_and_its_functions(counts, scan, views):
    beam = 1 + 0.1 * numpy.sin(numpy.arange(scan.views) / 9)
    bad = numpy.float32(100 + (counts - 100.0) * beam[:, None, None])
    bad[:, 20, 24] = 60000.0
    plain = c.correct(bad, scan, flat=10000.0, dark=100)
    chain = c.correct(bad, scan, flat=10000.0, dark=100, steps=[c.Dose(beam, 1.0), c.DeadPixels([20 * scan.columns + 24])])
    assert error(plain, views) > 0.05 and error(chain, views) < 2e-3
    assert len(chain.notes) >= 1
    only_dose = c.dose(bad, scan, flat=10000.0, dark=100, values=list(beam), reference=1.0)
    assert error(only_dose[:, :20], views[:, :20]) < 1e-4


def test_line_integrals_in_place(views, scan):
    noisy = views + numpy.random.default_rng(8).normal(0, 1e-3, scan.shape)
    lines = numpy.array(noisy, "f4")
    lines[30, 10, 20] -= 2  # a bright spot
    done = c.zingers(lines, scan, out=lines)
    assert numpy.shares_memory(done, lines) and abs(done[30, 10, 20] - noisy[30, 10, 20]) < 0.01
    assert error(c.hardening(views, scan, coefficients=[2.0]), 2 * views) < 1e-6


def test_rings_and_drift(scan, views):
    stripes = numpy.random.default_rng(4).normal(0, 0.02, scan.shape[1:])
    lines = views + stripes
    assert error(c.rings(lines, scan), views) < 0.6 * error(lines, views)
    with pytest.raises(lepus.UsageError, match="did you mean"):
        c.Rings("trends")


def test_every_kind_of_a_scan_file_is_a_function(views, scan):
    assert {"filter", "rings", "drift", "hardening"} <= set(c.kinds())
    for kind in c.kinds():
        assert callable(getattr(c, kind.replace("-", "_"))), kind
    random = numpy.random.default_rng(10)
    noisy = views + random.normal(0, 0.01, scan.shape).astype("f4")
    smooth = c.filter(noisy, scan, filter="median", radius_px=2)
    assert error(smooth, views) < 0.75 * error(noisy, views) and smooth.notes
    both = c.correct(noisy, scan, steps=[c.Hardening([2.0]), c.Step("filter", filter="median", radius_px=2), c.Hardening([0.5])])
    assert error(both, smooth) < 1e-5
    with pytest.raises(lepus.InputError, match="did you mean"):
        c.filter(noisy, scan, radus_px=1)
    with pytest.raises(lepus.InputError, match="filtre"):
        c.correct(noisy, scan, steps=[c.Step("filtre")])


def test_steps_are_those_of_a_scan_file(scan_folder):
    text = (scan_folder / "scan.toml").read_text()
    (scan_folder / "with_filter.toml").write_text(text + '\n[[correct]]\nkind = "filter"\nradius_px = 1\n')
    by_file = lepus.read(scan_folder / "with_filter.toml")
    plain = lepus.read(scan_folder / "scan.toml")
    assert error(c.filter(plain, radius_px=1), by_file) < 1e-4 * float(by_file.max())


@pytest.mark.parametrize("step", [c.HotPixels(), c.Step("hot-pixels")], ids=["class", "keys"])
def test_what_a_person_should_look_at_is_warned_of(step, views, scan):
    random = numpy.random.default_rng(1)
    bad = views + random.normal(0, 0.002, scan.shape).astype("f4")
    bad[:, random.random(scan.shape[1:]) < 0.04] -= 1
    with pytest.warns(lepus.LepusWarning, match="% of the pixels"):
        c.correct(bad, scan, steps=[step])


def test_progress_and_results_that_overlap(views, scan):
    calls = []
    c.rings(views, scan, progress=lambda *call: calls.append(call))
    assert calls[-1][1:] == (1, 1)
    memory = numpy.zeros((61, *scan.shape[1:]), "f4")
    memory[:60] = views
    assert error(c.hardening(memory[:60], scan, coefficients=[2.0], out=memory[1:]), 2 * views) < 1e-6


def test_mistakes_are_the_users(views, scan, tmp_path):
    for pixel in (-1, scan.rows * scan.columns):
        with pytest.raises(lepus.UsageError, match="outside the detector"):
            c.dead_pixels(views, scan, pixels=[pixel])
    with pytest.raises(lepus.InputError, match="missing.tif"):
        c.defect_map(views, scan, file=tmp_path / "missing.tif")
    with pytest.raises(lepus.UsageError, match="'rings' is no step"):
        c.correct(views, scan, steps=["rings"])
    with pytest.raises(lepus.UsageError, match="no value of a scan file"):
        c.defect_map(views, scan, file=object())


def test_order_is_checked(views, scan):
    with pytest.raises(lepus.UsageError):
        c.correct(views, scan, steps=[c.Hardening([1.0]), c.Drift()])  # wants grey levels, which are gone
    with pytest.raises(lepus.UsageError, match="dark"):
        c.correct(views, scan, dark=3)
