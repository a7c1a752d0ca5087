// SPDX-License-Identifier: Apache-2.0
#include "filter/view_rays.h"

#include <algorithm>
#include <cmath>

namespace lepus {

ViewRays::ViewRays(const Camera& camera) : beam(camera.beam), angle_rad(view_angle_rad(camera)) {
  Vec3 e = camera.direction, from;
  if (beam == Beam::parallel) {
    e.z = 0;
    elevation = norm(e);
    e = e / elevation;
  } else {
    from = camera.source_mm;
    radius_mm = source_axis_mm(camera);
    e = Vec3{-from.x, -from.y, 0} / radius_mm;
  }
  const std::array<Vec3, 3> parts{camera.origin_mm - from, camera.column_step_mm, camera.row_step_mm};
  for (std::size_t k = 0; k < 3; ++k) {
    along[k] = dot(parts[k], e);
    across[k] = e.x * parts[k].y - e.y * parts[k].x;
    height[k] = beam == Beam::cone ? parts[k].z : 0;
  }
}

Ray ViewRays::ray(double u, double v) const {
  const double sideways = linear(across, u, v);
  if (beam == Beam::parallel) return {0, sideways};
  const double gamma = std::atan2(sideways, linear(along, u, v));
  return {gamma, radius_mm * std::sin(gamma)};
}

double ViewRays::column(double v, double rho_mm) const {
  const double sideways = linear(across, 0, v);
  if (beam == Beam::parallel) return (rho_mm - sideways) / across[1];
  const double t = std::tan(std::asin(std::clamp(rho_mm / radius_mm, -0.999, 0.999)));
  return (t * linear(along, 0, v) - sideways) / (across[1] - t * along[1]);
}

}  // namespace lepus
