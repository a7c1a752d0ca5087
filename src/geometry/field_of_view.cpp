// SPDX-License-Identifier: Apache-2.0
// What a scan can see: the radius around the axis and the height along it, and the grid that fills both.
// The rays through a detector column u leave a plane, (row0 - u row2) . (x, y, z, 1) = 0; in z = 0 it is a line, and
// its distance from the axis is how far the view reaches on that side. Pixel centres count, not edges: interpolation
// needs a measured value on both sides.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/format.h"
#include "geometry/arc.h"
#include "geometry/camera.h"
#include "geometry/row_band.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Columns {
  double first, last;
};

// The first and the last column that were recorded, on the flat detector.
Columns recorded_columns(const ScanGeometry& geometry) {
  if (!geometry.recorded_on_arc) return {0, static_cast<double>(geometry.columns - 1)};
  const ArcMap map(geometry);
  const auto& arc = *geometry.recorded_on_arc;
  return {map.to_flat({0, arc.central_row}).column,
          map.to_flat({static_cast<double>(arc.columns - 1), arc.central_row}).column};
}

// Signed distance of the axis from the line of column u in the plane z = 0; positive where the axis lies at larger u.
double distance_from_column(const Matrix34& p, double u) {
  return (p(0, 3) - u * p(2, 3)) / std::hypot(p(0, 0) - u * p(2, 0), p(0, 1) - u * p(2, 1));
}

// Whether the views go all the way round: no gap is much wider than the mean step.
bool full_turn(const ScanGeometry& geometry) {
  std::vector<double> angles;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    angles.push_back(view_angle_rad(camera_of(geometry, view)));
  std::sort(angles.begin(), angles.end());
  double gap = angles.front() + 2 * pi - angles.back();
  for (std::size_t i = 1; i < angles.size(); ++i) gap = std::max(gap, angles[i] - angles[i - 1]);
  return gap < std::max(3 * 2 * pi / static_cast<double>(angles.size()), radians(5));
}

struct Heights {
  double low = -infinity, high = infinity;
};

// Where rows climb by more than 45 degrees the axis leaves the detector at its sides, not at its first and last row.
void require_rows_across_axis(const ScanGeometry& geometry) {
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const Vec3 along_row = camera_of(geometry, view).column_step_mm;
    const double climb_deg = degrees(std::asin(std::min(1.0, std::abs(along_row.z) / norm(along_row))));
    if (!(climb_deg <= 45))
      throw Error(ErrorKind::geometry,
                  {.what = "the detector's rows run along the rotation axis",
                   .where = format("view {}", view),
                   .why = format("they climb by {:.4g} degrees, and the automatic volume is as high as what the first "
                                 "and the last row see",
                                 climb_deg),
                   .hint = "turn the frames by 90 degrees, or give the volume"});
  }
}

// The part of the axis that every view sees.
Heights axis_seen(const ScanGeometry& geometry) {
  Heights seen;
  const auto map = geometry.recorded_on_arc ? std::optional<ArcMap>(geometry) : std::nullopt;
  for (const Matrix34& p : geometry.matrices) {
    double first = 0, last = static_cast<double>(geometry.rows - 1);
    if (map) {
      const double column = map->to_recorded({p(0, 3), p(1, 3)}).column;  // where the axis was recorded
      first = map->to_flat({column, 0}).row;
      last = map->to_flat({column, static_cast<double>(geometry.recorded_on_arc->rows - 1)}).row;
    }
    const double slope = geometry.beam == Beam::fan ? 0 : p(2, 2);
    const auto height = [&](double v) { return (p(1, 3) - v) / (v * slope - p(1, 2)); };
    const auto [low, high] = std::minmax({height(first), height(last)});
    seen.low = std::max(seen.low, low);
    seen.high = std::min(seen.high, high);
  }
  return seen;
}

// Voxel centres that fit into a length, both ends included; the slack keeps rounding from losing one.
std::int64_t fitting(double length, double step) { return static_cast<std::int64_t>(length / step + 1e-6) + 1; }

}  // namespace

double field_of_view_radius_mm(const ScanGeometry& geometry) {
  const Columns columns = recorded_columns(geometry);
  double first_side = infinity, last_side = infinity;  // how far every view reaches on the side of either edge
  for (const Matrix34& p : geometry.matrices) {
    first_side = std::min(first_side, distance_from_column(p, columns.first));
    last_side = std::min(last_side, -distance_from_column(p, columns.last));
  }
  const auto [smaller, larger] = std::minmax(first_side, last_side);
  if (!(smaller > 0)) return 0;  // some view does not see the axis
  // A detector shifted by less than about a twentieth of its width counts as centred: little is gained there.
  const bool half_fan = larger > 1.2 * smaller && full_turn(geometry);
  return half_fan ? larger : smaller;
}

VolumeGrid automatic_grid(const ScanGeometry& geometry) {
  const double radius = field_of_view_radius_mm(geometry);
  if (!(radius > 0) && geometry.columns > 1)
    throw Error(ErrorKind::geometry, {.what = "no region around the rotation axis is seen by every view",
                                      .where = "volume",
                                      .why = "the axis projects beside the detector in at least one view",
                                      .hint = "check detector_shift_u_mm and axis_offset_mm, or give the volume"});
  require_rows_across_axis(geometry);
  const Heights seen = axis_seen(geometry);
  const PixelPitch pitch = pitch_at_axis(camera_of(geometry, 0));
  // Less than a row short: one slice is as good as seen (a single row that jitters).
  if (!(seen.low - seen.high < pitch.height_mm))
    throw Error(ErrorKind::geometry,
                {.what = "no part of the rotation axis is seen by every view",
                 .where = "volume",
                 .why = format("the views overlap between z = {:.6g} and {:.6g} mm only", seen.low, seen.high),
                 .hint = "check detector_shift_v_mm and the tilts, or give the volume"});
  const std::int64_t across = fitting(2 * radius, pitch.width_mm);
  const std::int64_t along = fitting(std::max(0.0, seen.high - seen.low), pitch.height_mm);
  VolumeGrid grid = centred_grid(across, across, along, {pitch.width_mm, pitch.width_mm, pitch.height_mm});
  grid.origin_mm.z += 0.5 * (seen.low + seen.high);
  return grid;
}

}  // namespace lepus
