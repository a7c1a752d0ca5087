// SPDX-License-Identifier: Apache-2.0
// Local thickness: at every voxel of a phase the diameter of the largest ball that lies in the phase and holds the
// voxel (Hildebrand, Rueegsegger 1997); beyond the volume there is none. A ball around a voxel reaches up to the centre
// of the nearest voxel outside, and holds the voxels that are nearer. Exact: balls that lie in a neighbour's are left
// out, all others are drawn.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/morphology.h"
#include "io/volume_file.h"

namespace lepus::analysis {

struct ThicknessResult {
  double mean_mm = 0, spread_mm = 0, largest_mm = 0;
  std::int64_t balls = 0;
  // Voxels by thickness: bin i from i width to (i + 1) width.
  double bin_mm = 0;
  std::vector<std::int64_t> voxels;
};

// Of the ones in `bits`; bins are one voxel wide. `map` may be null; else it gets the thickness in mm, zero outside.
// Throws Error(input) where the volume is one voxel, of the phase.
ThicknessResult local_thickness(const BitVolume& bits, const VoxelShape& shape, VolumeWriter* map, WorkMemory& memory,
                                Context& context);

}  // namespace lepus::analysis
