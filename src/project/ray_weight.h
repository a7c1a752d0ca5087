// SPDX-License-Identifier: Apache-2.0
// What one measured ray is multiplied by before the ramp filter, in single precision, for host and device alike.
// In: the view's parameters, row v, and column u counted from the detector's middle. Out: its factor
//   share of the arc * redundancy * (line integral's weight along the row) * cosine.
// Parker 1982, Silver 2000, Wang 2002; filter/redundancy.h says what the redundancy is, docs/filters.md derives it all.
#pragma once

#include <cmath>
#include <cstdint>

#include "project/host_device.h"
#include <lepus/geometry.h>

namespace lepus {

// One view. For a pixel at P from the source: along = P.e, across = e x P, height = P_z (filter/view_rays.h), each
// given by its value at column 0 and row 0, its change per column, and its change per row, in mm.
struct ViewWeight {
  double along[3] = {}, across[3] = {}, height[3] = {};
  double radius_mm = 0;                          // of the source's circle; parallel: 0
  double elevation = 1;                          // cosine of the elevation of parallel rays
  double share_rad = 0;                          // of the arc
  float redundancy = 1;                          // of every ray, where it does not vary
  float margin = 0;                              // distance of the view from the nearest end of its arc, in radians
  std::int32_t first_partner = 0, partners = 0;  // of the arcs where 2 gamma may find the same line again
  bool varies = false, needs_gamma = false, needs_rho = false;
  bool upright = false;  // a column sees the same fan angle in every row: it is taken in the middle row
  bool narrow = true;    // every ray within 45 degrees of the axis
};

struct PartnerArc {
  float begin = 0, end = 0;  // of 2 gamma, in radians
};

// What all views share.
struct WeightShape {
  Beam beam = Beam::cone;
  double middle_column = 0, middle_row = 0;
  float fade_start = 0, fade_scale = 0;  // the detector's confidence is step(fade_start + rho * fade_scale)
};

// The widest fade at the end of an arc: Parker's weights reach all over the arc that is seen twice, which costs noise
// where that is long.
inline constexpr double widest_fade_rad = 1.0471975511965976;  // 60 degrees
// Keeps 0/0 away: a ray with no confidence of its own whose partner was not measured either counts fully.
inline constexpr double no_confidence = 1e-30;

// Devices have a fast reciprocal square root and quotient, good to two units in the last place.
LEPUS_HD inline float over_root(float a, float squared) {
#ifdef __CUDA_ARCH__
  return a * rsqrtf(squared);
#else
  return a / std::sqrt(squared);
#endif
}
LEPUS_HD inline float quotient(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fdividef(a, b);
#else
  return a / b;
#endif
}

// From 0 to 1 over [0, 1] without a corner: sin^2(pi x / 2), so that step(x) + step(1 - x) = 1, by a polynomial that
// vectorises (sin(pi z), |z| <= 1/2: Chebyshev, odd, degree 9, error 1e-8).
LEPUS_HD inline float smooth_step(float x) {
  x = x > 0.0F ? x : 0.0F;
  x = x < 1.0F ? x : 1.0F;
  const float z = 0.5F * x, s = z * z;
  const float sine =
      z * (3.14159264F + s * (-5.167710084F + s * (2.550077523F + s * (-0.5982912856F + s * 0.07765766029F))));
  return sine * sine;
}

// atan for |t| <= 1, error below 1.1e-7 (Chebyshev, odd, degree 17).
LEPUS_HD inline float small_atan(float t) {
  const float s = t * t;
  return t * (0.9999999842F +
              s * (-0.3333306678F +
                   s * (0.1999248358F +
                        s * (-0.1420257051F +
                             s * (0.106367541F +
                                  s * (-0.07495445442F +
                                       s * (0.04258760745F + s * (-0.01600503049F + s * 0.002834064296F))))))));
}

// One row in single precision, columns counted from the detector's middle: that keeps the rounding small.
struct RayLine {
  float radius, along, along_step, across, across_step, height, height_step;
};

LEPUS_HD inline RayLine ray_line(const ViewWeight& w, double middle, double v) {
  const double along = w.along[0] + middle * w.along[1] + v * w.along[2];
  const double across = w.across[0] + middle * w.across[1] + v * w.across[2];
  const double height = w.height[0] + middle * w.height[1] + v * w.height[2];
  return {static_cast<float>(w.radius_mm), static_cast<float>(along),       static_cast<float>(w.along[1]),
          static_cast<float>(across),      static_cast<float>(w.across[1]), static_cast<float>(height),
          static_cast<float>(w.height[1])};
}

// The line integral's weight along the row: d(rho) d(theta) over (change of rho per column)^2, times the elevation's
// cosine. It does not depend on u but through the ray's direction.
LEPUS_HD inline double row_factor(const ViewWeight& w, Beam beam, double v) {
  if (beam == Beam::parallel) return w.elevation / std::abs(w.across[1]);
  const double along = w.along[0] + v * w.along[2], across = w.across[0] + v * w.across[2];
  return w.radius_mm / std::abs(w.along[1] * across - w.across[1] * along);
}

LEPUS_HD inline float narrow_fan_angle(const RayLine& r, float u) {
  return small_atan(quotient(r.across + u * r.across_step, r.along + u * r.along_step));
}
LEPUS_HD inline float wide_fan_angle(const RayLine& r, float u) {
  return std::atan2(r.across + u * r.across_step, r.along + u * r.along_step);
}

// Signed, in mm. Of parallel beams: the first; of others: both.
LEPUS_HD inline float across_at(const RayLine& r, float u) { return r.across + u * r.across_step; }
LEPUS_HD inline float axis_distance(const RayLine& r, float u, float across) {
  const float along = r.along + u * r.along_step;
  return across * over_root(r.radius, along * along + across * across);
}

// How deep the partner's view lies in one of the arcs, if deeper than `so_far`.
LEPUS_HD inline float partner_margin(const PartnerArc& arc, float gamma, float so_far) {
  const float a = 2 * gamma - arc.begin, b = arc.end - 2 * gamma;
  const float inside = a < b ? a : b;
  return so_far > inside ? so_far : inside;
}

// A full turn, a detector off the middle.
LEPUS_HD inline float feathered_redundancy(const WeightShape& shape, float rho) {
  const float own = smooth_step(shape.fade_start + rho * shape.fade_scale);
  return quotient(own, own + smooth_step(shape.fade_start - rho * shape.fade_scale));
}
// Arcs with ends; margins of the view and of its partner.
LEPUS_HD inline float arc_redundancy(float margin, float partner) {
  const float sum = margin + partner, widest = static_cast<float>(widest_fade_rad);
  const float fade = quotient(1.0F, sum < widest ? sum : widest);
  const float c = smooth_step(margin * fade) + static_cast<float>(no_confidence);
  return quotient(c, c + smooth_step(partner * fade));
}
// Both.
LEPUS_HD inline float feathered_arc_redundancy(const WeightShape& shape, float margin, float partner, float rho) {
  const float sum = margin + partner, widest = static_cast<float>(widest_fade_rad);
  const float fade = quotient(1.0F, sum < widest ? sum : widest);
  const float c = smooth_step(margin * fade) * smooth_step(shape.fade_start + rho * shape.fade_scale) +
                  static_cast<float>(no_confidence);
  return quotient(c, c + smooth_step(partner * fade) * smooth_step(shape.fade_start - rho * shape.fade_scale));
}

// The redundancy of one ray where it varies; `line` is its row, or the middle row of an upright detector.
LEPUS_HD inline float ray_redundancy(const WeightShape& shape, const ViewWeight& view, const PartnerArc* partners,
                                     const RayLine& line, float u) {
  float gamma = 0, rho = 0;
  if (view.needs_gamma && shape.beam != Beam::parallel)
    gamma = view.narrow ? narrow_fan_angle(line, u) : wide_fan_angle(line, u);
  if (view.needs_rho) {
    rho = across_at(line, u);
    if (shape.beam != Beam::parallel) rho = axis_distance(line, u, rho);
  }
  if (!view.needs_gamma) return feathered_redundancy(shape, rho);
  float partner = 0;
  for (std::int32_t k = 0; k < view.partners; ++k)
    partner = partner_margin(partners[view.first_partner + k], gamma, partner);
  return view.needs_rho ? feathered_arc_redundancy(shape, view.margin, partner, rho)
                        : arc_redundancy(view.margin, partner);
}

// `scale` times the ray's cosine. The sum of squares is taken of linear terms: expanded in u it would cancel.
LEPUS_HD inline float cosine_weight(const RayLine& r, float u, float scale) {
  const float along = r.along + u * r.along_step, across = r.across + u * r.across_step,
              height = r.height + u * r.height_step;
  return over_root(scale * along, along * along + across * across + height * height);
}

}  // namespace lepus
