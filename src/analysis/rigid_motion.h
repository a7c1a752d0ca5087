// SPDX-License-Identifier: Apache-2.0
// A motion of space that keeps distances: p -> rotation (p - centre) + centre + shift, in millimetres.
#pragma once

#include <cmath>

#include <lepus/math.h>

namespace lepus::analysis {

struct RigidMotion {
  Matrix3 rotation;
  Vec3 centre_mm, shift_mm;

  Vec3 operator()(Vec3 p) const { return rotation * (p - centre_mm) + centre_mm + shift_mm; }
};

// About `turn`, by its length in radians (Rodrigues).
inline Matrix3 rotation_by(Vec3 turn) {
  const double angle = norm(turn);
  if (angle == 0) return {};
  const Vec3 a = turn / angle;
  const double c = std::cos(angle), s = std::sin(angle), t = 1 - c;
  return {{c + t * a.x * a.x, t * a.x * a.y - s * a.z, t * a.x * a.z + s * a.y,  //
           t * a.x * a.y + s * a.z, c + t * a.y * a.y, t * a.y * a.z - s * a.x,  //
           t * a.x * a.z - s * a.y, t * a.y * a.z + s * a.x, c + t * a.z * a.z}};
}

// The other way round. Near half a turn the axis is taken from the symmetric part.
inline Vec3 turn_of(const Matrix3& r) {
  const Vec3 twice_sine{r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1)};
  const double sine = norm(twice_sine) / 2, cosine = (r(0, 0) + r(1, 1) + r(2, 2) - 1) / 2;
  const double angle = std::atan2(sine, cosine);
  if (sine > 1e-6) return twice_sine / (2 * sine) * angle;
  if (cosine > 0) return twice_sine / 2;
  const int k = r(0, 0) >= r(1, 1) && r(0, 0) >= r(2, 2) ? 0 : r(1, 1) >= r(2, 2) ? 1 : 2;
  const Vec3 column{r(0, k) + (k == 0 ? 1 : 0), r(1, k) + (k == 1 ? 1 : 0), r(2, k) + (k == 2 ? 1 : 0)};
  return normalized(column) * angle;
}

}  // namespace lepus::analysis
