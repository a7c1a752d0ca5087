# SPDX-License-Identifier: Apache-2.0
"""What works on files, through the program; and centre finding and comparison of arrays."""
import subprocess
import sys
import urllib.request

import numpy
import pytest

import lepus


@pytest.fixture(scope="module")
def volume(scan_folder):
    return lepus.reconstruct(scan_folder / "scan.toml")


def test_center_of_a_file_and_of_arrays(scan, scan_folder):
    assert lepus.center(scan_folder / "scan.toml", no_tilt=True)["column"] == pytest.approx(23.5, abs=0.1)
    shifted = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=48, rows=40, pixel_mm=1, views=60, detector_shift_u_mm=1.7)
    views = lepus.Phantom("shepp-logan-modified", size_mm=14).project(shifted)
    found = lepus.find_center(views, scan)
    assert found["known"] and found["column"] == pytest.approx(23.5 - 1.7, abs=0.1)
    assert found.geometry.matrices[:, 0, 3] == pytest.approx(shifted.matrices[:, 0, 3], abs=0.1)


def test_an_axis_that_cannot_be_known_is_warned_of(scan, views):
    with pytest.warns(lepus.LepusWarning):
        assert not lepus.find_center(views[:9], scan[:9])["known"]


def test_calibrate_finds_the_distances(tmp_path):
    lepus.simulate("beads", tmp_path / "scan", preset="tiny", columns=128, rows=128, pixel=1.6, views=24, beads=8, bead_radius=0.04)
    found = lepus.calibrate(tmp_path / "scan" / "scan.toml")
    assert found["rms_px"] < 0.2, found


def test_post_and_analyze(volume, scan_folder, tmp_path):
    smooth = lepus.post(volume, "median radius=1")
    assert smooth.shape == volume.shape and smooth.grid == volume.grid
    assert float(numpy.std(smooth)) < float(numpy.std(volume)) and not numpy.array_equal(smooth, volume)
    lepus.write(tmp_path / "v.mha", volume)
    report = lepus.post(tmp_path / "v.mha", "median radius=1", output=tmp_path / "p.mha")
    assert isinstance(report, dict) and numpy.array_equal(lepus.read(tmp_path / "p.mha"), smooth)
    assert "porosity" in lepus.analyze(volume)


def test_lengths_need_to_know_the_voxels(volume):
    cut = volume[2:-2]
    for call in (lepus.analyze, lambda v, **where: lepus.post(v, "median radius=1", **where), lambda v: lepus.view(v, browser=False)):
        with pytest.raises(lepus.UsageError, match="voxel_mm"):
            call(cut)
    assert lepus.analyze(cut, voxel_mm=0.05)["voxel_mm"] == pytest.approx([0.05] * 3)
    grid = lepus.Grid(cut.shape, 0.3)
    assert lepus.post(cut, "median radius=1", grid=grid).grid._near(grid)
    with pytest.raises(lepus.UsageError, match="the file says"):
        lepus.analyze("volume.mha", voxel_mm=1)


def test_compare_takes_the_grid_of_either(volume):
    plain = numpy.array(volume)
    assert lepus.compare(plain, volume)["rmse"] == lepus.compare(volume, plain)["rmse"] == 0
    assert lepus.compare(plain, volume, radius_mm=3)["voxels"] == lepus.compare(volume, plain, radius_mm=3)["voxels"] < volume.size
    with pytest.raises(lepus.UsageError, match="radius_mm"):
        lepus.compare(plain, plain, radius_mm=3)


def test_compare_arrays_and_files(volume, tmp_path):
    lepus.write(tmp_path / "a.mha", volume)
    lepus.write(tmp_path / "b.mha", volume + 0.001)
    for pair in ((volume, volume + 0.001), (tmp_path / "a.mha", tmp_path / "b.mha")):
        c = lepus.compare(*pair)
        assert c["rmse"] == pytest.approx(0.001, rel=1e-3) and c["bias"] == pytest.approx(0.001, rel=1e-3)
    with pytest.raises(lepus.UsageError, match="grids"):
        lepus.compare(volume, lepus.Volume(volume, lepus.Grid(volume.shape, 9.0)))
    broken = numpy.array(volume)
    broken[0, 0, 0] = numpy.nan
    assert not lepus.compare(volume, broken)["rmse"] <= 1e9


def test_the_programs_errors_are_the_librarys(tmp_path):
    with pytest.raises(lepus.InputError, match="missing.toml"):
        lepus.info(tmp_path / "missing.toml")
    with pytest.raises(lepus.UsageError, match="did you mean"):
        lepus.simulate("ball", tmp_path / "scan", colums=3)


def test_demo_writes_a_picture_and_prints_its_path(tmp_path):
    target = tmp_path / "demo.png"
    done = subprocess.run([sys.executable, "-c", f"import lepus; lepus.demo({str(target)!r}, size=32, show=False)"], capture_output=True,
                          text=True, check=True)
    assert done.stdout.strip() == str(target)
    assert target.read_bytes().startswith(b"\x89PNG")


def test_a_scanners_folder_is_a_scan(tmp_path):
    lepus.simulate("ball", tmp_path / "nikon", preset="tiny", columns=32, rows=24, views=40, pixel=6, format="nikon")
    with pytest.warns(lepus.LepusWarning, match="rotation axis"):  # of which the header says nothing
        report = lepus.import_scan(tmp_path / "nikon", output=tmp_path / "scan.toml")
    assert "ikon" in report["scanner"]
    with pytest.warns(lepus.LepusWarning, match="rotation axis"):
        views = lepus.read(tmp_path / "nikon")
    assert views.shape == (40, 24, 32)
    assert numpy.array_equal(views, lepus.read(tmp_path / "scan.toml"))
    assert lepus.Geometry.from_scan(tmp_path / "nikon") == views.geometry


def test_the_viewer_serves_the_volume(volume):
    if "made without" in subprocess.run([lepus.program.find(), "view", "/nothing"], capture_output=True, text=True).stderr:
        pytest.skip("lepus was built without the server of lepus view")
    with lepus.view(volume, browser=False, no_pyramid=True) as viewer:
        with urllib.request.urlopen(viewer.address, timeout=20) as page:
            assert b"<html" in page.read().lower()
        assert viewer.address in viewer._repr_html_()
    with pytest.raises(OSError):
        urllib.request.urlopen(viewer.address, timeout=5)
