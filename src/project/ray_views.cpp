// SPDX-License-Identifier: Apache-2.0
#include "project/ray_views.h"

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
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    views.push_back(rays_of(camera_of(geometry, view), grid, joseph));
  return views;
}

}  // namespace lepus
