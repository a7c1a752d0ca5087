// SPDX-License-Identifier: Apache-2.0
// Numbers by which versions of one slice are compared without knowing the truth: noise where the object is flattest,
// and gradient energy, which grows with sharpness (and with noise: look at both).
#pragma once

#include <cstdint>

#include "analysis/slices.h"

namespace lepus::post {

// Pixels [x, x + side) x [y, y + side) of a slice, the top row first.
struct FlatRegion {
  std::int64_t x = 0, y = 0, side = 0;
};

// The square of about a sixteenth of the slice's width, inside the largest circle, that differs least from a plane;
// within the object where there is one: the mean of the square lies nearer to the slice's high than to its low values.
FlatRegion flattest_region(const Slice& slice);

// Standard deviation from the best plane, in the slice's unit.
double noise_in(const Slice& slice, const FlatRegion& region);

// Mean over the largest circle of the squared gradient (central differences), squared unit per mm^2.
double gradient_energy(const Slice& slice);

}  // namespace lepus::post
