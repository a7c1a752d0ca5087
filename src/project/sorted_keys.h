// SPDX-License-Identifier: Apache-2.0
// Steps of the sorting-based methods that host and device share: a value and its view as one integer in the order of
// the values (equal ones in the order of the views), and what is compared and replaced per column.
#pragma once

#include <cstdint>

#include "project/filter_window.h"
#include "project/host_device.h"

namespace lepus::rings {

LEPUS_HD inline std::uint64_t sort_key(std::uint32_t float_bits, std::uint32_t view) {
  return static_cast<std::uint64_t>(filters::ordered_bits(float_bits)) << 32 | view;
}
LEPUS_HD inline std::uint32_t value_bits(std::uint64_t key) {
  return filters::float_bits_of(static_cast<std::uint32_t>(key >> 32));
}
LEPUS_HD inline std::uint32_t view_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

// How much three views in a row bend: noise, and not the object's slow change. 2 b is exact, so that it does not matter
// whether the compiler fuses it.
LEPUS_HD inline float bend(float a, float b, float c) {
  const float d = (a - 2 * b) + c;
  return d < 0 ? -d : d;
}

// A list that decides holds numbers only: what is not one says nothing.
LEPUS_HD inline double finite_or_zero(double value) { return value - value == 0 ? value : 0; }

// How far a column's sorted values lie from the smooth ones, on average.
LEPUS_HD inline double stripe_offset(double sum, double smooth_sum, std::int64_t ranks, bool relative) {
  if (relative) return sum > 0 && smooth_sum > 0 ? finite_or_zero(sum / smooth_sum - 1) : 0;
  return finite_or_zero((sum - smooth_sum) / static_cast<double>(ranks));
}

// Marked pixel x of a row from the nearest good ones, left (-1: none) and right (n: none), on a straight line; from one
// side at an edge; as it is where there is no good one.
LEPUS_HD inline float bridged(const float* row, std::int64_t left, std::int64_t x, std::int64_t right, std::int64_t n) {
  if (left < 0) return right < n ? row[right] : row[x];
  if (right >= n) return row[left];
  const float share = static_cast<float>(x - left) / static_cast<float>(right - left);
  return row[left] + share * (row[right] - row[left]);
}

}  // namespace lepus::rings
