# SPDX-License-Identifier: Apache-2.0
"""Volumes and scans on disk: what is written is read, whole and in parts, by us and by others."""
import numpy
import pytest

import lepus
from lepus import program


@pytest.mark.parametrize("name", ["v.mha", "v.nrrd", "v.tif", "v.h5", "v.zarr", "v.raw"])
def test_volumes_are_read_as_written(name, tmp_path):
    grid = lepus.Grid((3, 4, 5), (0.5, 0.25, 2.0), origin_mm=(1, 2, 3))
    values = numpy.random.default_rng(5).random(grid.shape).astype("f4")
    lepus.write(tmp_path / name, values, grid, unit="HU")
    volume = lepus.read(tmp_path / name)
    assert numpy.array_equal(volume, values)
    assert volume.grid.origin_mm == pytest.approx(grid.origin_mm) and volume.grid.step_mm == pytest.approx(grid.step_mm)
    assert volume.unit == "HU"
    part = lepus.open(tmp_path / name)
    for index in (1, (slice(None), 2), (Ellipsis, 3), (slice(2, None, -1), slice(1, 4, 2), -1), slice(3, 3), (0, 1, 2)):
        assert numpy.array_equal(part[index], values[index]), index
    assert numpy.array_equal(numpy.asarray(part), values)
    with pytest.raises(IndexError):
        part[3]
    with pytest.raises(lepus.DiskError, match="exist.*force=True"):
        lepus.write(tmp_path / name, values, grid)


def test_integers_are_rounded_and_h5py_agrees(tmp_path):
    h5py = pytest.importorskip("h5py")
    values = numpy.array([[[0.4, 254.6, 1e6, -3]]], "f4")
    lepus.write(tmp_path / "v.h5", values, voxel_mm=1, dtype="uint8")
    with h5py.File(tmp_path / "v.h5") as file:
        found = []
        file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) and item.ndim == 3 else None)
        assert found[0].dtype == numpy.uint8 and found[0][0, 0].tolist() == [0, 255, 255, 0]


def test_noted_axes_are_followed(tmp_path):
    values = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
    volume = lepus.Volume(values, lepus.Grid((2, 3, 4), 0.5))
    lepus.write(tmp_path / "v.mha", volume)
    program.run("convert", tmp_path / "v.mha", axes="z,y,x", output=tmp_path / "turned.mha")
    turned = lepus.read(tmp_path / "turned.mha")
    assert turned.grid.origin_mm == pytest.approx(volume.grid.origin_mm)
    assert numpy.array_equal(turned, values)
    assert lepus.post(turned, "finite value=0").shape == values.shape


def test_a_volume_needs_a_grid(tmp_path):
    with pytest.raises(lepus.UsageError, match="voxel_mm"):
        lepus.write(tmp_path / "v.mha", numpy.zeros((2, 2, 2), "f4"))
    with pytest.raises(lepus.UsageError, match="both"):
        lepus.write(tmp_path / "v.mha", numpy.zeros((2, 2, 2), "f4"), lepus.Grid(2), voxel_mm=3)
    with pytest.raises(lepus.UsageError, match="three axes"):
        lepus.write(tmp_path / "v.mha", numpy.zeros((2, 2), "f4"), voxel_mm=3)
    with pytest.raises(lepus.UsageError, match="JSON"):
        lepus.write(tmp_path / "v.mha", numpy.zeros((2, 2, 2), "f4"), voxel_mm=3, provenance="x")
    assert not list(tmp_path.iterdir())
    with pytest.raises(lepus.InputError):
        lepus.read(tmp_path / "missing.mha")


def test_a_scan_is_read_with_its_corrections(scan_folder):
    views = lepus.read(scan_folder / "scan.toml")
    assert views.shape == views.geometry.shape == (60, 40, 48)
    assert -0.1 < float(views.min()) and 0.2 < float(views.max()) < 5
    volume = lepus.fdk(views, mask=True, backend="cpu")  # a GPU may keep fewer bits of each
    expected = lepus.reconstruct(scan_folder / "scan.toml", backend="cpu")
    assert volume.grid == expected.grid
    # Both ways see the same line integrals; read keeps them as float32 between correction and filter.
    assert volume == pytest.approx(expected, abs=1e-6 * float(expected.max()))


def test_reconstruct_to_a_file_and_by_a_method(scan_folder, tmp_path):
    stages = []
    report = lepus.reconstruct(scan_folder / "scan.toml", tmp_path / "volume.mha", progress=lambda stage, *_: stages.append(stage))
    assert report["output"] == str(tmp_path / "volume.mha") and stages and report["backend"]
    assert numpy.array_equal(lepus.read(tmp_path / "volume.mha"), lepus.reconstruct(scan_folder / "scan.toml"))
    with pytest.raises(lepus.DiskError):
        lepus.reconstruct(scan_folder / "scan.toml", tmp_path / "volume.mha")
    iterated = lepus.reconstruct(scan_folder / "scan.toml", method="cgls", iterations=3)
    assert '"cgls"' in iterated.provenance
    with pytest.raises(lepus.UsageError, match="did you mean"):
        lepus.reconstruct(scan_folder / "scan.toml", method="cgls", iteration=3)
    with pytest.raises(lepus.UsageError, match="fdk has no iterations"):
        lepus.reconstruct(scan_folder / "scan.toml", iterations=3)


@pytest.mark.parametrize("settings", [dict(extend=[-0.2, 0, 0]), dict(extend=[]), dict(extend=[0.1]), dict(extend=[0, 0, float("nan")]),
                                      dict(weights="bogus"), dict(model="sidon"), dict(order="radnom")])
def test_settings_that_a_scan_file_may_not_have_are_refused(settings, scan_folder):
    with pytest.raises(lepus.UsageError, match=next(iter(settings))):
        lepus.reconstruct(scan_folder / "scan.toml", method="os-sart", iterations=1, **settings)


def test_frames_in_their_own_type(scan_folder):
    tifffile = pytest.importorskip("tifffile")
    names = sorted((scan_folder / "frames").glob("*.tif")) or sorted(scan_folder.glob("**/*frame*.tif"))
    frames = lepus.read_frames(scan_folder / "frames" / "*.tif")
    assert frames.dtype == numpy.uint16 and frames.shape == (60, 40, 48)
    assert numpy.array_equal(frames[7], tifffile.imread(names[7]))
    assert numpy.array_equal(lepus.read_frames(scan_folder / "frames" / "*.tif", first=5, last=7), frames[5:7])
