// SPDX-License-Identifier: Apache-2.0
// The line integral of a volume along the ray of a pixel, by Joseph's method (Joseph 1982, IEEE TMI 1:192): along the
// axis of the grid that the ray crosses fastest, one sample in each plane of voxel centres, linear between the four
// voxels around it; voxels outside the grid are zero. The sum of the samples times the way between two planes is the
// integral.
// In: a view (JosephView) and a pixel. Out: the planes i that count and where the ray meets them, a(i) = a0 + i da on
// the plane's first axis and b(i) = b0 + i db on its second. All indices count from the grid's middle voxel: numbers
// stay small, and a float keeps more digits behind the point. Where the planes stand on x or y, b is z.
// What is set up once per ray is in double precision everywhere: all backends agree on axis, planes and samples.
#pragma once

#include <cmath>
#include <cstdint>

#include "project/host_device.h"

namespace lepus {

struct JosephGrid {
  int size[3] = {};    // nx, ny, nz
  int middle[3] = {};  // size / 2: the voxel that indices count from
};

// Rows of an upright view (ray_views.h says which are): the middle of row v meets the voxel column (x, y) at
// z = z0 . (1, x, y) + v (step . (1, x, y)), from the middle. Any other view has steps of zero.
struct UprightRows {
  double z0[3] = {}, step[3] = {};
  LEPUS_HD bool any() const { return step[0] != 0; }
};

// A pixel's ray is point + t direction for t > nearest; both are affine in (u, v), given by their value at (0, 0) and
// their changes per column and per row, in voxel indices from the middle.
struct JosephView {
  double point[3][3] = {}, direction[3][3] = {};
  double nearest = 0;      // of t: -1 is the source; parallel rays come from -infinity
  double step_mm[3] = {};  // of the grid, positive
  UprightRows rows;
};

struct JosephRay {
  int axis = 0;             // 0, 1, 2: the planes stand on x, y, z
  int first = 0, last = 0;  // planes [first, last), from the middle: outside of them every sample is zero
  float a0 = 0, da = 0, b0 = 0, db = 0;
  float way_mm = 0;  // from plane to plane
};

// The axes of a plane on `axis`, the slower one second: z wherever it is not the planes' own.
LEPUS_HD constexpr int joseph_axis_a(int axis) { return axis == 0 ? 1 : 0; }
LEPUS_HD constexpr int joseph_axis_b(int axis) { return axis == 2 ? 1 : 2; }

// Cuts [first, last) to where least < c0 + i dc < most, and up to one plane more on each side.
LEPUS_HD inline void clip_planes(double c0, double dc, double least, double most, double& first, double& last) {
  if (dc == 0) {
    if (!(c0 > least && c0 < most)) last = first;
    return;
  }
  const double p = (least - c0) / dc, q = (most - c0) / dc;
  const double low = std::floor(dc > 0 ? p : q), high = std::ceil(dc > 0 ? q : p) + 1;
  if (low > first) first = low;
  if (high < last) last = high;
}

// The coordinates in double precision: what the reference samples at.
struct JosephLine {
  int axis = 0;
  int first = 0, last = 0;
  double a0 = 0, da = 0, b0 = 0, db = 0, way_mm = 0;
};

// A pixel's ray over the place i along an axis: a(i) = a0 + i da, b(i) = b0 + i db.
struct AxisLine {
  double a0 = 0, da = 0, b0 = 0, db = 0;
};

LEPUS_HD inline AxisLine axis_line(const JosephView& view, double u, double v, int axis) {
  double p[3], d[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = view.point[k][0] + u * view.point[k][1] + v * view.point[k][2];
    d[k] = view.direction[k][0] + u * view.direction[k][1] + v * view.direction[k][2];
  }
  const int a = joseph_axis_a(axis), b = joseph_axis_b(axis);
  const double over = 1 / d[axis], da = d[a] * over, db = d[b] * over;
  return {p[a] - p[axis] * da, da, p[b] - p[axis] * db, db};
}

// The same over its main axis, the one that it crosses fastest, and how it runs there.
struct MainAxisRay : AxisLine {
  int axis = 0;
  double way_mm = 0;      // from plane to plane
  double source = 0;      // its place; planes behind it are not crossed
  bool forwards = false;  // away from the source i grows
};

LEPUS_HD inline MainAxisRay main_axis_ray(const JosephView& view, double u, double v) {
  double d[3];
  for (int k = 0; k < 3; ++k) d[k] = view.direction[k][0] + u * view.direction[k][1] + v * view.direction[k][2];
  // Rays at exactly 45 degrees are common in symmetric scans; the margin keeps rounding from deciding about them.
  constexpr double ahead = 1 + 1e-9;
  const double x = std::fabs(d[0]), y = std::fabs(d[1]), z = std::fabs(d[2]);
  MainAxisRay ray;
  ray.axis = y > ahead * x ? 1 : 0;
  if (z > ahead * (ray.axis == 1 ? y : x)) ray.axis = 2;
  const int axis = ray.axis;
  static_cast<AxisLine&>(ray) = axis_line(view, u, v, axis);
  double way = 0;
  for (int k = 0; k < 3; ++k) way += d[k] * view.step_mm[k] * d[k] * view.step_mm[k];
  ray.way_mm = std::sqrt(way) / std::fabs(d[axis]);
  ray.source = view.point[axis][0] + u * view.point[axis][1] + v * view.point[axis][2] + view.nearest * d[axis];
  ray.forwards = d[axis] > 0;
  return ray;
}

// Planes behind the source are not crossed.
LEPUS_HD inline void cut_at_source(const MainAxisRay& ray, double& first, double& last) {
  if (ray.forwards && ray.source >= first) first = std::floor(ray.source) + 1;
  if (!ray.forwards && ray.source <= last - 1) last = std::ceil(ray.source);
}

LEPUS_HD inline JosephLine joseph_line(const JosephView& view, const JosephGrid& grid, double u, double v) {
  const MainAxisRay ray = main_axis_ray(view, u, v);
  const int axis = ray.axis, a = joseph_axis_a(axis), b = joseph_axis_b(axis);
  double first = -grid.middle[axis], last = grid.size[axis] - grid.middle[axis];
  cut_at_source(ray, first, last);
  clip_planes(ray.a0, ray.da, -1 - grid.middle[a], grid.size[a] - grid.middle[a], first, last);
  clip_planes(ray.b0, ray.db, -1 - grid.middle[b], grid.size[b] - grid.middle[b], first, last);
  if (!(first < last)) first = last = 0;  // also where a number is not one
  return {axis, static_cast<int>(first), static_cast<int>(last), ray.a0, ray.da, ray.b0, ray.db, ray.way_mm};
}

LEPUS_HD inline JosephRay joseph_ray(const JosephLine& line) {
  return {line.axis,
          line.first,
          line.last,
          static_cast<float>(line.a0),
          static_cast<float>(line.da),
          static_cast<float>(line.b0),
          static_cast<float>(line.db),
          static_cast<float>(line.way_mm)};
}

// One product-sum, rounded once where the machine can: every loop over samples asks here where it is. Planes are
// counted in floats, which whole numbers are exact in.
LEPUS_HD inline float joseph_at(float c0, float dc, float plane) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(plane, dc, c0);
#else
  return c0 + plane * dc;
#endif
}

}  // namespace lepus
