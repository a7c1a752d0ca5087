// SPDX-License-Identifier: Apache-2.0
// What filtered values are multiplied with before they become fp16: a power of 4 (its root is exact too) that brings
// the largest of them between 2^10 and 2^12. Overflow is at 2^16, and values keep their 11 bits down to 2^-14.
#pragma once

#include <algorithm>
#include <cmath>

namespace lepus {

inline float half_scale(float largest_value) {
  if (!(largest_value > 0.0f) || !std::isfinite(largest_value)) return 1.0f;
  const int exponent = std::clamp(12 - static_cast<int>(std::ceil(std::log2(largest_value))), -60, 60);
  return std::ldexp(1.0f, exponent >= 0 ? exponent / 2 * 2 : -((1 - exponent) / 2 * 2));
}

}  // namespace lepus
