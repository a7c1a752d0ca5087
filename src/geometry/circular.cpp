// SPDX-License-Identifier: Apache-2.0
// A circular scan as its operator describes it -> one 3x4 matrix per view (docs/geometry.md draws every quantity).
// With the detector's middle C, its unit column, row and normal directions u, v, n and the source S, a point X meets
// the detector lambda times nearer: X - S = lambda (C - S + p u + q v), so lambda = n.(X-S) / n.(C-S), and p, q follow.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/check_numbers.h"
#include "core/format.h"
#include "geometry/arc.h"
#include <lepus/error.h>
#include <lepus/geometry.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_scan(std::string what, std::string where, std::string why, std::string hint) {
  throw Error(ErrorKind::geometry,
              {.what = std::move(what), .where = std::move(where), .why = std::move(why), .hint = std::move(hint)});
}

void require_positive(double value, const char* name, const char* hint) {
  if (!(value > 0) || !std::isfinite(value))
    refuse_scan("a length must be positive", name, format("it is {}", value), hint);
}

void require_finite(double value, const char* name) {
  if (!std::isfinite(value))
    refuse_scan("a number is not finite", name, format("it is {}", value), "correct the value");
}

void check(const CircularScan& scan) {
  if (scan.columns < 1 || scan.rows < 1)
    refuse_scan("the detector has no pixels", "columns, rows", format("they are {} x {}", scan.columns, scan.rows),
                "give the size of the frames");
  constexpr std::int64_t most = 1 << 24;  // of each, which no detector has
  if (scan.columns > most || scan.rows > most)
    refuse_scan("the detector has too many pixels", "columns, rows",
                format("they are {} x {}", scan.columns, scan.rows), "give the size of the frames");
  check_named(scan.beam, Beam::parallel, "Beam");
  require_positive(scan.pixel_width_mm, "pixel_width_mm", "give the distance of neighbouring columns");
  require_positive(scan.pixel_height_mm, "pixel_height_mm", "give the distance of neighbouring rows");
  if (scan.beam != Beam::parallel) {
    require_positive(scan.source_axis_mm, "source_axis_mm", "give the distance from the source to the rotation axis");
    require_positive(scan.source_detector_mm, "source_detector_mm",
                     "the detector must be in front of the source: give the distance between them");
  }
  require_finite(scan.detector_shift_u_mm, "detector_shift_u_mm");
  require_finite(scan.detector_shift_v_mm, "detector_shift_v_mm");
  require_finite(scan.axis_offset_mm, "axis_offset_mm");
  require_finite(scan.in_plane_rad, "in_plane_rad");
  require_finite(scan.pitch_rad, "pitch_rad");
  require_finite(scan.yaw_rad, "yaw_rad");
  if (scan.angles_rad.empty())
    refuse_scan("the scan has no views", "angles_rad", "the list of angles is empty", "give one angle per frame");
  if (!scan.perturbations.empty() && scan.perturbations.size() != scan.angles_rad.size())
    refuse_scan("perturbations do not match the views", "perturbations",
                format("there are {} for {} angles", scan.perturbations.size(), scan.angles_rad.size()),
                "give one per view, or none");
  if (scan.arc && scan.beam == Beam::parallel)
    refuse_scan("an arc detector needs a source to be bent around", "arc", "the beam is parallel",
                "describe it as flat");
}

// cos and sin that are exact at quarter turns, so that views a quarter turn apart get the same numbers.
struct Turn {
  double cosine, sine;
};
Turn turn(double angle_rad) {
  const double quarters = std::round(angle_rad / (pi / 2));
  const double rest = angle_rad - quarters * (pi / 2);
  const double c = std::cos(rest), s = std::sin(rest);
  switch (static_cast<int>(quarters - 4 * std::floor(quarters / 4))) {
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    case 3:
      return {s, -c};
    default:
      return {c, s};
  }
}

// Rotation of the detector in its own frame (u, v, depth): yaw about v, then pitch about the turned u, then in-plane
// about the normal that results. All right-handed.
Matrix3 tilt(double yaw_rad, double pitch_rad, double in_plane_rad) {
  const Turn y = turn(yaw_rad), p = turn(pitch_rad), i = turn(in_plane_rad);
  const Matrix3 about_v{{y.cosine, 0, y.sine, 0, 1, 0, -y.sine, 0, y.cosine}};
  const Matrix3 about_u{{1, 0, 0, 0, p.cosine, -p.sine, 0, p.sine, p.cosine}};
  const Matrix3 about_normal{{i.cosine, -i.sine, 0, i.sine, i.cosine, 0, 0, 0, 1}};
  return about_v * (about_u * about_normal);
}

