// SPDX-License-Identifier: Apache-2.0
// From 0 to 1 over [0, 1] without a corner: sin^2(pi x / 2), so that step(x) + step(1 - x) = 1. In double by the
// library; in float by a polynomial that vectorises (sin(pi z), |z| <= 1/2: Chebyshev, odd, degree 9, error 1e-8).
#pragma once

#include <cmath>

#include <lepus/math.h>

namespace lepus {

inline double smooth_step(double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const double s = std::sin(pi / 2 * x);
  return s * s;
}

inline float smooth_step(float x) {
  x = x > 0.0F ? x : 0.0F;
  x = x < 1.0F ? x : 1.0F;
  const float z = 0.5F * x, s = z * z;
  const float sine =
      z * (3.14159264F + s * (-5.167710084F + s * (2.550077523F + s * (-0.5982912856F + s * 0.07765766029F))));
  return sine * sine;
}

// atan for |t| <= 1, error below 1.1e-7 (Chebyshev, odd, degree 17).
inline float small_atan(float t) {
  const float s = t * t;
  return t * (0.9999999842F +
              s * (-0.3333306678F +
                   s * (0.1999248358F +
                        s * (-0.1420257051F +
                             s * (0.106367541F +
                                  s * (-0.07495445442F +
                                       s * (0.04258760745F + s * (-0.01600503049F + s * 0.002834064296F))))))));
}

}  // namespace lepus
