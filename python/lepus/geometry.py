# SPDX-License-Identifier: Apache-2.0
"""Where rays go and where voxels are."""
import math

import numpy

from . import _lepus, exchange
from ._options import filled, word
from .errors import UsageError


class Grid:
    """The voxels of a volume: shape (nz, ny, nx), the centre of voxel [k, j, i] at origin + (i, j, k) * step.

    >>> import lepus
    >>> lepus.Grid((64, 64, 64), voxel_mm=0.5).origin_mm
    (-15.75, -15.75, -15.75)
    """

    def __init__(self, shape, voxel_mm=1.0, origin_mm=None):
        sides = tuple((shape,) * 3 if numpy.isscalar(shape) else shape)
        if len(sides) != 3 or not all(n >= 1 and float(n).is_integer() for n in sides):
            raise UsageError(f"a grid of {' x '.join(str(n) for n in sides)} voxels", "", "it has three sides, each of one or more voxels",
                             "give nz, ny and nx")
        nz, ny, nx = (int(n) for n in sides)
        step = tuple(float(s) for s in (numpy.full(3, voxel_mm) if numpy.isscalar(voxel_mm) else voxel_mm))
        if len(step) != 3 or not all(math.isfinite(s) and s for s in step):
            raise UsageError(f"voxel_mm = {voxel_mm}", "", "it is one number, or three: x, y and z")
        if origin_mm is None:
            self._grid = _lepus.centred_grid(nx, ny, nz, step)
        else:
            origin = tuple(float(x) for x in origin_mm)
            if len(origin) != 3 or not all(math.isfinite(x) for x in origin):
                raise UsageError(f"origin_mm = {origin_mm}", "", "it is three numbers: x, y and z")
            self._grid = _lepus.VolumeGrid(nx, ny, nz, origin, step)

    @classmethod
    def _of(cls, grid):
        made = cls.__new__(cls)
        made._grid = grid
        return made

    @property
    def shape(self):
        """(nz, ny, nx), as the arrays have it."""
        return self._grid.nz, self._grid.ny, self._grid.nx

    @property
    def origin_mm(self):
        """The centre of voxel [0, 0, 0]: x, y, z."""
        return self._grid.origin_mm

    @property
    def step_mm(self):
        """From one voxel to the next: x, y, z."""
        return self._grid.step_mm

    def _near(self, other):
        """The same but for how files round lengths: by a millionth of a voxel."""
        mine, theirs = (g.step_mm + g.origin_mm for g in (self, other))
        return self.shape == other.shape and all(abs(a - b) <= 1e-6 * abs(s) for a, b, s in zip(mine, theirs, 2 * self.step_mm))

    def __eq__(self, other):
        return isinstance(other, Grid) and self._grid.state == other._grid.state

    def __hash__(self):
        return hash(self._grid.state)

    def __reduce__(self):
        return Grid, (self.shape, self.step_mm, self.origin_mm)

    def __repr__(self):
        step = self.step_mm
        size = f"{step[0]:g}" if len(set(step)) == 1 else " x ".join(f"{s:g}" for s in step)
        return f"<lepus.Grid {' x '.join(str(n) for n in self.shape)} (z, y, x) voxels of {size} mm>"


