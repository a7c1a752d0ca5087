// SPDX-License-Identifier: Apache-2.0
// How well the axis is known. Two spreads add up: that of the bands about the common line, and that of the directions
// in which lines were compared, by leaving out one after another (the jackknife, Efron 1979). Noise is in both, and so
// is what the method does not know of the object.
#pragma once

#include <cstdint>
#include <vector>

#include "align/center_score.h"

namespace lepus {

struct AxisPlace {
  double column = 0, angle_rad = 0;  // where it crosses the middle row; AxisLine::angle_rad
};

struct AxisErrors {
  double column = 0, angle_rad = 0;  // one standard deviation; 0: unknown, there was nothing to leave out
};

// Of the directions, where the score tells them. angle_step_rad: a turn that moves the bands by about a column; 0: the
// angle was not looked for. The place is the top of the score.
AxisErrors spread_of_directions(CenterScore& score, std::int64_t bands, AxisPlace place, double angle_step_rad,
                                Context& context);

// Of the bands: their distances from the line, in columns, at rows counted from the middle one.
struct BandDistance {
  double row = 0, columns = 0;
};
AxisErrors spread_of_bands(std::vector<BandDistance> bands, bool tilted, double aspect);

}  // namespace lepus