struct Setup {  // one view in world coordinates
  Vec3 source, middle, column, row, normal, beam_direction;
};

Setup place(const CircularScan& scan, double angle_rad, const ViewPerturbation& moved) {
  const Turn t = turn(angle_rad + moved.angle_rad);
  const Vec3 right{t.cosine, t.sine, 0}, down{0, 0, -1}, away{-t.sine, t.cosine, 0};
  const auto world = [&](Vec3 p) { return p.x * right + p.y * down + p.z * away; };

  const bool parallel = scan.beam == Beam::parallel;
  const double depth = parallel ? 0 : scan.source_detector_mm - scan.source_axis_mm;
  const Vec3 source{-scan.axis_offset_mm, 0, -scan.source_axis_mm};
  const Vec3 middle{scan.detector_shift_u_mm - scan.axis_offset_mm, scan.detector_shift_v_mm, depth};
  const Matrix3 turned =
      tilt(scan.yaw_rad + moved.yaw_rad, scan.pitch_rad + moved.pitch_rad, scan.in_plane_rad + moved.in_plane_rad);

  Setup s;
  s.source = world(source + moved.source_mm);
  s.middle = world(middle + moved.detector_mm);
  s.column = world(turned * Vec3{1, 0, 0});
  s.row = world(turned * Vec3{0, 1, 0});
  s.normal = world(turned * Vec3{0, 0, 1});
  s.beam_direction = away;
  return s;
}

struct PixelGrid {
  double column_sign, row_sign, width_mm, height_mm, middle_column, middle_row;
};

void set_row(Matrix34& p, int row, Vec3 gradient, double constant) {
  p(row, 0) = gradient.x;
  p(row, 1) = gradient.y;
  p(row, 2) = gradient.z;
  p(row, 3) = constant;
}

Matrix34 parallel_matrix(const Setup& s, const PixelGrid& g, const std::string& where) {
  const double towards = dot(s.normal, s.beam_direction);
  if (!(towards > 1e-6))
    refuse_scan("the beam does not meet the detector's front", where, "it is tilted by a quarter turn or more",
                "check the tilts");
  const Vec3 u = g.column_sign / g.width_mm * (s.column - dot(s.column, s.beam_direction) / towards * s.normal);
  const Vec3 v = g.row_sign / g.height_mm * (s.row - dot(s.row, s.beam_direction) / towards * s.normal);
  Matrix34 p;
  set_row(p, 0, u, g.middle_column - dot(u, s.middle));
  set_row(p, 1, v, g.middle_row - dot(v, s.middle));
  set_row(p, 2, {}, 1);
  return p;
}

Matrix34 cone_matrix(const Setup& s, const PixelGrid& g, const std::string& where) {
  const Vec3 to_middle = s.middle - s.source;
  const double to_plane = dot(s.normal, to_middle), to_centre = -dot(s.normal, s.source);
  if (!(to_plane > 1e-6 * norm(to_middle)))
    refuse_scan("the detector is not in front of the source", where,
                format("its plane is {:.6g} mm away along its normal", to_plane),
                "check source_detector_mm, the tilts and the view's perturbation");
  if (!(to_centre > 1e-6 * norm(s.source)))
    refuse_scan("the rotation centre is not in front of the source", where,
                format("it is {:.6g} mm away along the detector's normal", to_centre),
                "check source_axis_mm, the tilts and the view's perturbation");
  // Everything is divided by lambda at the origin, to_centre / to_plane, so that w = 1 there.
  const double scale = to_plane / to_centre;
  const Vec3 w = s.normal / to_centre;
  const auto gradient = [&](double sign, double pitch, Vec3 axis, double middle) {
    return sign * scale / pitch * (axis - dot(axis, to_middle) / to_plane * s.normal) + middle * w;
  };
  const Vec3 u = gradient(g.column_sign, g.width_mm, s.column, g.middle_column);
  const Vec3 v = gradient(g.row_sign, g.height_mm, s.row, g.middle_row);
  Matrix34 p;
  set_row(p, 0, u, -dot(u, s.source));
  set_row(p, 1, v, -dot(v, s.source));
  set_row(p, 2, w, 1);
  return p;
}

Matrix34 fan_matrix(const Setup& s, const PixelGrid& g, const std::string& where) {
  Matrix34 p =
      cone_matrix({{s.source.x, s.source.y, 0}, {s.middle.x, s.middle.y, 0}, s.column, s.row, s.normal, {}}, g, where);
  set_row(p, 1, {0, 0, -g.row_sign / g.height_mm}, g.middle_row + g.row_sign * s.middle.z / g.height_mm);
  p(0, 2) = p(2, 2) = 0;
  return p;
}

