// SPDX-License-Identifier: Apache-2.0
// The cases of each operation, for the table in operations.cpp.
#pragma once

#include "harness.h"
#include <lepus/operator.h>
#include <lepus/options.h>

namespace lepus::parity {

inline constexpr Difference row_limit{3.3e-7, 2e-6};  // of filtered rows; operations.cpp says why

bool timing();  // larger cases are asked for, to be timed

// The input as it is, or with one value that is off.
inline std::vector<float> input_of(std::vector<float> values, const Way& way) {
  if (way.wrong) values[values.size() / 3] += 0.01F;
  return values;
}

// All sinograms at once, or one after the other; act is given some of them and the number of the first.
template <class Act>
void in_pieces(const Planes& all, const Way& way, const Act& act) {
  if (way.cut == 0) return act(all, 0);
  for (std::int64_t i = 0; i < all.count; ++i) {
    Planes one = all;
    one.data += i * all.plane_stride;
    one.count = 1;
    act(one, i);
  }
}

std::vector<Case> backprojection_cases(Interpolation interpolation, Precision precision);
std::vector<Case> projection_cases(Precision precision);         // Joseph's rays
std::vector<Case> model_cases(RayModel model, bool transposed);  // A or A', fp32 weights
std::vector<Case> row_filter_cases();
std::vector<Case> resampling_cases();
// Of BandKernels, in the order of BandOperation; the logarithm goes with the stages.
std::vector<Case> stage_cases();
std::vector<Case> hot_pixel_cases();
std::vector<Case> zinger_cases();
std::vector<Case> bridge_cases();
std::vector<Case> filter_cases();
std::vector<Case> transpose_cases();
std::vector<Case> ring_cases(RingMethod method);
std::vector<Case> scale_cases();
std::vector<Case> lag_cases();
std::vector<Case> hardening_cases();
std::vector<Case> flat_cases();
std::vector<Case> phase_cases();

}  // namespace lepus::parity
