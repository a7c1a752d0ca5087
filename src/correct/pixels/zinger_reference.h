// SPDX-License-Identifier: Apache-2.0
// Zingers in double precision with medians by sorting: the definition that the fast versions are held against.
#pragma once

#include <cstdint>

#include "project/zinger_rules.h"
#include "project/planes.h"

namespace lepus::pixels {

// One sinogram (plane) of views x columns, in place; needs views > 2 radius and columns > 2 row_radius. Returns how
// many values were replaced.
std::int64_t reference_zingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t plane);

}  // namespace lepus::pixels
