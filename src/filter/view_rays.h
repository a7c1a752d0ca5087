// SPDX-License-Identifier: Apache-2.0
// The rays of one view as the weights see them, from its camera: the fan angle against the line from the source to the
// axis, the signed distance from the axis, and the way back from that distance to the column.
#pragma once

#include <array>

#include "geometry/camera.h"

namespace lepus {

// gamma counter-clockwise seen from +z; rho = R sin(gamma) (parallel: gamma = 0).
struct Ray {
  double gamma_rad, rho_mm;
};

// For a pixel at P from the source: along = P.e, across = e x P (horizontal, positive counter-clockwise), height = P_z,
// with e the horizontal unit vector from the source to the axis (parallel: along the rays, P from the axis).
struct ViewRays {
  Beam beam = Beam::cone;
  double angle_rad = 0;
  double radius_mm = 0;                               // of the source's circle; parallel: 0
  double elevation = 1;                               // cosine of the elevation of parallel rays
  std::array<double, 3> along{}, across{}, height{};  // constant, per column, per row

  ViewRays() = default;
  explicit ViewRays(const Camera& camera);

  Ray ray(double u, double v) const;
  double column(double v, double rho_mm) const;  // whose ray passes the axis at rho
};

inline double linear(const std::array<double, 3>& c, double u, double v) { return c[0] + u * c[1] + v * c[2]; }

}  // namespace lepus
