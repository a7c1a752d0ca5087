// SPDX-License-Identifier: Apache-2.0
// The mean, over the area of a pixel, of the length of its rays within a voxel: what a detector measures where pixels
// and voxels differ in size. A separable footprint as in Long, Fessler and Balter 2010 (IEEE TMI 29:1839), but laid
// onto the grid instead of the detector, so that its two axes are the voxels' own for every orbit and tilt.
//
// In a layer of voxels across the ray's main axis (joseph.h) the pixel's beam is a cloud of points (a, b): the ray's
// place at the layer's middle, plus the way da, db that the ray goes while it passes the layer, plus what a step by a
// column (au, bu) and by a row (av, bv) moves it by; each of the three spread evenly over one unit. On one axis the
// cloud is a trapezoid: the longest of the three widths folded with the other two, which count as one width of the same
// variance. The share of voxel j on axis a is the trapezoid's integral over it. Given j, the cloud's middle on axis b
// is moved along by the regression of b on a: a ray that leaves voxel j half way through the layer is at another height
// there. The product of both shares and of the ray's way through the layer is the mean length.
//
// In an upright view (ray_views.h) axis b is z, and the shares on z are those of the row's own height at the middle of
// the voxel column (i, j): rows meet the column in pieces side by side, the same ones for every pixel of a row that
// sees it. So the footprint is a product of what a detector column and what a detector row have to do with a voxel
// column, and kernels can go through one after the other. What the rays rise by within a layer is left out: less than a
// row.
//
// Shares are differences of one cumulative function at the voxels' faces: together they are one, and a pixel that looks
// at its voxels (A) finds the same numbers as a voxel that looks at its pixels (the transpose).
#pragma once

#include <cmath>

#include "project/host_device.h"
#include "project/joseph.h"

namespace lepus {

// A pixel's beam over the place i along the main axis: all of it is affine in i.
template <class T>
struct FootprintRay {
  int axis = 0;
  int first = 0, last = 0;  // layers that may be met, from the middle
  T a0 = 0, da = 0, b0 = 0, db = 0;
  T bj = 0;    // the change of b per voxel on a: upright views
  T rise = 0;  // that the cloud is spread by on b while it passes the layer; upright views: none
  T way_mm = 0;
  T au0 = 0, dau = 0, av0 = 0, dav = 0;  // the change of a per column and per row
  T bu0 = 0, dbu = 0, bv0 = 0, dbv = 0;
  T bvj = 0;  // the change of bv per voxel on a: upright views
};

// Half of what the cloud reaches on one axis, at most.
LEPUS_HD inline double footprint_reach(double i, double d, double u0, double du, double v0, double dv) {
  return 0.5 * (std::fabs(d) + std::fabs(u0 + i * du) + std::fabs(v0 + i * dv));
}

template <class T>
LEPUS_HD inline FootprintRay<T> footprint_ray(const JosephView& view, const JosephGrid& grid, double u, double v) {
  const MainAxisRay ray = main_axis_ray(view, u, v);
  // Rays of the pixel's edges, over the same axis.
  const AxisLine left = axis_line(view, u - 0.5, v, ray.axis), right = axis_line(view, u + 0.5, v, ray.axis),
                 top = axis_line(view, u, v - 0.5, ray.axis), bottom = axis_line(view, u, v + 0.5, ray.axis);
  const double au0 = right.a0 - left.a0, dau = right.da - left.da, av0 = bottom.a0 - top.a0, dav = bottom.da - top.da;
  const double bu0 = right.b0 - left.b0, dbu = right.db - left.db, bv0 = bottom.b0 - top.b0, dbv = bottom.db - top.db;
  const int a = joseph_axis_a(ray.axis), b = joseph_axis_b(ray.axis);
  double first = -grid.middle[ray.axis], last = grid.size[ray.axis] - grid.middle[ray.axis];
  const auto t = [](double x) { return static_cast<T>(x); };
  FootprintRay<T> out{ray.axis,      0,      0,      t(ray.a0), t(ray.da), t(ray.b0), t(ray.db), T(0),   t(ray.db),
                      t(ray.way_mm), t(au0), t(dau), t(av0),    t(dav),    t(bu0),    t(dbu),    t(bv0), t(dbv),
                      T(0)};
  // Widths are affine in i, so the widest lie at the ends. The regression moves b by half of db at most.
  const double reach_a =
      std::fmax(footprint_reach(first, ray.da, au0, dau, av0, dav), footprint_reach(last, ray.da, au0, dau, av0, dav));
  double reach_b = std::fmax(footprint_reach(first, 2 * ray.db, bu0, dbu, bv0, dbv),
                             footprint_reach(last, 2 * ray.db, bu0, dbu, bv0, dbv));
  if (view.rows.any()) {
    const UprightRows& rows = view.rows;
    const int i = ray.axis == 0 ? 1 : 2, j = 3 - i;  // of (1, x, y)
    const double bj = rows.z0[j] + v * rows.step[j];
    out.b0 = t(rows.z0[0] + v * rows.step[0]);
    out.db = t(rows.z0[i] + v * rows.step[i]);
    out.bj = t(bj);
    out.bv0 = t(rows.step[0]);
    out.dbv = t(rows.step[i]);
    out.bvj = t(rows.step[j]);
    out.av0 = out.dav = out.bu0 = out.dbu = out.rise = T(0);
    reach_b += std::fabs(bj) * (reach_a + 1);
  }
  cut_at_source(ray, first, last);
  clip_planes(ray.a0, ray.da, -0.5 - reach_a - grid.middle[a], grid.size[a] - 0.5 + reach_a - grid.middle[a], first,
              last);
  clip_planes(ray.b0, ray.db, -0.5 - reach_b - grid.middle[b], grid.size[b] - 0.5 + reach_b - grid.middle[b], first,
              last);
  if (!(first < last)) first = last = 0;
  out.first = static_cast<int>(first);
  out.last = static_cast<int>(last);
  return out;
}

// On a device these are one instruction each, a unit in the last place off, where whole digits would cost more than all
// the rest. Both operators ask here.
template <class T>
LEPUS_HD inline T footprint_inverse(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == sizeof(float)) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    return inverse;
  }
