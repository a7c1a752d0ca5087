// SPDX-License-Identifier: Apache-2.0
// Hot pixels in double precision, one column after another: the definition that the fast versions are held against.
#pragma once

#include <cstdint>
#include <vector>

#include "project/hot_rules.h"
#include "project/planes.h"

namespace lepus::pixels {

struct ReferenceDeviations {
  std::vector<double> left, middle, right;  // one per column; 0 where its windows leave the row
};
// Of one sinogram (plane) of views x columns.
ReferenceDeviations reference_deviations(const HotRules& rules, const Planes& sinograms, std::int64_t plane);

// Detects and replaces in place; returns which columns were replaced at least once.
std::vector<unsigned char> reference_hot_pixels(const HotRules& rules, int iterations, const Planes& sinograms,
                                                std::int64_t plane);

}  // namespace lepus::pixels
