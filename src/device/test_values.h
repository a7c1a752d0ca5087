// SPDX-License-Identifier: Apache-2.0
// For tests: values that are the same on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace lepus {

// Between -1 and 1, none of them zero, zero on average: what is wrong does not hide behind a mean.
inline std::vector<float> random_values(std::int64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = static_cast<float>(random() % 2000) / 1000.0F - 0.9995F;
  return values;
}

}  // namespace lepus
