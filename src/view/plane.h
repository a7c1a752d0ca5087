// SPDX-License-Identifier: Apache-2.0
// Values between the voxels, trilinear: any plane through a volume, a line from one place to another. Read piece by
// piece, so that a plane across a volume of any size takes little memory.
#pragma once

#include <cstdint>
#include <vector>

#include "view/opened_volume.h"
#include <lepus/math.h>

namespace lepus::view {

// Places origin + c right + r down, in voxels of the level (fractions; the centre of voxel 0 is at 0).
struct PlaneGrid {
  Vec3 origin, right, down;
  std::int64_t width = 1, height = 1;
};

// Rows of values; NaN outside the volume, which reaches half a voxel beyond its outermost centres.
std::vector<float> sample_plane(const PlaneGrid& plane, const Level& level, PartCache& cache);

// The same plane in voxels of a coarser level.
PlaneGrid in_level_of(const PlaneGrid& plane, std::int64_t factor);

}  // namespace lepus::view
