// SPDX-License-Identifier: Apache-2.0
// Which method can work on a scan, and whether what it found can be trusted: a search always has a result.
#pragma once

#include <string>

#include "align/center_score.h"

namespace lepus {

struct ScanReach {
  double seen_twice = 0;                 // share of the rays that were measured from both ends
  double covered_deg = 0, step_deg = 0;  // by the views
  double half_turn_deg = 180;            // and the fan
  bool truncated = false;                // the object reaches past the detector's sides
};

ScanReach scan_reach(const CenterInput& input);

// automatic: none can.
CenterMethod method_for(const ScanReach& reach);
std::string too_little(const ScanReach& reach);  // why none can, and what then

// Adds warnings to the result, and says where it is not known. `found`: the score's parts there; at_the_end: of the
// columns that were tried; best: of the curve.
void say_doubts(const ScanReach& reach, const ScoreParts& found, bool at_the_end, const ScorePoint& best,
                CenterResult& result);

}  // namespace lepus
