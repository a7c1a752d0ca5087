// SPDX-License-Identifier: Apache-2.0
// Does the object reach past the detector's sides? Line integrals of one detector row, views x columns, and the
// geometry
// -> how far from air the outermost columns are, as the ramp filter meets them: times their redundancy. So the side
// that a half-fan scan's weight fades out, where every object reaches past the detector, does not count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <lepus/geometry.h>

namespace lepus {

// Mean of the three outermost columns over the largest (99 % of the row's values are below), weighted.
struct Truncation {
  double first = 0, last = 0;  // at column 0, and at the other side
  bool seen() const;
  // The filter.extrapolate that continues a round object to its end: too little leaves the rim too bright, too much
  // makes it too dark.
  double extrapolate() const;
  // "" where nothing is cut off. remedy: the key that lessens it; "": filter.extrapolate.
  std::string message(std::string_view remedy = "") const;
};

Truncation truncation(const ScanGeometry& geometry, std::int64_t row, const float* sinogram);

}  // namespace lepus
