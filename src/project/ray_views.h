// SPDX-License-Identifier: Apache-2.0
// A scan's rays in the voxel indices of a grid: what the ray models of joseph.h, siddon.h and footprint.h start from.
#pragma once

#include <vector>

#include "project/joseph.h"
#include <lepus/geometry.h>

namespace lepus {

// Throws Error(usage) for an axis without voxels or with more than 2^20.
JosephGrid joseph_grid(const VolumeGrid& grid);
// One per view. A view is upright where
// - its detector columns are parallel to z, so that u and w are the same for a whole voxel column,
// - all of the grid lies in front of its source,
// - no ray rises by more than a row, or a slice, while it passes a layer of voxels: rows then meet a voxel column in
//   pieces side by side.
// Throws Error(geometry) for a matrix that cannot be used.
std::vector<JosephView> joseph_views(const ScanGeometry& geometry, const VolumeGrid& grid);

// Of an upright view: the smallest, over columns [first, last], of what its rays change by on their main axis.
double slowest_direction(const JosephView& view, double first, double last);

}  // namespace lepus
