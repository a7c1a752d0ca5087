// SPDX-License-Identifier: Apache-2.0
// A linear map whose line integrals are shared out over ranks: each has the whole volume and the line integrals of its
// part of the detector. A needs nothing of the others; what A' makes of each part is summed over the ranks.
#pragma once

#include <memory>

#include "operators/linear_map.h"
#include <lepus/ranks.h>

namespace lepus {

// By all ranks. part: this rank's line integrals, of a volume that has the whole one's slices from `first_slice` on: no
// others are met by its rays. `ranks` outlives it.
std::unique_ptr<LinearMap> make_rank_map(Ranks& ranks, std::unique_ptr<LinearMap> part, const VolumeShape& whole,
                                         std::int64_t first_slice);

}  // namespace lepus
