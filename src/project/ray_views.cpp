// SPDX-License-Identifier: Apache-2.0
#include "project/ray_views.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/format.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

JosephView rays_of(const Camera& camera, const VolumeGrid& grid, const JosephGrid& joseph) {
  // A fan's rays stay in the plane of their row; parallel rays all have one direction.
  const bool fan = camera.beam == Beam::fan, parallel = camera.beam == Beam::parallel;
  const auto flat = [fan](Vec3 d) { return fan ? Vec3{d.x, d.y, 0} : d; };
  const Vec3 point[3] = {camera.origin_mm, camera.column_step_mm, camera.row_step_mm};
  const Vec3 direction[3] = {parallel ? camera.direction : flat(camera.origin_mm - camera.source_mm),
                             parallel ? Vec3{} : flat(camera.column_step_mm),
                             parallel ? Vec3{} : flat(camera.row_step_mm)};
  JosephView view;
  view.nearest = parallel ? -std::numeric_limits<double>::infinity() : -1;
  for (int term = 0; term < 3; ++term) {
    const Vec3 p = term == 0 ? point[0] - grid.origin_mm : point[term], d = direction[term];
    const double middle = term == 0 ? 1 : 0;
    view.point[0][term] = p.x / grid.step_mm.x - middle * joseph.middle[0];
    view.point[1][term] = p.y / grid.step_mm.y - middle * joseph.middle[1];
    view.point[2][term] = p.z / grid.step_mm.z - middle * joseph.middle[2];
    view.direction[0][term] = d.x / grid.step_mm.x;
    view.direction[1][term] = d.y / grid.step_mm.y;
    view.direction[2][term] = d.z / grid.step_mm.z;
  }
  view.step_mm[0] = std::abs(grid.step_mm.x);
  view.step_mm[1] = std::abs(grid.step_mm.y);
  view.step_mm[2] = std::abs(grid.step_mm.z);
  return view;
}

double direction_at(const JosephView& view, int k, double u, double v) {
  return view.direction[k][0] + u * view.direction[k][1] + v * view.direction[k][2];
}

// How far a ray of the detector rises at most on z from one plane of its main axis to the next, were that x or y.
double largest_rise(const JosephView& view, const ScanGeometry& geometry) {
  const auto last_u = static_cast<double>(geometry.columns - 1), last_v = static_cast<double>(geometry.rows - 1);
  double highest = 0;
  for (const double u : {0.0, last_u})
    for (const double v : {0.0, last_v}) highest = std::max(highest, std::abs(direction_at(view, 2, u, v)));
  return highest / slowest_direction(view, 0, last_u);
}

UprightRows upright_rows(const ScanGeometry& geometry, const Matrix34& in_voxels, const JosephView& view,
                         const JosephGrid& grid) {
  constexpr double negligible = 1e-6;       // of a column, over all slices
  constexpr double surely_in_front = 0.01;  // of the distance from source to axis
  const Matrix34& m = in_voxels;
  // What v is divided by, over (1, x, y).
  const bool cone = geometry.beam == Beam::cone;
  const auto from_middle = [&](int row, int k) {
    return k < 3 ? m(row, k) : m(row, 3) + m(row, 0) * grid.middle[0] + m(row, 1) * grid.middle[1];
  };
  UprightRows rows;
  for (int i = 0; i < 3; ++i) {
    const int k = i == 0 ? 3 : i - 1;
    rows.z0[i] = -from_middle(1, k) / m(1, 2) - (i == 0 ? grid.middle[2] : 0);
    rows.step[i] = (cone ? from_middle(2, k) : i == 0 ? 1 : 0) / m(1, 2);
  }
  double lowest_row = std::numeric_limits<double>::infinity();
  for (const int x : {-1, grid.size[0]})
    for (const int y : {-1, grid.size[1]}) {
      const double px = x - grid.middle[0], py = y - grid.middle[1];
      const double w = m(2, 0) * px + m(2, 1) * py + from_middle(2, 3);
      if (!(w > surely_in_front) || std::abs(m(0, 2)) * grid.size[2] > negligible * w ||
          std::abs(m(2, 2)) * grid.size[2] * static_cast<double>(geometry.columns) > negligible * w)
        return {};
      lowest_row = std::min(lowest_row, std::abs(rows.step[0] + rows.step[1] * px + rows.step[2] * py));
    }
  return largest_rise(view, geometry) <= std::min(1.0, lowest_row) ? rows : UprightRows{};
}

