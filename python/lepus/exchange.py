# SPDX-License-Identifier: Apache-2.0
"""The geometries of other tools, as their Python objects have them, into the text that lepus reads (its reader knows the
tools' axes: docs/geometry.md). Nothing of those tools is imported: attributes and keys are enough."""
import json
import math
import xml.etree.ElementTree

import numpy

from . import _lepus
from ._options import filled, word
from .errors import UsageError


def parse(text, name, format, options):
    options = dict(options)
    if "beam" in options:
        options["beam"] = word(_lepus.Beam, options["beam"], "beam")
    return _lepus.parse_geometry(text, name, format, filled(_lepus.GeometryFileOptions(), options, "a geometry file"))


def _vectors(vectors, kind, columns, rows, unit_mm):
    vectors = numpy.asarray(vectors, float)
    if vectors.ndim != 2 or vectors.shape[1] != 12:
        raise UsageError(f"vectors of the shape {vectors.shape}", kind, "there are 12 numbers per view")
    text = "\n".join(" ".join(repr(float(x)) for x in row) for row in vectors)
    beam = "parallel" if kind.startswith("parallel") else "cone"
    return parse(text, kind, "astra", dict(columns=int(columns), rows=int(rows), beam=beam, unit_mm=float(unit_mm)))


def from_astra(geometry, unit_mm):
    kind = geometry["type"]
    rows, columns = geometry["DetectorRowCount"], geometry["DetectorColCount"]
    if kind in ("cone_vec", "parallel3d_vec"):
        return _vectors(geometry["Vectors"], kind, columns, rows, unit_mm)
    if kind not in ("cone", "parallel3d"):
        raise UsageError(f'ASTRA\'s geometry "{kind}" cannot be used', "", "lepus reads cone, cone_vec, parallel3d and parallel3d_vec")
    across, up = geometry["DetectorSpacingX"], geometry["DetectorSpacingY"]
    vectors = []
    for angle in geometry["ProjectionAngles"]:
        s, c = math.sin(angle), math.cos(angle)
        if kind == "cone":
            source, behind = geometry["DistanceOriginSource"], geometry["DistanceOriginDetector"]
            first, middle = (s * source, -c * source, 0), (-s * behind, c * behind, 0)
        else:
            first, middle = (s, -c, 0), (0, 0, 0)
        vectors.append((*first, *middle, c * across, s * across, 0, 0, 0, up))
    return _vectors(vectors, kind + "_vec", columns, rows, unit_mm)


def from_tigre(geometry, angles):
    names = ("mode", "nDetector", "dDetector", "DSO", "DSD", "offDetector", "offOrigin", "rotDetector", "COR")
    given = geometry if isinstance(geometry, dict) else {name: getattr(geometry, name, None) for name in names}
    record = {name: given[name] if isinstance(given[name], str) else numpy.asarray(given[name], float).tolist()
              for name in names if given.get(name) is not None}
    record["angles"] = numpy.asarray(angles, float).tolist()
    return parse(json.dumps(record), "TIGRE's geometry", "tigre", {})


_rtk = {"SourceToIsocenterDistance": "GetSourceToIsocenterDistances", "SourceToDetectorDistance": "GetSourceToDetectorDistances",
        "GantryAngle": "GetGantryAngles", "ProjectionOffsetX": "GetProjectionOffsetsX", "ProjectionOffsetY": "GetProjectionOffsetsY",
        "SourceOffsetX": "GetSourceOffsetsX", "SourceOffsetY": "GetSourceOffsetsY", "InPlaneAngle": "GetInPlaneAngles",
        "OutOfPlaneAngle": "GetOutOfPlaneAngles"}


def from_rtk(geometry, **frames):
    if not hasattr(geometry, "GetGantryAngles"):
        with open(geometry, encoding="utf-8") as file:
            return parse(file.read(), str(geometry), "rtk", frames)
    root = xml.etree.ElementTree.Element("RTKThreeDCircularGeometry", version="3")
    radius = float(getattr(geometry, "GetRadiusCylindricalDetector", lambda: 0)())
    if radius:
        xml.etree.ElementTree.SubElement(root, "RadiusCylindricalDetector").text = repr(radius)
    columns = {name: list(getattr(geometry, getter)()) for name, getter in _rtk.items()}
    for view in range(len(columns["GantryAngle"])):
        one = xml.etree.ElementTree.SubElement(root, "Projection")
        for name, values in columns.items():
            # RTK's object has angles in radians, its file in degrees.
            value = math.degrees(values[view]) if name.endswith("Angle") else values[view]
            xml.etree.ElementTree.SubElement(one, name).text = repr(float(value))
    return parse(xml.etree.ElementTree.tostring(root, "unicode"), "RTK's geometry", "rtk", frames)


def from_cil(geometry, unit_mm):
    geometry = geometry.copy()
    config = geometry.config
    if hasattr(config.system, "align_reference_frame"):  # z along the rotation axis, its origin on it
        config.system.align_reference_frame("cil")
    else:
        config.system.update_reference_frame()
    kind = str(getattr(geometry.geom_type, "value", geometry.geom_type))
    if kind not in ("cone", "parallel") or str(geometry.dimension) != "3D":
        raise UsageError(f"CIL's geometry {kind}, {geometry.dimension}, cannot be used", "", "lepus reads 3-D cone and parallel beams")
    panel, system, angles = config.panel, config.system, config.angles
    column = numpy.asarray(system.detector.direction_x, float) * panel.pixel_size[0]
    row = numpy.asarray(system.detector.direction_y, float) * panel.pixel_size[1]
    if "right" in panel.origin:
        column = -column
    if "top" in panel.origin:
        row = -row
    first = system.source.position if kind == "cone" else system.ray.direction
    fixed = [numpy.asarray(v, float) for v in (first, system.detector.position, column, row)]
    in_degrees = str(getattr(angles.angle_unit, "value", angles.angle_unit)) == "degree"
    vectors = []
    for angle in angles.angle_data:
        turn = -(angles.initial_angle + angle)  # CIL turns the object, lepus the scanner
        a = math.radians(turn) if in_degrees else turn
        rotation = numpy.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
        vectors.append(numpy.concatenate([rotation @ v for v in fixed]))
    return _vectors(vectors, "cone_vec" if kind == "cone" else "parallel3d_vec", panel.num_pixels[0], panel.num_pixels[1], unit_mm)
