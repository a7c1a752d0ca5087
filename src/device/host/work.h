// SPDX-License-Identifier: Apache-2.0
// What the host's kernels sum of a volume, and how the height of a slab changes what that costs: for the kernels
// themselves, and for plans of their time.
#pragma once

#include <cstdint>
#include <vector>

#include "device/host/orbit.h"
#include "device/projector.h"

namespace lepus::cpu {

// The first voxel columns of those tiles of [0, columns.x) x [0, columns.y) that reach into a cylinder around the z
// axis. Columns that stand for others, turned about the axis, are as far from it as those.
std::vector<ColumnIndex> tiles_in_cylinder(const VolumeGrid& grid, ColumnIndex columns, double cylinder_mm);

// Voxel columns that are summed: all of every such tile.
std::int64_t summed_columns(const VolumeGrid& grid, double cylinder_mm);

// As many slices of a tall slab take the time of this one.
double tall_slices(SlabRange slab);

}  // namespace lepus::cpu