#endif
  return T(1) / x;
}
template <class T>
LEPUS_HD inline T footprint_root(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == sizeof(float)) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
  }
#endif
  return std::sqrt(x);
}

// An even spread over the width p folded with one over q <= p.
template <class T>
struct Trapezoid {
  T p = 1, half_foot = 0, half_top = 0;  // (p + q) / 2, (p - q) / 2
  T per_p = 1, per_2pq = 0;
};

template <class T>
LEPUS_HD inline Trapezoid<T> trapezoid(T x, T y, T z) {
  x = std::fabs(x);
  y = std::fabs(y);
  z = std::fabs(z);
  const T xy = x > y ? x : y, p0 = xy > z ? xy : z;
  const T p = p0 > T(1e-6) ? p0 : T(1e-6);  // at the source itself all widths vanish
  const T rest = x * x + y * y + z * z - p0 * p0;
  const T q = rest > 0 ? footprint_root(rest) : T(0);
  // More than p it can be where all three are about equal; a trapezoid has no wider side than its longer one.
  const T side = q < p ? q : p;
  const T per_p = footprint_inverse(p);
  // Narrower than this it counts for nothing, and its inverse would overflow.
  const T per_side = side > T(1e-12) ? footprint_inverse(side) : T(0);
  return {p, T(0.5) * (p + side), T(0.5) * (p - side), per_p, T(0.5) * per_p * per_side};
}

// Its integral from far below to x, less one half.
template <class T>
LEPUS_HD inline T share_below(const Trapezoid<T>& t, T x) {
  const T y = std::fabs(x), rest = t.half_foot - y;
  const T share = y <= t.half_top ? y * t.per_p : rest > 0 ? T(0.5) - rest * rest * t.per_2pq : T(0.5);
  return x < 0 ? -share : share;
}

// The cloud of a layer.
template <class T>
struct FootprintLayer {
  T a = 0, b = 0;  // its middle
  Trapezoid<T> on_a, on_b;
  T slope = 0;                // of b over a
  T bj = 0, bv = 0, bvj = 0;  // upright views
};

template <class T>
LEPUS_HD inline FootprintLayer<T> footprint_layer(const FootprintRay<T>& ray, int layer) {
  const T i = static_cast<T>(layer);
  const T au = ray.au0 + i * ray.dau, av = ray.av0 + i * ray.dav, bu = ray.bu0 + i * ray.dbu,
          bv = ray.bv0 + i * ray.dbv;
  const T variance = ray.da * ray.da + au * au + av * av;
  return {ray.a0 + i * ray.da,
          ray.b0 + i * ray.db,
          trapezoid(ray.da, au, av),
          trapezoid(ray.rise, bu, bv),
          variance > T(1e-12) ? (ray.da * ray.rise + au * bu + av * bv) * footprint_inverse(variance) : T(0),
          ray.bj,
          bv,
          ray.bvj};
}

// The share of voxel j on axis a, and the cloud of what lies in it on axis b.
template <class T>
struct FootprintColumn {
  T share = 0, b = 0;
  Trapezoid<T> on_b;
};

template <class T>
LEPUS_HD inline T footprint_share(const Trapezoid<T>& t, T middle, int index) {
  const T low = static_cast<T>(index) - T(0.5) - middle, high = static_cast<T>(index) + T(0.5) - middle;
  return share_below(t, high) - share_below(t, low);
}

template <class T>
LEPUS_HD inline FootprintColumn<T> footprint_column(const FootprintLayer<T>& layer, int j) {
  const T low = static_cast<T>(j) - T(0.5) - layer.a, high = static_cast<T>(j) + T(0.5) - layer.a;
  // The middle of what the longest width has in common with the voxel.
  const T half = T(0.5) * layer.on_a.p;
  const T from = low < -half ? -half : low > half ? half : low, to = high < -half ? -half : high > half ? half : high;
  const T on_j = static_cast<T>(j);
  return {footprint_share(layer.on_a, layer.a, j), layer.b + layer.slope * T(0.5) * (from + to) + on_j * layer.bj,
          layer.bvj == 0 ? layer.on_b : trapezoid(T(0), T(0), layer.bv + on_j * layer.bvj)};
}

template <class T>
LEPUS_HD inline T footprint_row(const FootprintColumn<T>& column, int k) {
  return footprint_share(column.on_b, column.b, k);
}

// The mean length in millimetres within voxel (i, j, k) is
//   way_mm * footprint_column(layer, j).share * footprint_row(column, k),
// and not zero for voxels [first, last] of axis a, and of axis b in one of those columns, only:
struct IndexRange {
  int first = 0, last = -1;
};

template <class T>
LEPUS_HD inline IndexRange footprint_indices(const Trapezoid<T>& t, T middle) {
  return {static_cast<int>(std::floor(middle - t.half_foot + T(0.5))),
          static_cast<int>(std::ceil(middle + t.half_foot - T(0.5)))};
}

}  // namespace lepus
