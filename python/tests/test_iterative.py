# SPDX-License-Identifier: Apache-2.0
"""Methods on arrays: they converge, are looked at, stopped, gone on with and restored."""
import numpy
import pytest

import lepus


@pytest.mark.parametrize("method", sorted(lepus.methods()))
def test_every_method_comes_near(method, scan, views):
    grid = lepus.Grid(20, 0.8)
    settings = {"strength": 1e-4} if method in ("fista-tv", "chambolle-pock") else {}
    volume = lepus.solve(views, scan, grid, method, {"chambolle-pock": 60, "mlem": 30, "sirt": 30}.get(method, 8), **settings)
    assert volume.grid == grid
    assert volume[9:11, 9:11, 9:11] == pytest.approx(0.02, rel=0.15)


def test_a_callback_sees_every_iteration_and_may_stop(scan, views, grid):
    seen = []

    def watch(iteration, residual, volume):
        seen.append((iteration, residual, volume.shape))
        return iteration < 3
    solver = lepus.Solver(views, scan, grid, "cgls")
    volume = solver.run(20, watch, with_volume=True)
    assert [i for i, *_ in seen] == [1, 2, 3] and seen[0][2] == grid.shape
    assert [r for _, r, _ in seen] == solver.residuals and "caller" in solver.stopped
    assert numpy.array_equal(volume, lepus.solve(views, scan, grid, "cgls", 3))


def test_a_method_runs_once_at_a_time(scan, views, grid):
    solver = lepus.Solver(views, scan, grid, "cgls")
    with pytest.raises(lepus.UsageError, match="at work"):
        solver.run(2, lambda *_: solver.run(1) is not None)


def test_what_the_callback_raises_comes_out(scan, views, grid):
    def fail(*_):
        raise LookupError("no")
    with pytest.raises(LookupError, match="no"):
        lepus.Solver(views, scan, grid, "cgls").run(2, fail)


@pytest.mark.parametrize("method", ["cgls", "os-sart", "fista-tv"])
def test_going_on_is_as_never_stopped(method, scan, views, grid, tmp_path):
    settings = {"strength": 1e-4} if method == "fista-tv" else {}
    whole = lepus.solve(views, scan, grid, method, 6, **settings)
    first = lepus.Solver(views, scan, grid, method, **settings)
    first.run(2)
    first.save(tmp_path / "state")
    second = lepus.Solver(views, scan, grid, method, **settings)
    second.load(tmp_path / "state")
    assert second.iteration == 2 and second.residuals == first.residuals
    assert numpy.array_equal(first.run(4), whole)
    assert numpy.array_equal(second.run(4), whole)


def test_what_was_done_is_known_whatever_ended_it(scan, views, grid, tmp_path):
    solver = lepus.Solver(views, scan, grid, "cgls", stop_change=1e-9)

    def watch(iteration, residual, _):
        assert solver.iteration == iteration == len(solver.residuals) and solver.residuals[-1] == residual
        solver.save(tmp_path / "state")
        if iteration == 3:
            raise LookupError("enough")
    with pytest.raises(LookupError):
        solver.run(6, watch)
    assert solver.iteration == 3 and len(solver.residuals) == 3 and "caller" in solver.stopped
    again = lepus.Solver(views, scan, grid, "cgls", stop_change=1e-9)
    again.load(tmp_path / "state")
    assert again.iteration == 3 and again.residuals == solver.residuals
    assert numpy.array_equal(again.run(2), lepus.solve(views, scan, grid, "cgls", 5))
    assert numpy.array_equal(solver.run(2), again.volume) and solver.iteration == 5


def test_a_callback_sees_the_iteration_that_a_rule_stops_at(scan, views, grid):
    seen = []
    solver = lepus.Solver(views, scan, grid, "cgls", stop_residual=0.2)
    solver.run(30, lambda iteration, residual, _: seen.append((iteration, residual)))
    assert seen == list(enumerate(solver.residuals, 1)) and solver.residuals[-1] <= 0.2 < solver.residuals[-2]
    solver.run(3, lambda *_: seen.append(None))
    assert None not in seen


