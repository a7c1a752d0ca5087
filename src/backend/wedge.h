// SPDX-License-Identifier: Apache-2.0
// What every backend asks of a wedge and a slab before it starts: that they are cut where the contract allows.
#pragma once

#include "backend/backend.h"

namespace lepus {

// Throws Error(internal) where a cut would change the result or a buffer is too small to be right.
void check_wedge(const Backprojector& backprojector, const VolumeGrid& grid, const BandSet& wedge,
                 const SlabView& slab);

}  // namespace lepus
