# SPDX-License-Identifier: Apache-2.0
"""A and its transpose, as products, SciPy's operator and a matrix."""
import concurrent.futures

import numpy
import pytest
import scipy.sparse.linalg

import lepus
from conftest import random_scan


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("model", ["joseph", "siddon", "footprint"])
def test_the_transpose_is_one(seed, model):
    random = numpy.random.default_rng(100 + seed)
    grid = lepus.Grid(random.integers(6, 20, 3), random.uniform(0.4, 1.2, 3))
    A = lepus.Operator(random_scan(seed), grid, model, precision="exact")
    x, y = random.uniform(0.5, 1.5, A.domain_shape), random.uniform(0.5, 1.5, A.range_shape)
    left, right = numpy.vdot((A @ x).astype(float), y), numpy.vdot(x, (A.T @ y).astype(float))
    # Of positive numbers nothing cancels: what is left is float32's rounding of the sums.
    assert left > 0 and left == pytest.approx(right, rel=2e-6)


@pytest.mark.parametrize("model", ["joseph", "siddon", "footprint"])
def test_the_matrix_is_the_operator(model):
    A = lepus.Operator(random_scan(3), lepus.Grid((7, 8, 9), 0.8), model, precision="exact")
    M = A.matrix()
    x = numpy.random.default_rng(1).random(A.domain_shape)
    assert M.shape == A.shape
    assert M @ x.ravel() == pytest.approx((A @ x).ravel(), rel=1e-4, abs=1e-5)
    with pytest.raises(lepus.MemoryLimitError):
        A.matrix(maximum_bytes=1000)


def test_subsets_make_the_whole(scan, grid):
    A = lepus.Operator(scan, grid)
    x = numpy.random.default_rng(2).random(grid.shape)
    whole = A @ x
    assert numpy.array_equal(A.subset([4, 0]) @ x, whole[[4, 0]])
    for i, part in enumerate(A.subsets(7)):
        assert numpy.array_equal(part @ x, whole[i::7])
    assert A.subset(slice(0, 3)).geometry == scan[:3]


def test_scipy_solves_with_it(scan, grid, views):
    A = lepus.Operator(scan, grid)
    solution = scipy.sparse.linalg.lsqr(A.linear_operator(), numpy.asarray(views).ravel(), iter_lim=15)[0].reshape(grid.shape)
    assert solution[9:11, 11:13, 13:15] == pytest.approx(0.02, rel=0.1)


def test_flat_vectors_and_results_in_place(scan, grid):
    A = lepus.Operator(scan, grid)
    x = numpy.random.default_rng(3).random(A.shape[1]).astype("f4")
    assert (A @ x).shape == (A.shape[0],) and (A.T @ (A @ x)).shape == x.shape
    out = numpy.empty(A.range_shape, "f4")
    assert numpy.shares_memory(A.forward(x.reshape(grid.shape), out=out), out)
    assert numpy.array_equal(out.ravel(), A @ x)
    assert A.T.T is A and A.T.shape == A.shape[::-1]


def test_the_norm(scan):
    A = lepus.Operator(scan[::10], lepus.Grid(6, 2))
    exact = scipy.sparse.linalg.svds(A.matrix().astype(float), 1, return_singular_vectors=False)[0]
    assert A.norm(1e-4) == pytest.approx(exact, rel=1e-3)


def test_a_phantom_and_its_voxels_agree(scan):
    grid = lepus.Grid(48, 0.5)
    ball = lepus.Phantom("ball", size_mm=16, value_per_mm=0.02)
    lines, exact = lepus.Operator(scan, grid) @ ball.voxels(grid), ball.project(scan, subpixels=2)
    assert numpy.sqrt(numpy.mean((lines - exact) ** 2)) < 0.01 * exact.max()


def test_threads_share_an_operator(scan, grid):
    A = lepus.Operator(scan, grid)
    part = A.subset(slice(0, 20))
    x = numpy.random.default_rng(9).random(grid.shape).astype("f4")
    expected = A @ x
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for whole, some in zip(pool.map(lambda _: A @ x, range(12)), pool.map(lambda _: part @ x, range(12))):
            assert numpy.array_equal(whole, expected) and numpy.array_equal(some, expected[:20])


def test_arrays_of_another_size_are_refused(scan, grid):
    A = lepus.Operator(scan, grid)
    with pytest.raises(lepus.UsageError, match="shape"):
        A @ numpy.zeros(grid.shape[::-1], "f4")
    with pytest.raises(lepus.UsageError, match="7 values"):
        A @ numpy.zeros(7, "f4")
    with pytest.raises(lepus.UsageError, match="did you mean"):
        lepus.Operator(scan, grid, "josef")


def test_arrays_that_lie_elsewhere_are_refused(scan, grid, views):
    A = lepus.Operator(scan, grid)
    x = numpy.ones(grid.shape, "f4")
    with pytest.raises(lepus.UsageError, match="another grid"):
        A @ lepus.Volume(x, lepus.Grid(grid.shape, 7.0))
    with pytest.raises(lepus.UsageError, match="another geometry"):
        A.T @ lepus.Views(views, scan[::-1])
    with pytest.raises(lepus.UsageError, match="another grid"):
        lepus.Solver(views, scan, grid, "cgls", start=lepus.Volume(x, lepus.Grid(grid.shape, 7.0)))
    nearly = lepus.Grid(grid.shape, 0.6 * (1 + 1e-9))  # as a file may round it
    assert numpy.array_equal(A @ lepus.Volume(x, nearly), A @ x)
    assert numpy.array_equal(A.T @ lepus.Views(views, lepus.Geometry.from_matrices(3 * scan.matrices, 48, 40)), A.T @ numpy.array(views))