int axis_size(std::int64_t n, const char* axis) {
  constexpr std::int64_t most = 1 << 20;
  if (n < 1 || n > most)
    throw Error(ErrorKind::usage, {.what = format("{} voxels along {} cannot be projected", n, axis),
                                   .where = {},
                                   .why = format("there must be 1 to {}", most),
                                   .hint = {}});
  return static_cast<int>(n);
}

}  // namespace

// The larger of |x| and |y| is convex in u: it is smallest at an end, or where both are equal.
double slowest_direction(const JosephView& view, double first, double last) {
  const auto& x = view.direction[0];
  const auto& y = view.direction[1];
  double slowest = std::numeric_limits<double>::infinity();
  for (const double u : {first, last, (y[0] - x[0]) / (x[1] - y[1]), -(y[0] + x[0]) / (x[1] + y[1])})
    if (u >= first && u <= last)
      slowest = std::min(slowest, std::max(std::abs(x[0] + u * x[1]), std::abs(y[0] + u * y[1])));
  return slowest;
}

// Directions are affine in (u, v): their ranges are found at the corners.
std::array<bool, 3> axes_along(const JosephView& view, std::int64_t columns, std::int64_t rows) {
  double least[3], most[3];
  for (int k = 0; k < 3; ++k) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double u : {0.0, static_cast<double>(columns - 1)})
      for (const double v : {0.0, static_cast<double>(rows - 1)}) {
        const double d = direction_at(view, k, u, v);
        low = std::min(low, d);
        high = std::max(high, d);
      }
    least[k] = low <= 0 && high >= 0 ? 0 : std::min(std::abs(low), std::abs(high));
    most[k] = std::max(std::abs(low), std::abs(high));
  }
  constexpr double rounding = 1 + 1e-6;
  std::array<bool, 3> axes{};
  for (std::size_t k = 0; k < 3; ++k) axes[k] = most[k] * rounding >= std::max(least[(k + 1) % 3], least[(k + 2) % 3]);
  return axes;
}

// A slope is a quotient of what is affine on the detector, so that its largest lies at a corner, unless rays turn round
// in between: then some change as much on the other axis as on their own.
double largest_slope(const JosephView& view, std::int64_t columns, std::int64_t rows, int k, int axis) {
  double largest = 0;
  int forwards = 0;
  for (const double u : {0.0, static_cast<double>(columns - 1)})
    for (const double v : {0.0, static_cast<double>(rows - 1)}) {
      const double slope = std::abs(direction_at(view, axis, u, v) / direction_at(view, k, u, v));
      largest = std::max(largest, std::isfinite(slope) ? slope : 1.0);
      forwards += direction_at(view, k, u, v) > 0 ? 1 : 0;
    }
  return forwards == 0 || forwards == 4 ? std::min(largest, 1.0) : 1.0;
}

JosephGrid joseph_grid(const VolumeGrid& grid) {
  JosephGrid joseph;
  joseph.size[0] = axis_size(grid.nx, "x");
  joseph.size[1] = axis_size(grid.ny, "y");
  joseph.size[2] = axis_size(grid.nz, "z");
  for (int k = 0; k < 3; ++k) joseph.middle[k] = joseph.size[k] / 2;
  return joseph;
}

std::vector<JosephView> joseph_views(const ScanGeometry& geometry, const VolumeGrid& grid) {
  const JosephGrid joseph = joseph_grid(grid);
  std::vector<JosephView> views;
  views.reserve(geometry.matrices.size());
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    views.push_back(rays_of(camera_of(geometry, view), grid, joseph));
    const Matrix34 in_voxels = in_voxel_indices(geometry.matrices[static_cast<std::size_t>(view)], grid);
    views.back().rows = upright_rows(geometry, in_voxels, views.back(), joseph);
  }
  return views;
}

RayViews ray_views(const ScanGeometry& geometry, const VolumeGrid& grid) {
  return {joseph_grid(grid), joseph_views(geometry, grid), geometry.columns, geometry.rows};
}

std::vector<int> axes_of(const RayViews& rays) {
  std::array<bool, 3> used{};
  for (const JosephView& view : rays.views) {
    const std::array<bool, 3> along = axes_along(view, rays.columns, rays.rows);
    for (std::size_t k = 0; k < 3; ++k) used[k] = used[k] || along[k];
  }
  std::vector<int> axes;
  for (int k = 0; k < 3; ++k)
    if (used[static_cast<std::size_t>(k)]) axes.push_back(k);
  return axes;
}

}  // namespace lepus
