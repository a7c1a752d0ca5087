// SPDX-License-Identifier: Apache-2.0
// From the options of "hot-pixels" to the rules its loops follow: noise weights, gains, thresholds.
#pragma once

#include <cstdint>

#include "project/hot_rules.h"
#include "correct/pixels/pixels.h"

namespace lepus::pixels {

// The usual windows for rows of so many pixels. In narrow rows the object's details are as narrow as a run of hot
// pixels, and would be taken for one by windows of the usual size.
struct HotWindows {
  int window = 6, gap = 5;
};
HotWindows usual_hot_windows(std::int64_t columns);

// Windows that are not given are those of wide rows.
HotRules hot_rules(const HotPixelOptions& options, std::int64_t views);

// Standard deviation of n where every pixel has independent noise of 1.
double one_sided_gain(const NoiseWeights& weights);
double two_sided_gain(const NoiseWeights& weights);

}  // namespace lepus::pixels
