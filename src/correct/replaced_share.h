// SPDX-License-Identifier: Apache-2.0
// How many pixels a correction may replace before something else must be wrong: the one rule for all that replace some.
// A panel has a few bad pixels in a thousand, a bad one perhaps one in a hundred: from there on it is said. The gaps
// between the modules of a tiled detector are the most that is missing of a good one (5 x 12 modules of 487 x 195
// pixels in 2463 x 2527: 8.5 %): beyond a tenth it is refused, unless the options allow it (`maximum_share`).
#pragma once

#include <cstdint>
#include <string>

namespace lepus {

inline constexpr double usual_share = 0.01, usual_maximum_share = 0.1;

struct ReplacedPixels {
  std::int64_t pixels = 0, of = 0;
};

double share_of(const ReplacedPixels& replaced);  // 0 where there are none to replace

struct ReplacementRule {
  const char* correction = "";  // its kind
  double maximum_share = usual_maximum_share;
  bool found = true;  // by the correction; where it was told of them, more than a hundredth is nothing to wonder at
  std::string what_to_do = {};  // where there are too many
};

// "" where the share is usual, else a warning; throws Error(usage) where it is more than the rule allows. what:
// "pixels", "values".
std::string judge_replaced(const ReplacementRule& rule, const ReplacedPixels& replaced, const std::string& what);

}  // namespace lepus
