# SPDX-License-Identifier: Apache-2.0
"""Geometries of ASTRA, TIGRE, RTK and CIL: the same ball lands on the same pixels as in lepus' own description."""
import math
import types

import numpy
import pytest

import lepus

angles = numpy.radians(numpy.arange(0, 360, 30))


def own(**more):
    return lepus.Geometry(source_axis_mm=200, source_detector_mm=350, columns=24, rows=16, pixel_width_mm=1.1, pixel_height_mm=0.9,
                          angles_deg=numpy.degrees(angles), **more)


def same_rays(given, expected, flipped=True):
    """Matrices agree; tools that count rows upwards have them in the other order."""
    matrices = given.matrices
    if flipped:
        turn = numpy.array([[1, 0, 0], [0, -1, given.rows - 1], [0, 0, 1]])
        matrices = turn @ matrices
    assert given.flat_shape == expected.flat_shape
    assert matrices == pytest.approx(expected.matrices, abs=1e-9)


def test_astra_cone():
    geometry = {"type": "cone", "DetectorRowCount": 16, "DetectorColCount": 24, "DetectorSpacingX": 0.55, "DetectorSpacingY": 0.45,
                "ProjectionAngles": angles, "DistanceOriginSource": 100.0, "DistanceOriginDetector": 75.0}
    same_rays(lepus.Geometry.from_astra(geometry, unit_mm=2.0), own())


def test_astra_vectors_and_parallel():
    expected = own(in_plane_deg=2, detector_shift_u_mm=3, pitch_deg=1)
    numbers = numpy.array([line.split() for line in expected.to_text("astra").splitlines() if not line.startswith("#")], float)
    geometry = {"type": "cone_vec", "DetectorRowCount": 16, "DetectorColCount": 24, "Vectors": numbers}
    same_rays(lepus.Geometry.from_astra(geometry), expected, flipped=False)
    parallel = {"type": "parallel3d", "DetectorRowCount": 16, "DetectorColCount": 24, "DetectorSpacingX": 1.1, "DetectorSpacingY": 0.9,
                "ProjectionAngles": angles}
    expected = lepus.Geometry(beam="parallel", columns=24, rows=16, pixel_width_mm=1.1, pixel_height_mm=0.9, angles_deg=numpy.degrees(angles))
    same_rays(lepus.Geometry.from_astra(parallel), expected)
    with pytest.raises(lepus.UsageError, match="fanflat"):
        lepus.Geometry.from_astra({**parallel, "type": "fanflat"})


def test_tigre():
    # TIGRE's source stands at +x at angle 0, lepus' at -y: a quarter turn between them.
    geometry = types.SimpleNamespace(mode="cone", DSO=200.0, DSD=350.0, nDetector=numpy.array([16, 24]), dDetector=numpy.array([0.9, 1.1]),
                                     offDetector=numpy.array([0, 0]), offOrigin=numpy.array([0, 0, 0]), rotDetector=numpy.array([0, 0, 0]),
                                     COR=0)
    given = lepus.Geometry.from_tigre(geometry, angles - math.pi / 2)
    same_rays(given, own())
    same_rays(lepus.Geometry.from_tigre(vars(geometry), angles - math.pi / 2), own())


class Rtk:
    """The getters of RTK's geometry object; angles in radians, as they give them."""

    def __init__(self, gantry, distance=200.0, detector=350.0, offset=3.0):
        self._values = {"GetGantryAngles": gantry, "GetSourceToIsocenterDistances": [distance] * len(gantry),
                        "GetSourceToDetectorDistances": [detector] * len(gantry), "GetProjectionOffsetsX": [offset] * len(gantry)}
        zeros = [0.0] * len(gantry)
        for name in ("ProjectionOffsetsY", "SourceOffsetsX", "SourceOffsetsY", "InPlaneAngles", "OutOfPlaneAngles"):
            self._values["Get" + name] = zeros

    def __getattr__(self, name):
        if name not in self._values:
            raise AttributeError(name)
        return lambda: self._values[name]


def test_rtk_object_and_file(tmp_path):
    frames = dict(columns=24, rows=16, pixel_width_mm=1.1, pixel_height_mm=0.9)
    expected = own(detector_shift_u_mm=3.0)
    same_rays(lepus.Geometry.from_rtk(Rtk(list(angles)), **frames), expected)
    same_rays(lepus.Geometry.from_rtk(Rtk(list(angles)), first_row_on_top=True, **frames), expected, flipped=False)
    (tmp_path / "geometry.xml").write_text(expected.to_text("rtk"))
    same_rays(lepus.Geometry.from_rtk(tmp_path / "geometry.xml"), expected, flipped=False)
    same_rays(lepus.Geometry.read(tmp_path / "geometry.xml", "rtk"), expected, flipped=False)
    with pytest.raises(lepus.UsageError):
        lepus.Geometry.from_rtk(Rtk(list(angles)))  # says nothing of the frames


class Cil:
    """What CIL's AcquisitionGeometry of a cone beam holds: source at -y, the object turns."""

    geom_type, dimension = "cone", "3D"

    def __init__(self, origin="bottom-left"):
        name = types.SimpleNamespace
        system = name(source=name(position=numpy.array([0, -200.0, 0])), align_reference_frame=lambda definition: None,
                      detector=name(position=numpy.array([0, 150.0, 0]), direction_x=numpy.array([1.0, 0, 0]), direction_y=numpy.array([0, 0, 1.0])))
        self.config = name(system=system, panel=name(num_pixels=(24, 16), pixel_size=(1.1, 0.9), origin=origin),
                           angles=name(angle_data=-numpy.degrees(angles), initial_angle=0.0, angle_unit="degree"))

    def copy(self):
        return self


def test_cil():
    same_rays(lepus.Geometry.from_cil(Cil()), own())
    same_rays(lepus.Geometry.from_cil(Cil("top-left")), own(), flipped=False)


@pytest.mark.parametrize("format", ["rtk", "astra", "tigre", "matrices"])
def test_there_and_back(format, tmp_path):
    expected = own(in_plane_deg=1.5, axis_offset_mm=1, detector_shift_v_mm=2)
    (tmp_path / "file").write_text(expected.to_text(format))
    same_rays(lepus.Geometry.read(tmp_path / "file", format), expected, flipped=False)
    with pytest.raises(lepus.UsageError, match="did you mean"):
        lepus.Geometry.read(tmp_path / "file", format + "x")
