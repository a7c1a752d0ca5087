// SPDX-License-Identifier: Apache-2.0
// Bad pixels bridged: along the row between the nearest good pixels, and, where a whole row is bad, between the nearest
// good rows. Written once for host and device.
#pragma once

#include <cstdint>

#include "project/host_device.h"

namespace lepus::pixels {

// The value after `step` of `steps` steps from left to right.
LEPUS_HD inline float on_the_line(float left, float right, std::int64_t step, std::int64_t steps) {
  return left + (right - left) * static_cast<float>(step) / static_cast<float>(steps);
}

struct PixelRun {
  std::int64_t row = 0, begin = 0, end = 0;  // columns [begin, end), not the whole row
};

struct RowLine {
  std::int64_t row = 0, above = 0, below = 0;  // nearest good rows; -1 where there is none on that side
};

// Pixel x of a run: on the line between its neighbours; at the end of the row, the only good neighbour.
LEPUS_HD inline float bridged(const float* w, const PixelRun& run, std::int64_t columns, std::int64_t x) {
  const float left = run.begin > 0 ? w[run.begin - 1] : w[run.end];
  const float right = run.end < columns ? w[run.end] : w[run.begin - 1];
  return on_the_line(left, right, x - run.begin + 1, run.end - run.begin + 1);
}

LEPUS_HD inline float between_rows(float above, float below, const RowLine& line) {
  return on_the_line(above, below, line.row - line.above, line.below - line.above);
}

}  // namespace lepus::pixels