def test_a_state_of_another_problem_is_refused(scan, tmp_path):
    grid = lepus.Grid((10, 12, 14), 1.0)
    views = lepus.Phantom("ball", size_mm=9).project(scan)
    prior, mask = numpy.zeros(grid.shape, "f4"), numpy.ones(grid.shape, "f4")
    given = dict(views=views, geometry=scan, grid=grid, method="chambolle-pock", strength=1e-4, weights=numpy.ones(scan.shape),
                 prior=prior, mask=mask)
    solver = lepus.Solver(**given)
    solver.run(1)
    solver.save(tmp_path / "state")
    lepus.Solver(**given).load(tmp_path / "state")
    other_mask = mask.copy()
    other_mask[0] = 0
    for key, other in (("views", 2 * views), ("geometry", scan[::-1]), ("grid", lepus.Grid(grid.shape, 0.5)), ("weights", None),
                       ("prior", prior + 1), ("mask", other_mask)):
        with pytest.raises(lepus.InputError, match="another solver"):
            lepus.Solver(**{**given, key: other}).load(tmp_path / "state")
    with pytest.raises(lepus.InputError, match="another solver"):
        lepus.Solver(views, scan, lepus.Grid((14, 12, 10), 1.0), "chambolle-pock", strength=1e-4).load(tmp_path / "state")
    (tmp_path / "state").write_bytes(b"nothing")
    with pytest.raises(lepus.InputError, match="another Solver"):
        lepus.Solver(**given).load(tmp_path / "state")


def test_nothing_done_is_nothing_to_save(scan, views, grid, tmp_path):
    with pytest.raises(lepus.UsageError, match="no iteration"):
        lepus.Solver(views, scan, grid, "cgls").save(tmp_path / "state")


def test_a_state_of_another_method_is_refused(scan, views, grid, tmp_path):
    solver = lepus.Solver(views, scan, grid, "cgls")
    solver.run(1)
    solver.save(tmp_path / "state")
    with pytest.raises(lepus.InputError):
        lepus.Solver(views, scan, grid, "lsqr").load(tmp_path / "state")


def test_mistakes_are_named(scan, views, grid):
    with pytest.raises(lepus.UsageError, match="did you mean"):
        lepus.Solver(views, scan, grid, "cgsl")
    with pytest.raises(lepus.UsageError, match="did you mean 'strength'"):
        lepus.Solver(views, scan, grid, "cgls", strenght=1)
    for key, wrong in (("model", "sidon"), ("order", "radnom")):
        with pytest.raises(lepus.UsageError, match="did you mean"):
            lepus.Solver(views, scan, grid, "os-sart", **{key: wrong})
    with pytest.raises(lepus.UsageError, match="regularise"):
        lepus.Solver(views, scan, grid, "sirt", strength=1.0)
    with pytest.raises(lepus.UsageError, match="without the noise"):
        lepus.Solver(views, scan, grid, "sirt", stop_at_noise=True)


def test_the_noise_stops_where_it_is_given(scan, views, grid):
    solver = lepus.Solver(views, scan, grid, "cgls", stop_at_noise=True, noise=0.5 * float(numpy.std(views)))
    solver.run(50)
    assert solver.iteration < 50


@pytest.mark.parametrize("what", ["views", "start", "prior", "mask", "weights"])
def test_values_that_are_no_numbers_are_refused(what, scan, views, grid):
    given = {"views": views} | {name: numpy.ones(grid.shape, "f4") for name in ("start", "prior", "mask")}
    array = numpy.array(given.get(what, numpy.ones_like(views)))
    array[1, 2, 3] = numpy.nan
    with pytest.raises(lepus.InputError, match=f"{what}: a value is not a number"):
        lepus.Solver(**{"views": views, what: array}, geometry=scan, grid=grid, method="chambolle-pock", strength=0.01)


def test_what_happens_to_the_data_and_the_volume_is_said(scan, views, grid):
    shifted = numpy.asarray(views) - 0.01
    with pytest.warns(lepus.LepusWarning, match=f"{(shifted < 0).sum()} line integrals below zero"):
        lepus.Solver(shifted, scan, grid, "mlem")
    solver = lepus.Solver(views, scan, grid, "iterative-fdk", model="voxel", relaxation=1.99)
    with pytest.warns(lepus.LepusWarning, match="diverges"):
        solver.run(200)
    assert solver.diverged
