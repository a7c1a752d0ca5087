// SPDX-License-Identifier: Apache-2.0
// A scan's rays in the voxel indices of a grid: what the ray models of joseph.h, siddon.h and footprint.h start from.
#pragma once

#include <vector>

#include "project/joseph.h"
#include <lepus/geometry.h>

namespace lepus {

// Throws Error(usage) for an axis without voxels or with more than 2^20.
JosephGrid joseph_grid(const VolumeGrid& grid);
// One per view. Throws Error(geometry) for a matrix that cannot be used.
std::vector<JosephView> joseph_views(const ScanGeometry& geometry, const VolumeGrid& grid);

}  // namespace lepus
