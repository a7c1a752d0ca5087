// SPDX-License-Identifier: Apache-2.0
// From the parameters of "hot-pixels" to the rules its loops follow: noise weights, gains, thresholds.
#pragma once

#include <cstdint>

#include "correct/pixels/hot_rules.h"

namespace lepus::pixels {

struct HotParameters {
  bool classic = false;
  int window = 6, gap = 5;  // of the shifted window
  double tolerance = 4;
  int deviations = 3;
  bool normalise = true, below = false;
  double share_of_views = 0.3;  // of the shifted window, normalised
  bool bridge = true;  // hot pixels are replaced by the line between their nearest good neighbours, not by the windows
};

// The usual ones for rows of so many pixels. In narrow rows the object's details are as narrow as a run of hot pixels,
// and would be taken for one by windows of the usual size.
HotParameters usual_hot_parameters(std::int64_t columns);

HotRules hot_rules(const HotParameters& parameters, std::int64_t views);

// Standard deviation of n where every pixel has independent noise of 1.
double one_sided_gain(const NoiseWeights& weights);
double two_sided_gain(const NoiseWeights& weights);

}  // namespace lepus::pixels
