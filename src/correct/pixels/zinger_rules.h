// SPDX-License-Identifier: Apache-2.0
// Zingers: values far above the median of the same pixel in the neighbouring views, and of the neighbouring pixels of
// the row in the same view. Written once for host and device.
#pragma once

#include <cstdint>

#include "project/host_device.h"

namespace lepus::pixels {

enum class ZingerNeighbours { views, row, both };

inline constexpr int row_radius = 2;  // the median along the row is of 5 pixels

struct ZingerRules {
  ZingerNeighbours neighbours = ZingerNeighbours::both;
  int radius = 2;    // views on each side: 1, 2 or 3
  double limit = 8;  // times the mean distance from the median: tolerance / mean_distance(radius)
  float sign = 1;    // +1: zingers are high (grey levels), -1: low (line integrals)
};

// The mean of |w - median of the 2 radius + 1 values around and with w| in independent normal noise of 1: radius 1 is
// 1 / sqrt(pi), a third of the mean range; the others by 8 million random draws, +-0.0002.
inline double mean_distance(int radius) { return radius == 1 ? 0.5642 : radius == 2 ? 0.6628 : 0.7037; }

// The first of `count` neighbours around `at` in [0, size): in the middle where they fit, else shifted inside.
LEPUS_HD inline std::int64_t first_neighbour(std::int64_t at, std::int64_t radius, std::int64_t size) {
  const std::int64_t last = size - 2 * radius - 1, first = at - radius;
  return first < 0 ? 0 : first > last ? last : first;
}

#include "correct/pixels/median_networks-inl.h"

struct ExchangeFloats {
  LEPUS_HD void operator()(float& low, float& high) const {
    const float a = low, b = high;
    low = a < b ? a : b;
    high = a < b ? b : a;
  }
};

}  // namespace lepus::pixels
