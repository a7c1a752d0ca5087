// SPDX-License-Identifier: Apache-2.0
// The pixels that a box of voxels is seen in: a small calculation with its corners, before any large one.
#pragma once

#include <cstdint>

#include <lepus/geometry.h>

namespace lepus {

// Pixels [u0, u1) x [v0, v1), on the detector.
struct PixelWindow {
  std::int64_t u0 = 0, u1 = 0, v0 = 0, v1 = 0;
  bool empty() const { return u0 >= u1 || v0 >= v1; }
};

// Voxels [x0, x1) x [y0, y1) x [z0, z1) of a grid.
struct VoxelRanges {
  std::int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0, z0 = 0, z1 = 0;
};

// The pixels of a view whose ray or area counts for a voxel of the box in any ray model: those within one voxel around
// the box, seen from the source, and one pixel more. A box that reaches behind the source may be seen anywhere.
// matrix: of the view, in voxel indices (in_voxel_indices); columns x rows: the detector.
PixelWindow seen_pixels(const Matrix34& matrix, Beam beam, std::int64_t columns, std::int64_t rows,
                        const VoxelRanges& box);

}  // namespace lepus
