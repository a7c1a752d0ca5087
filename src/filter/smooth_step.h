// SPDX-License-Identifier: Apache-2.0
// From 0 to 1 over [0, 1] without a corner: sin^2(pi x / 2), so that step(x) + step(1 - x) = 1, in double precision.
// project/ray_weight.h has it in single precision.
#pragma once

#include <cmath>

#include "project/ray_weight.h"
#include <lepus/math.h>

namespace lepus {

inline double smooth_step(double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const double s = std::sin(pi / 2 * x);
  return s * s;
}

}  // namespace lepus