bool tilted(double in_plane_rad, double pitch_rad, double yaw_rad) {
  return in_plane_rad != 0 || pitch_rad != 0 || yaw_rad != 0;
}

void check_perturbation(const CircularScan& scan, const ViewPerturbation& m, const std::string& where) {
  for (const double x : {m.source_mm.x, m.source_mm.y, m.source_mm.z, m.detector_mm.x, m.detector_mm.y, m.detector_mm.z,
                         m.in_plane_rad, m.pitch_rad, m.yaw_rad, m.angle_rad})
    if (!std::isfinite(x))
      refuse_scan("a perturbation is not finite", where, format("it is {}", x), "correct the value");
  const double in_plane = scan.in_plane_rad + m.in_plane_rad, pitch = scan.pitch_rad + m.pitch_rad;
  if (scan.arc && (tilted(in_plane, pitch, scan.yaw_rad + m.yaw_rad) || !(m.source_mm == m.detector_mm)))
    refuse_scan("an arc detector cannot be tilted or moved against the source", where,
                "its columns are equally spaced in angle only while it is centred on the source",
                "leave the tilts out, or describe the detector as flat");
  if (scan.beam == Beam::fan && (in_plane != 0 || pitch != 0))
    refuse_scan("a fan beam's detector cannot be turned in its plane or pitched", where,
                "its rows are horizontal planes, each with its own fan",
                "use yaw only, or describe the beam as a cone");
}

}  // namespace

VolumeGrid centred_grid(std::int64_t nx, std::int64_t ny, std::int64_t nz, Vec3 step_mm) {
  const auto half = [](std::int64_t n) { return 0.5 * static_cast<double>(n - 1); };
  return {nx, ny, nz, {-half(nx) * step_mm.x, -half(ny) * step_mm.y, -half(nz) * step_mm.z}, step_mm};
}

ScanGeometry build_scan(const CircularScan& scan) {
  check(scan);
  ScanGeometry geometry;
  geometry.beam = scan.beam;
  geometry.columns = scan.columns;
  geometry.rows = scan.rows;
  PixelGrid grid{scan.mirror_columns ? -1.0 : 1.0,
                 scan.mirror_rows ? -1.0 : 1.0,
                 scan.pixel_width_mm,
                 scan.pixel_height_mm,
                 0.5 * static_cast<double>(scan.columns - 1),
                 0.5 * static_cast<double>(scan.rows - 1)};
  CircularScan flat = scan;
  if (scan.arc) {
    // The shift is along the arc; the flat detector touches it at the central ray, and is described from there.
    ArcDetector arc{.columns = scan.columns,
                    .rows = scan.rows,
                    .radius_mm = scan.source_detector_mm,
                    .pixel_width_mm = scan.pixel_width_mm,
                    .pixel_height_mm = scan.pixel_height_mm,
                    .central_column = grid.middle_column - grid.column_sign * scan.detector_shift_u_mm / grid.width_mm,
                    .central_row = grid.middle_row - grid.row_sign * scan.detector_shift_v_mm / grid.height_mm};
    const FlatCover cover = cover_arc(arc, scan.beam);
    geometry.columns = cover.columns;
    geometry.rows = cover.rows;
    grid.middle_column = cover.central_column;
    grid.middle_row = cover.central_row;
    flat.detector_shift_u_mm = flat.detector_shift_v_mm = 0;
    geometry.recorded_on_arc = arc;
  }

  for (std::size_t i = 0; i < scan.angles_rad.size(); ++i) {
    const std::string where = format("view {}", i);
    if (!std::isfinite(scan.angles_rad[i]))
      refuse_scan("an angle is not finite", where, format("it is {}", scan.angles_rad[i]),
                  "correct the list of angles");
    const ViewPerturbation moved = scan.perturbations.empty() ? ViewPerturbation{} : scan.perturbations[i];
    check_perturbation(scan, moved, where);
    const Setup setup = place(flat, scan.angles_rad[i], moved);
    geometry.matrices.push_back(scan.beam == Beam::cone  ? cone_matrix(setup, grid, where)
                                : scan.beam == Beam::fan ? fan_matrix(setup, grid, where)
                                                         : parallel_matrix(setup, grid, where));
  }
  if (scan.beam != Beam::parallel) {
    const Setup ideal = place(flat, 0, {});
    geometry.source_detector_mm = dot(ideal.normal, ideal.middle - ideal.source);
  }
  return geometry;
}

}  // namespace lepus
