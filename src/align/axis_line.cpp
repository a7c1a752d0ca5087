// SPDX-License-Identifier: Apache-2.0
#include "align/axis_line.h"

#include <cmath>

#include "core/format.h"
#include "geometry/arc.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct LineCrossing {
  double column, slope;  // slope: columns per row
};

// Where the axis of one view crosses a row. The axis is a straight line on the detector; two of its points give it.
LineCrossing crossing(const ScanGeometry& geometry, std::int64_t view, double row) {
  const Matrix34& p = geometry.matrices[static_cast<std::size_t>(view)];
  const bool fan = geometry.beam == Beam::fan;
  const double reach = 10 * pitch_at_axis(camera_of(geometry, view)).height_mm;
  const auto at = [&](double z) {
    const Vec3 h = transform(p, {0, 0, z});
    return std::pair{h.x / h.z, fan ? h.y : h.y / h.z};
  };
  const auto [u0, v0] = at(-reach);
  const auto [u1, v1] = at(reach);
  if (!(std::abs(v1 - v0) > 0.1))
    throw Error(ErrorKind::geometry, {.what = "the rotation axis runs along the detector's rows",
                                      .where = format("view {}", view),
                                      .why = "rows must cross the axis for its column to be found",
                                      .hint = "turn the frames by 90 degrees"});
  const double slope = (u1 - u0) / (v1 - v0);
  return {u0 + slope * (row - v0), slope};
}

// How pixels are seen elsewhere when the detector moves across the beam: u becomes (1 + q depth) u - q, and v becomes
// (1 + q depth) v - q row. Where the detector is turned in its plane its rows move, too, and where it is yawed, its
// distance.
struct Across {
  double row = 0, depth = 0;
};

// frame_turn: as with_axis_at() has it.
Across across(const ScanGeometry& geometry, std::int64_t view, std::optional<double> frame_turn) {
  if (!frame_turn) return {};
  const double angle = view_angle_rad(camera_of(geometry, view)) + *frame_turn;
  const Vec3 right{std::cos(angle), std::sin(angle), 0};
  const Matrix34& p = geometry.matrices[static_cast<std::size_t>(view)];
  const double column = dot(row3(p, 0), right);
  const auto share = [&](int i, double size) {  // a detector that stands upright keeps its rows to the last bit
    const double part = dot(row3(p, i), right) / column;
    return std::abs(part) * size < 1e-10 ? 0 : part;
  };
  return {share(1, 1), share(2, static_cast<double>(geometry.columns))};
}

// As detector_shift_u_mm moves it: by one distance in all views.
ScanGeometry with_detector_moved(const ScanGeometry& geometry, double row, double column,
                                 std::optional<double> frame_turn) {
  double now = 0, change = 0;
  std::vector<Across> ways;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const LineCrossing c = crossing(geometry, view, row);
    const Across& way = ways.emplace_back(across(geometry, view, frame_turn));
    now += c.column / static_cast<double>(geometry.views());
    change += way.depth * (c.column - c.slope * row) + c.slope * way.row - 1;
  }
  change /= static_cast<double>(geometry.views());
  const double q = (column - now) / change;
  ScanGeometry moved = geometry;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Matrix34& p = moved.matrices[i];
    const double scale = 1 + q * ways[i].depth;
    for (int j = 0; j < 4; ++j) {
      p(0, j) = scale * p(0, j) - q * p(2, j);
      if (geometry.beam != Beam::fan) p(1, j) = scale * p(1, j) - q * ways[i].row * p(2, j);
    }
  }
  moved.source_detector_mm *= 1 + q * ways.front().depth;
  return moved;
}

}  // namespace

double AxisLine::column_at(double row) const { return column + std::tan(angle_rad) * aspect * (row - middle_row); }
double AxisLine::in_plane_deg() const { return handedness * degrees(angle_rad); }
double AxisLine::angle_of_in_plane(double in_plane_deg) const { return handedness * radians(in_plane_deg); }

AxisLine axis_line(const ScanGeometry& geometry, std::optional<double> middle_row) {
  AxisLine line;
  line.middle_row = middle_row.value_or(0.5 * static_cast<double>(geometry.rows - 1));
  const Camera camera = camera_of(geometry, 0);
  const PixelPitch pitch = pitch_at_axis(camera);
  line.aspect = pitch.height_mm / pitch.width_mm;
  line.handedness = dot(cross(camera.column_step_mm, camera.row_step_mm), camera.direction) < 0 ? -1 : 1;
  double slope = 0;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const LineCrossing c = crossing(geometry, view, line.middle_row);
    line.column += c.column / static_cast<double>(geometry.views());
    slope += c.slope / static_cast<double>(geometry.views());
  }
  line.angle_rad = std::atan(slope / line.aspect);
  return line;
}

std::vector<double> axis_columns(const ScanGeometry& geometry, double row) {
  std::vector<double> columns;
  for (std::int64_t view = 0; view < geometry.views(); ++view) columns.push_back(crossing(geometry, view, row).column);
  return columns;
}

