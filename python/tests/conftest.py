# SPDX-License-Identifier: Apache-2.0
"""A small scan of a ball, and one on disk; every warning that a test does not expect is an error."""
import numpy
import pytest

import lepus


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error::lepus.LepusWarning")


@pytest.fixture(scope="session")
def scan():
    return lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=48, rows=40, pixel_mm=1, views=60)


@pytest.fixture(scope="session")
def grid():
    return lepus.Grid((20, 24, 28), 0.6)


@pytest.fixture(scope="session")
def views(scan):
    return lepus.Phantom("ball", size_mm=12, value_per_mm=0.02).project(scan)


@pytest.fixture(scope="session")
def scan_folder(tmp_path_factory):
    """As `lepus simulate` writes it."""
    folder = tmp_path_factory.mktemp("simulated") / "scan"
    report = lepus.simulate("ball", folder, preset="tiny", columns=48, rows=40, views=60, pixel=4)
    assert report["views"] == 60
    return folder


def random_scan(seed):
    """A scan with whatever a scanner may have: tilts, shifts, any beam and any pixels."""
    random = numpy.random.default_rng(seed)
    beam = ("cone", "parallel", "fan")[seed % 3]
    return lepus.Geometry(
        beam=beam, source_axis_mm=random.uniform(100, 300), source_detector_mm=random.uniform(350, 600),
        columns=int(random.integers(12, 30)), rows=int(random.integers(8, 24)), pixel_width_mm=random.uniform(0.6, 1.6),
        pixel_height_mm=random.uniform(0.6, 1.6), angles_deg=random.uniform(-400, 400, int(random.integers(3, 9))),
        detector_shift_u_mm=random.uniform(-3, 3), detector_shift_v_mm=random.uniform(-3, 3), axis_offset_mm=random.uniform(-2, 2),
        **({} if beam == "fan" else dict(in_plane_deg=random.uniform(-3, 3), pitch_deg=random.uniform(-3, 3), yaw_deg=random.uniform(-3, 3))))
