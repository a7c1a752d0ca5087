// SPDX-License-Identifier: Apache-2.0
// Does the scan turn the way its file says? Every line through the object is seen from both ends; with the right
// geometry both measurements agree. With frames mirrored left to right, or angles that run backwards, they do not.
// The rays of one detector row -> two scores and a verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "filter/opposite_rays.h"

namespace lepus {

enum class Turning {
  as_given,
  backwards,  // the angles run the other way
  mirrored,   // the columns run the other way (a centred detector cannot tell this from backwards)
  undecided   // too few lines seen twice, an object too symmetric, too much noise, or a parallel beam
};

struct Consistency {
  double as_given = 0;      // mean squared difference of both measurements over their variance: 0 agree, 1 unrelated
  double other_way = 0;     // the same for the better of the two alternatives
  std::int64_t lines = 0;   // that were compared, as given
  double significance = 0;  // of the difference, in standard errors; positive: as given is better
  Turning verdict = Turning::undecided;
  std::string message;  // a sentence for the user: a warning where the verdict is backwards or mirrored
};

// The row whose rays are nearest to the plane of the orbit, where opposite rays coincide.
std::int64_t consistency_row(const ScanGeometry& geometry);

Consistency check_turning(const OppositeRays& rays);

// Does anything else in the geometry not fit? Where rays measured from both ends differ by more than noise, the axis is
// moved, the frames are mirrored and turned, and other rows are tried. `other_row` brings a row's sinogram; it is asked
// only then. rays: of row `row`. axis_was_sought: no advice to look for it. "": nothing is wrong, or nothing can be
// said; else a warning that names what would fit.
std::string what_does_not_fit(const ScanGeometry& geometry, std::int64_t row, const OppositeRays& rays,
                              const std::function<std::vector<float>(std::int64_t)>& other_row,
                              bool axis_was_sought = false);

}  // namespace lepus
