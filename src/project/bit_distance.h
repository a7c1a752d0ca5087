// SPDX-License-Identifier: Apache-2.0
// Squared distances to the nearest zero, axis after axis: along a row of bits, then the least of f(j) + (i - j)^2 along
// columns, looked for outwards from i until no further one can be less. Exact; short where distances are.
#pragma once

#include <cstdint>

#include "project/host_device.h"

namespace lepus {

// Of voxel x of a row of bits; `none` where the row has no zero. Bits behind nx count for nothing.
LEPUS_HD inline std::int32_t distance_in_row(const std::uint32_t* row, std::int64_t nx, std::int64_t x,
                                             std::int32_t none) {
  if ((row[x / 32] >> (x % 32) & 1) == 0) return 0;
  const auto zero = [&](std::int64_t i) { return i >= 0 && i < nx && (row[i / 32] >> (i % 32) & 1) == 0; };
  for (std::int64_t d = 1; x - d >= 0 || x + d < nx; ++d)
    if (zero(x - d) || zero(x + d)) return static_cast<std::int32_t>(d * d);
  return none;
}

// f: values `stride` apart, n of them.
LEPUS_HD inline std::int32_t minimum_in_column(const std::int32_t* f, std::int64_t n, std::int64_t stride,
                                               std::int64_t i) {
  std::int32_t best = f[i * stride];
  for (std::int64_t d = 1; d * d < best && (i - d >= 0 || i + d < n); ++d) {
    const auto square = static_cast<std::int32_t>(d * d);
    if (i - d >= 0 && f[(i - d) * stride] + square < best) best = f[(i - d) * stride] + square;
    if (i + d < n && f[(i + d) * stride] + square < best) best = f[(i + d) * stride] + square;
  }
  return best;
}

}  // namespace lepus
