// SPDX-License-Identifier: Apache-2.0
// What every kernel of the host asks of a wedge and a slab before it starts: that they are cut where the contract
// allows.
#pragma once

#include "device/host/backprojector.h"

namespace lepus {

// Throws Error(internal) where a cut would change the result or a buffer is too small to be right. Slabs begin at
// multiples of `cuts` slices.
void check_wedge(const Backprojector& backprojector, const VolumeGrid& grid, const BandSet& wedge, const SlabView& slab,
                 std::int64_t cuts = 1);

}  // namespace lepus
