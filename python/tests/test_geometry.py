# SPDX-License-Identifier: Apache-2.0
"""Geometries by numbers and by matrices, and grids."""
import pickle

import numpy
import pytest

import lepus


def test_a_scan_is_seen_as_docs_geometry_draws_it(scan):
    for view, angle in ((0, 0), (15, 90)):
        u, v, w = scan.matrices[view] @ (0, 0, 0, 1)
        assert (u / w, v / w, w) == pytest.approx((23.5, 19.5, 1))
    u, v, w = scan.matrices[0] @ (1, 0, 1, 1)  # x to the right, z up, twice as large
    assert (u / w, v / w) == pytest.approx((25.5, 17.5))
    assert scan.angles_deg[15] == pytest.approx(90)


def test_from_matrices_in_any_scaling(scan):
    same = lepus.Geometry.from_matrices(-3 * scan.matrices, scan.columns, scan.rows)
    assert numpy.allclose(same.matrices, scan.matrices)
    with pytest.raises(lepus.GeometryError, match="view 2"):
        broken = scan.matrices
        broken[2] = 0
        lepus.Geometry.from_matrices(broken, scan.columns, scan.rows)


def test_views_are_chosen_as_in_an_array(scan):
    assert numpy.array_equal(scan[::7].matrices, scan.matrices[::7])
    assert numpy.array_equal(scan[[5, 1]].matrices, scan.matrices[[5, 1]])
    assert scan[-1].views == 1 and len(scan) == 60
    with pytest.raises(IndexError):
        scan[60]


def test_geometries_and_grids_are_pickled(scan, grid):
    assert pickle.loads(pickle.dumps(scan)) == scan
    assert pickle.loads(pickle.dumps(grid)) == grid and hash(grid) == hash(lepus.Grid((20, 24, 28), 0.6))


def test_the_grid_that_a_scan_supports(scan):
    grid = scan.grid()
    assert grid.step_mm == pytest.approx((0.5, 0.5, 0.5))
    assert scan.grid(shape=16).shape == (16, 16, 16)
    fine = scan.grid(voxel_mm=0.25)
    assert fine.shape[1:] == pytest.approx([2 * n for n in grid.shape[1:]], abs=1)


def test_mistakes_are_named():
    with pytest.raises(lepus.UsageError, match="angles"):
        lepus.Geometry(columns=4, rows=4, pixel_mm=1, source_axis_mm=1, source_detector_mm=2)
    with pytest.raises(lepus.UsageError, match="pixel"):
        lepus.Geometry(columns=4, rows=4, views=3, source_axis_mm=1, source_detector_mm=2)
    with pytest.raises(lepus.Error):
        lepus.Geometry(columns=4, rows=4, views=3, pixel_mm=1)  # a cone without distances
    with pytest.raises(lepus.UsageError, match="did you mean"):
        lepus.Geometry(columns=4, rows=4, views=3, pixel_mm=1, beam="paralel")
    with pytest.raises(lepus.UsageError, match="source"):
        lepus.Geometry(columns=4, rows=4, views=1, pixel_mm=1, source_axis_mm=1, source_detector_mm=2, perturbations=[{"sorce_mm": 1}])
    for shape in ((4, 0, 4), (4.9, 4, 4), (4, 4), float("nan"), float("inf")):
        with pytest.raises(lepus.UsageError, match="sides"):
            lepus.Grid(shape)
    for origin in ((0, 0, float("nan")), (0, 0)):
        with pytest.raises(lepus.UsageError, match="origin_mm"):
            lepus.Grid(4, origin_mm=origin)
    with pytest.raises(lepus.UsageError, match="3 angles"):
        lepus.Geometry(columns=4, rows=4, views=90, pixel_mm=1, beam="parallel", angles_deg=[0, 1, 2])
    with pytest.raises(lepus.UsageError, match="0 views"):
        lepus.Geometry(columns=4, rows=4, views=0, pixel_mm=1, beam="parallel")


def test_matrices_that_are_none_are_refused(scan):
    for matrices, columns in ((scan.matrices[0], 4), (scan.matrices[:, :2], 4), (scan.matrices[:0], 4), (scan.matrices, 0)):
        with pytest.raises(lepus.UsageError, match="matrices|at least one"):
            lepus.Geometry.from_matrices(matrices, columns, 4)


def test_perturbed_views(scan):
    moved = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=48, rows=40, pixel_mm=1, views=2,
                           perturbations=[{}, {"detector_mm": (1, 0, 0)}])
    u0, u1 = ((m @ (0, 0, 0, 1))[0] for m in moved.matrices)
    assert u1 - u0 == pytest.approx(-1)  # the detector moved by one pixel, so the axis is seen one column before
