// SPDX-License-Identifier: Apache-2.0
// The pass that costs time: the three deviations of every column of a sinogram over all its views, with SIMD along the
// row. Sums in blocks of views_per_sum views, without fused operations: the same bits on every target and device.
#pragma once

#include <cstdint>
#include <vector>

#include "project/hot_rules.h"
#include "project/planes.h"

namespace lepus::pixels {

// Of one row of the detector, used again for the next.
struct HotScratch {
  std::vector<float> block[3];  // sums of squares over a block of views: left, middle, right
  std::vector<double> total[3];
  std::vector<float> deviation[3];
  std::vector<unsigned char> hot, ever;
  void resize(std::int64_t columns);
  Deviations deviations() const { return {deviation[0].data(), deviation[1].data(), deviation[2].data()}; }
  static std::int64_t bytes(std::int64_t columns) { return columns * (3 * (4 + 8 + 4) + 2); }
};

// Fills scratch.deviation for columns [first, last) of a sinogram.
void hot_statistics(const HotRules& rules, const Planes& sinograms, std::int64_t plane, std::int64_t first,
                    std::int64_t last, HotScratch& scratch);

}  // namespace lepus::pixels
