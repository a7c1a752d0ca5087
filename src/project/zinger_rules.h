// SPDX-License-Identifier: Apache-2.0
// Zingers: values far above the median of the same pixel in the neighbouring views, and of the neighbouring pixels of
// the row in the same view, with nothing like them near by in the views around. Written once for host and device.
#pragma once

#include <cstdint>

#include "project/host_device.h"

namespace lepus::pixels {

enum class ZingerNeighbours { views, row, both };

inline constexpr int row_radius = 2;  // the median along the row is of 5 pixels
// A detail of the object stands out in the views around, too, by at least this share, and half of the threshold.
inline constexpr float share_of_detail = 0.25F;

struct ZingerRules {
  ZingerNeighbours neighbours = ZingerNeighbours::both;
  int radius = 2;    // views on each side: 1, 2 or 3
  double limit = 8;  // times the mean distance from the median: tolerance / mean_distance(radius)
  int along = 3;     // columns in which a detail of the object may move from view to view; 0: not asked
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

#include "project/median_networks-inl.h"

struct ExchangeFloats {
  LEPUS_HD void operator()(float& low, float& high) const {
    const float a = low, b = high;
    low = a < b ? a : b;
    high = a < b ? b : a;
  }
};

LEPUS_HD inline float row_median_at(const float* w, std::int64_t columns, std::int64_t x) {
  const float* v = w + first_neighbour(x, row_radius, columns);
  return median_of_5(v[0], v[1], v[2], v[3], v[4], ExchangeFloats());
}

// Whether a neighbouring view w has something up to `along` columns from x that stands out of its row by more than
// `least`.
LEPUS_HD inline bool detail_near(const ZingerRules& rules, const float* w, std::int64_t columns, std::int64_t x,
                                 std::int64_t along, float least) {
  const std::int64_t first = x > along ? x - along : 0, last = x + along < columns ? x + along : columns - 1;
  for (std::int64_t k = first; k <= last; ++k)
    if (rules.sign * (w[k] - row_median_at(w, columns, k)) > least) return true;
  return false;
}

// Whether w[x], which stands out of the same pixel's neighbouring views, also stands out of its row, and fewer than two
// of the four views around have the like near by: two zingers may be neighbours. near: the views at -2, -1, +1, +2,
// null where there is none.
LEPUS_HD inline bool alone_in_row(const ZingerRules& rules, const float* w, const float* const* near,
                                  std::int64_t columns, std::int64_t x, float threshold) {
  const float height = rules.sign * (w[x] - row_median_at(w, columns, x));
  if (!(height > threshold)) return false;
  if (rules.along == 0) return true;
  const float share = share_of_detail * height, half = 0.5F * threshold, least = share > half ? share : half;
  int views = 0;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t along = std::int64_t{i == 1 || i == 2 ? 1 : 2} * rules.along;
    if (near[i] && detail_near(rules, near[i], columns, x, along, least)) ++views;
  }
  return views < 2;
}

}  // namespace lepus::pixels