// An arc is never tilted, so that the axis is seen on the same column in all its rows.
double recorded_axis_column(const ScanGeometry& geometry) {
  const AxisLine line = axis_line(geometry, {});
  return geometry.recorded_on_arc ? ArcMap(geometry).to_recorded({line.column, line.middle_row}).column : line.column;
}

ScanGeometry with_axis_at(const ScanGeometry& geometry, double row, double column, CenterKey key,
                          std::optional<double> frame_turn) {
  if (geometry.recorded_on_arc && key == CenterKey::detector_shift)
    return with_central_column(geometry,
                               geometry.recorded_on_arc->central_column + column - recorded_axis_column(geometry));
  if (geometry.recorded_on_arc) {
    const PixelPosition flat = ArcMap(geometry).to_flat({column, row});
    row = flat.row;
    column = flat.column;
  }
  if (key == CenterKey::detector_shift) return with_detector_moved(geometry, row, column, frame_turn);
  ScanGeometry moved = geometry;
  // Source and detector move together across the beam: X becomes X + tau * right in the view's frame. Newton's steps,
  // since with a tilted detector the column is not quite linear in tau.
  std::vector<Camera> cameras;
  for (std::int64_t view = 0; view < geometry.views(); ++view) cameras.push_back(camera_of(geometry, view));
  double tau = 0;
  for (int step = 0; step < 4; ++step) {
    const double missing = column - axis_line(moved, row).column;
    tau += missing * norm(cameras.front().column_step_mm) *
           (dot(cameras.front().column_step_mm,
                Vec3{std::cos(view_angle_rad(cameras.front())), std::sin(view_angle_rad(cameras.front())), 0}) < 0
                ? -1
                : 1);
    for (std::size_t i = 0; i < moved.matrices.size(); ++i) {
      const double angle = view_angle_rad(cameras[i]);
      const Vec3 right{std::cos(angle), std::sin(angle), 0};
      Matrix34 p = geometry.matrices[i];
      for (int r = 0; r < 3; ++r)
        if (!(geometry.beam == Beam::fan && r == 1)) p(r, 3) += tau * dot(row3(geometry.matrices[i], r), right);
      moved.matrices[i] = normalised(p, geometry.beam, static_cast<std::int64_t>(i));
    }
  }
  return moved;
}

ScanGeometry turned(const ScanGeometry& geometry, double middle_row, double angle_rad) {
  if (angle_rad == 0 || geometry.beam == Beam::fan) return geometry;
  const double aspect = axis_line(geometry, middle_row).aspect;
  const double middle_column = 0.5 * static_cast<double>(geometry.columns - 1);
  const double c = std::cos(angle_rad), s = std::sin(angle_rad);
  ScanGeometry result = geometry;
  for (Matrix34& p : result.matrices)
    for (int j = 0; j < 4; ++j) {
      const double w = p(2, j), x = p(0, j) - middle_column * w, y = (p(1, j) - middle_row * w) * aspect;
      p(0, j) = middle_column * w + c * x + s * y;
      p(1, j) = middle_row * w + (c * y - s * x) / aspect;
    }
  return result;
}

ScanGeometry centred(const ScanGeometry& geometry, const CenterResult& result, CenterKey key,
                     std::optional<double> frame_turn) {
  if (geometry.recorded_on_arc) return with_axis_at(geometry, result.middle_row, result.column, key);
  const AxisLine line = axis_line(geometry, result.middle_row);
  const double angle = line.angle_of_in_plane(result.in_plane_deg) - line.angle_rad;
  return with_axis_at(turned(geometry, result.middle_row, angle), result.middle_row, result.column, key, frame_turn);
}

RowFan::RowFan(const ScanGeometry& geometry, double base_column, double row)
    : camera_(camera_of(geometry, 0)), base_(base_column), row_(row) {
  bearing_ = bearing(base_);
  radius_ = source_axis_mm(camera_);
  const double angle = view_angle_rad(camera_);
  pitch_ = dot(camera_.column_step_mm, Vec3{std::cos(angle), std::sin(angle), 0});
}

double RowFan::bearing(double column) const {
  const Vec3 ray = camera_.ray(column, row_);
  return std::atan2(ray.y, ray.x);
}

double RowFan::angle_rad(double x) const {
  return camera_.beam == Beam::parallel ? 0 : std::remainder(bearing(base_ + x) - bearing_, 2 * pi);
}

double RowFan::opposite(double x) const {
  if (camera_.beam == Beam::parallel) return -x;
  const double wanted = -angle_rad(x);
  double y = -x;
  for (int step = 0; step < 3; ++step) {
    const double slope = (angle_rad(y + 0.5) - angle_rad(y - 0.5));
    y += (wanted - angle_rad(y)) / slope;
  }
  return y;
}

double RowFan::distance_mm(double x) const {
  if (camera_.beam == Beam::parallel) return pitch_ * x;
  return -radius_ * std::sin(angle_rad(x));
}

}  // namespace lepus
