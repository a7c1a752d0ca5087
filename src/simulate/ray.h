// SPDX-License-Identifier: Apache-2.0
// Rays, what they meet, and boxes around it. Lengths in mm.
#pragma once

#include <limits>

#include <lepus/math.h>

namespace lepus {

struct Interval {
  double begin = 0, end = 0;
  bool empty() const { return !(begin < end); }
};

// origin + t * direction; direction is a unit vector, so that t is in mm. Only [begin, end] counts.
struct Ray {
  Vec3 origin_mm, direction;
  double begin = -std::numeric_limits<double>::infinity();
  double end = std::numeric_limits<double>::infinity();
};

struct Bounds {
  Vec3 low, high;
};

}  // namespace lepus
