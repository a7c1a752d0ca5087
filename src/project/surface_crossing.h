// SPDX-License-Identifier: Apache-2.0
// Where a ray passes through a triangle of a closed surface. The ray is sheared onto an axis: triangles then lie in a
// plane, the ray is its origin, and three signs of areas say whether it passes through one. A ray that meets an edge or
// a corner exactly passes through two triangles or none; it is moved by far less than any part has of accuracy, and
// tried again.
#pragma once

#include "project/ray.h"

namespace lepus {

struct SurfaceTriangle {
  Vec3 a, b, c;
};

struct SurfaceCrossing {
  double at = 0;
  int winding = 0;  // what is added to it behind the crossing
};

enum class TriangleMeeting { none, crossed, edge };

// Coordinates in which the ray is the z axis, from its origin on, and z counts its directions.
class ShearedRay {
public:
  LEPUS_HD explicit ShearedRay(const Ray& ray) : origin_(ray.origin_mm) {
    const Vec3 d = ray.direction;
    const double x = size(d.x), y = size(d.y), z = size(d.z);
    axis_ = x >= y && x >= z ? 0 : y >= x && y >= z ? 1 : 2;
    const Vec3 turned = turn(d);
    per_z_ = 1 / turned.z;
    x_ = turned.x * per_z_;
    y_ = turned.y * per_z_;
  }
  LEPUS_HD Vec3 operator()(Vec3 p) const {
    const Vec3 q = turn(p - origin_);
    return {q.x - x_ * q.z, q.y - y_ * q.z, q.z * per_z_};
  }

private:
  LEPUS_HD static double size(double x) { return x < 0 ? -x : x; }
  // The longest axis becomes z.
  LEPUS_HD Vec3 turn(Vec3 v) const { return axis_ == 0 ? Vec3{v.y, v.z, v.x} : axis_ == 1 ? Vec3{v.z, v.x, v.y} : v; }

  Vec3 origin_;
  int axis_ = 0;
  double per_z_ = 1, x_ = 0, y_ = 0;
};

// Twice the area of the origin, a and b; exactly the opposite for b and a.
LEPUS_HD inline double area_from_origin(Vec3 a, Vec3 b) { return a.x * b.y - a.y * b.x; }

LEPUS_HD inline TriangleMeeting meet(const ShearedRay& sheared, const SurfaceTriangle& triangle,
                                     SurfaceCrossing& crossing) {
  const Vec3 a = sheared(triangle.a), b = sheared(triangle.b), c = sheared(triangle.c);
  const double at_a = area_from_origin(b, c), at_b = area_from_origin(c, a), at_c = area_from_origin(a, b);
  if ((at_a < 0 || at_b < 0 || at_c < 0) && (at_a > 0 || at_b > 0 || at_c > 0)) return TriangleMeeting::none;
  const double sum = at_a + at_b + at_c;
  if (at_a == 0 || at_b == 0 || at_c == 0)  // seen edge-on it has no area: its neighbours know
    return sum == 0 ? TriangleMeeting::none : TriangleMeeting::edge;
  crossing = {(at_a * a.z + at_b * b.z + at_c * c.z) / sum, sum > 0 ? 1 : -1};
  return TriangleMeeting::crossed;
}

// How often a ray is tried, and where its origin lies then; `size_mm`: the surface's.
inline constexpr int ray_attempts = 20;
LEPUS_HD inline Vec3 attempted_origin(Vec3 origin, double size_mm, int attempt) {
  const double step = 1e-10 * size_mm * attempt;
  return attempt == 0 ? origin : origin + Vec3{step, 0.618 * step, -0.382 * step};
}

}  // namespace lepus
