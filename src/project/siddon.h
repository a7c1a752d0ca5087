// SPDX-License-Identifier: Apache-2.0
// How long a ray runs within a voxel (Siddon 1985, Medical Physics 12:252): the ray, given as in Joseph's method by
// a(s) = a0 + s da and b(s) = b0 + s db over the place s along its main axis, is in voxel (i, j, k) while |s - i|,
// |a(s) - j| and |b(s) - k| are all below one half. The places where it crosses the faces come from the faces' own
// indices, never from the crossing before: a length is the same number whoever asks, a walk along the ray (A) or a
// voxel that looks at the rays around it (its transpose).
// Indices count from the grid's middle voxel, as in joseph.h.
#pragma once

#include <cmath>

#include "project/host_device.h"
#include "project/joseph.h"

namespace lepus {

template <class T>
struct SiddonRay {
  int axis = 0;             // i counts along it, j and k along joseph_axis_a and joseph_axis_b
  int first = 0, last = 0;  // layers [first, last) of voxels that may be met
  T a0 = 0, da = 0, b0 = 0, db = 0;
  T per_a = 0, per_b = 0;  // 1 / da, 1 / db
  T begin = 0, end = 0;    // of s: what lies behind the source does not count
  T way_mm = 0;            // per layer
};

// A ray that does not change on an axis stays in one voxel of it, wherever in there: it is put into the voxel's middle,
// and crosses faces nowhere, far before or behind. Of two voxels whose face it lies in, as rays of symmetric scans do,
// it takes the upper one, whatever its last digits say.
constexpr double siddon_smallest = 1e-9;
LEPUS_HD inline double siddon_inverse(double d) { return std::fabs(d) < siddon_smallest ? 1 / siddon_smallest : 1 / d; }
LEPUS_HD inline double siddon_start(double c0, double dc) {
  return std::fabs(dc) < siddon_smallest ? std::floor(c0 + 0.5 + siddon_smallest) : c0;
}
LEPUS_HD inline double siddon_change(double dc) { return std::fabs(dc) < siddon_smallest ? 0 : dc; }

template <class T>
LEPUS_HD inline SiddonRay<T> siddon_ray(const JosephView& view, const JosephGrid& grid, double u, double v) {
  const MainAxisRay ray = main_axis_ray(view, u, v);
  const int a = joseph_axis_a(ray.axis), b = joseph_axis_b(ray.axis);
  double first = -grid.middle[ray.axis], last = grid.size[ray.axis] - grid.middle[ray.axis];
  double begin = first - 0.5, end = last - 0.5;
  if (ray.forwards && ray.source > begin) begin = ray.source;
  if (!ray.forwards && ray.source < end) end = ray.source;
  // A layer reaches half a voxel to both sides, on which a and b change by no more than one half.
  clip_planes(ray.a0, ray.da, -1 - grid.middle[a], grid.size[a] - grid.middle[a], first, last);
  clip_planes(ray.b0, ray.db, -1 - grid.middle[b], grid.size[b] - grid.middle[b], first, last);
  if (!(first < last && begin < end)) first = last = 0;
  return {ray.axis,
          static_cast<int>(first),
          static_cast<int>(last),
          static_cast<T>(siddon_start(ray.a0, ray.da)),
          static_cast<T>(siddon_change(ray.da)),
          static_cast<T>(siddon_start(ray.b0, ray.db)),
          static_cast<T>(siddon_change(ray.db)),
          static_cast<T>(siddon_inverse(ray.da)),
          static_cast<T>(siddon_inverse(ray.db)),
          static_cast<T>(begin),
          static_cast<T>(end),
          static_cast<T>(ray.way_mm)};
}

// Cuts [low, high] of s to where the ray is between the faces of voxel `index` on one axis.
template <class T>
LEPUS_HD inline void cut_to_voxel(T c0, T per_c, int index, T& low, T& high) {
  const T p = (static_cast<T>(index) - T(0.5) - c0) * per_c, q = (static_cast<T>(index) + T(0.5) - c0) * per_c;
  const T enters = p < q ? p : q, leaves = p < q ? q : p;
  low = low > enters ? low : enters;
  high = high < leaves ? high : leaves;
}

// The length in millimetres within voxel (i, j, k).
template <class T>
LEPUS_HD inline T siddon_length(const SiddonRay<T>& ray, int i, int j, int k) {
  T low = static_cast<T>(i) - T(0.5), high = static_cast<T>(i) + T(0.5);
  low = low > ray.begin ? low : ray.begin;
  high = high < ray.end ? high : ray.end;
  cut_to_voxel(ray.a0, ray.per_a, j, low, high);
  cut_to_voxel(ray.b0, ray.per_b, k, low, high);
  return high > low ? (high - low) * ray.way_mm : T(0);
}

// The first of the at most two voxels on one axis that a ray meets in layer i.
template <class T>
LEPUS_HD inline int siddon_first(T c0, T dc, int i) {
  return static_cast<int>(std::floor(c0 + static_cast<T>(i) * dc - T(0.5) * std::fabs(dc) + T(0.5)));
}

}  // namespace lepus