class Geometry:
    """A scan: one 3 x 4 projection matrix per view. The arguments are those keys of [geometry] in a scan file that describe a
    circular scan, and four of their own: pixel_mm (square pixels), arc_detector (detector = "arc"), helix_pitch_mm (pitch_mm),
    perturbations (a dict per view: source_mm, detector_mm, in_plane_deg, pitch_deg, yaw_deg, angle_deg). Angles are in degrees,
    counter-clockwise seen from above: angles_deg, or `views` of them from first_angle_deg over arc_deg. docs/geometry.md draws the
    axes.

    >>> import lepus
    >>> scan = lepus.Geometry(source_axis_mm=500, source_detector_mm=1000, columns=64, rows=48, pixel_mm=1, views=90)
    >>> scan.shape
    (90, 48, 64)
    >>> scan.matrices.shape
    (90, 3, 4)
    """

    def __init__(self, *, columns, rows, beam="cone", source_axis_mm=0.0, source_detector_mm=0.0, pixel_mm=None,
                 pixel_width_mm=None, pixel_height_mm=None, angles_deg=None, views=None, first_angle_deg=0.0,
                 arc_deg=360.0, detector_shift_u_mm=0.0, detector_shift_v_mm=0.0, axis_offset_mm=0.0, in_plane_deg=0.0,
                 pitch_deg=0.0, yaw_deg=0.0, mirror_columns=False, mirror_rows=False, arc_detector=False,
                 helix_pitch_mm=0.0, perturbations=None):
        if angles_deg is None:
            if views is None:
                raise UsageError("a scan needs angles", "", "neither angles_deg nor views is given",
                                 "give angles_deg, or views for a turn of arc_deg")
            if not (views >= 1 and float(views).is_integer()):
                raise UsageError(f"{views} views", "", "at least one is needed, and whole ones")
            angles_deg = first_angle_deg + arc_deg * numpy.arange(int(views)) / int(views)
        elif views is not None and views != numpy.size(angles_deg):
            raise UsageError(f"{views} views and {numpy.size(angles_deg)} angles", "", "every view has one", "leave out views")
        width = pixel_width_mm if pixel_width_mm is not None else pixel_mm
        height = pixel_height_mm if pixel_height_mm is not None else pixel_mm if pixel_mm is not None else width
        if width is None or not (width > 0 and height > 0):
            raise UsageError("the pixels have no size", "", "it is not given, or not above zero", "give pixel_mm")
        scan = filled(_lepus.CircularScan(), dict(
            beam=word(_lepus.Beam, beam, "beam"), arc=arc_detector, source_axis_mm=source_axis_mm,
            source_detector_mm=source_detector_mm, columns=columns, rows=rows, pixel_width_mm=width,
            pixel_height_mm=height, detector_shift_u_mm=detector_shift_u_mm, detector_shift_v_mm=detector_shift_v_mm,
            axis_offset_mm=axis_offset_mm, in_plane_rad=math.radians(in_plane_deg), pitch_rad=math.radians(pitch_deg),
            yaw_rad=math.radians(yaw_deg), mirror_columns=mirror_columns, mirror_rows=mirror_rows,
            angles_rad=[float(a) for a in numpy.radians(numpy.asarray(angles_deg, float).ravel())]), "Geometry")
        if perturbations is not None:
            scan.perturbations = [_perturbation(one) for one in perturbations]
        self._scan = _lepus.build_scan(scan, float(helix_pitch_mm))

    @classmethod
    def _of(cls, scan):
        made = cls.__new__(cls)
        made._scan = scan
        return made

    @classmethod
    def from_matrices(cls, matrices, columns, rows, beam="cone", source_detector_mm=0.0):
        """Any orbit: matrices (views, 3, 4) from millimetres (x, y, z, 1) to (u w, v w, w), in any scaling.
        source_detector_mm, which matrices do not tell, is wanted by what speaks of the detector's own millimetres."""
        return cls._of(_lepus.from_matrices(numpy.asarray(matrices, float), int(columns), int(rows),
                                            word(_lepus.Beam, beam, "beam"), float(source_detector_mm)))

    @classmethod
    def from_scan(cls, path):
        """The geometry of a scan file, or of the folder or header of a scanner that lepus knows."""
        return cls._of(_lepus.read_scan(path).geometry)

    @classmethod
    def read(cls, path, format, **options):
        """A geometry file of another tool: format is "rtk", "astra", "tigre" or "matrices"; options are columns, rows,
        pixel_width_mm, pixel_height_mm, first_row_on_top, unit_mm, for what the file does not say."""
        with open(path, encoding="utf-8") as file:
            return cls._of(exchange.parse(file.read(), str(path), format, options))

    @classmethod
    def from_astra(cls, geometry, unit_mm=1.0):
        """ASTRA's projection geometry, the dict that create_proj_geom makes: parallel3d, cone, and both as vectors. Its
        lengths are in units of its voxel: unit_mm is how long that is."""
        return cls._of(exchange.from_astra(geometry, unit_mm))

    @classmethod
    def from_tigre(cls, geometry, angles):
        """TIGRE's geometry object (or a dict of its attributes) and its angles in radians."""
        return cls._of(exchange.from_tigre(geometry, angles))

    @classmethod
    def from_rtk(cls, geometry, **frames):
        """RTK's ThreeDCircularProjectionGeometry, or the name of its XML file. RTK keeps what the frames are with the
        frames: columns, rows, pixel_width_mm, pixel_height_mm and first_row_on_top say it here."""
        return cls._of(exchange.from_rtk(geometry, **frames))

    @classmethod
    def from_cil(cls, geometry, unit_mm=1.0):
        """CIL's AcquisitionGeometry, 3-D, cone or parallel. unit_mm: the length of its unit."""
        return cls._of(exchange.from_cil(geometry, unit_mm))

    def to_text(self, format):
        """As another tool's geometry file has it: "rtk", "astra", "tigre" or "matrices"."""
        return _lepus.geometry_text(self._scan, format, _lepus.GeometryFileOptions())

    @property
    def beam(self):
        """"cone", "fan" or "parallel"."""
        return self._scan.beam.name

    @property
    def columns(self):
        return self._scan.columns

    @property
    def rows(self):
        return self._scan.rows

    @property
    def views(self):
        return self._scan.views

    @property
    def shape(self):
        """(views, rows, columns), as arrays of line integrals have it: recorded pixels where the detector is an arc."""
        return self._scan.views, self._scan.recorded_rows, self._scan.recorded_columns

    @property
    def flat_shape(self):
        """The same of the flat detector that the matrices map to, which Operator works on."""
        return self._scan.views, self._scan.rows, self._scan.columns

    @property
    def matrices(self):
        """(views, 3, 4), scaled so that w = 1 at the rotation centre; a copy."""
        return self._scan.matrices

    @property
    def angles_deg(self):
        """The angle of every view as its matrix has it, from -180 to 180."""
        return numpy.array(self._scan.angles_deg)

    @property
    def source_detector_mm(self):
        return self._scan.source_detector_mm

    @property
    def field_of_view_radius_mm(self):
        """The largest radius around the axis that all views see."""
        return self._scan.field_of_view_radius_mm()

    def grid(self, shape=None, voxel_mm=None):
        """The grid that this scan supports: as large as the field of view, with voxels as large as pixels at the axis; or
        centred, with the shape or the voxel given."""
        whole = Grid._of(self._scan.automatic_grid())
        if shape is None and voxel_mm is None:
            return whole
        extent = [abs(step) * n for step, n in zip(whole.step_mm, whole.shape[::-1])]  # x, y, z
        if voxel_mm is None:
            n = (shape,) * 3 if numpy.isscalar(shape) else tuple(shape)
            voxel_mm = max(extent[0] / n[2], extent[1] / n[1])
        if shape is None:
            step = (voxel_mm,) * 3 if numpy.isscalar(voxel_mm) else tuple(voxel_mm)
            shape = tuple(max(1, round(length / s)) for length, s in zip(extent, step))[::-1]
        return Grid(shape, voxel_mm)

    def __getitem__(self, views):
        """The geometry of some of the views: a slice, indices, or a mask."""
        chosen = numpy.arange(self.views)[views]
        return Geometry._of(self._scan.selected([int(i) for i in numpy.atleast_1d(chosen)]))

    def __len__(self):
        return self.views

    def _near(self, other):
        """The same but for rounding."""
        if (self.beam, self.shape, self.flat_shape) != (other.beam, other.shape, other.flat_shape):
            return False
        mine, theirs = self.matrices, other.matrices
        return bool(numpy.all(numpy.abs(mine - theirs) <= 1e-9 * numpy.max(numpy.abs(mine), initial=0)))

    def __eq__(self, other):
        return (isinstance(other, Geometry) and (self.beam, self.shape, self.flat_shape) == (other.beam, other.shape, other.flat_shape)
                and numpy.array_equal(self.matrices, other.matrices))

    __hash__ = None

    def __reduce__(self):
        if self._scan.on_arc:
            raise UsageError("the geometry of an arc detector cannot be pickled", "", "its matrices are those of a flat one",
                             "keep what it was made from")
        return Geometry.from_matrices, (self.matrices, self.columns, self.rows, self.beam, self.source_detector_mm)

    def __repr__(self):
        return f"<lepus.Geometry {self.beam} beam, {self.views} views of {self.shape[2]} x {self.shape[1]} pixels>"


def _perturbation(values):
    known = dict(source_mm=(0, 0, 0), detector_mm=(0, 0, 0), in_plane_deg=0, pitch_deg=0, yaw_deg=0, angle_deg=0)
    unknown = set(values) - set(known)
    if unknown:
        raise UsageError(f"a perturbation has no '{unknown.pop()}'", "", "there are " + ", ".join(known))
    return _lepus.ViewPerturbation(**{**known, **values})
