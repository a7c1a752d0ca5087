// SPDX-License-Identifier: Apache-2.0
#include "core/half_float.h"

#include <cmath>

namespace lepus {

std::int64_t halves_from_floats(const float* values, std::int64_t count, std::uint16_t* halves) {
  std::int64_t beyond = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool too_large = std::abs(values[i]) > largest_half;
    halves[i] = half_from_float(too_large ? std::copysign(largest_half, values[i]) : values[i]);
    beyond += too_large;
  }
  return beyond;
}

}  // namespace lepus
