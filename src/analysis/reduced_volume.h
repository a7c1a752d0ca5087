// SPDX-License-Identifier: Apache-2.0
// Coarser versions of a volume in memory: means over cubes of voxels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/context.h"
#include "io/volume_file.h"

namespace lepus::analysis {

struct ReducedVolume {
  VolumeGrid grid;
  std::vector<float> values;  // NaN where no voxel was finite

  float at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return values[static_cast<std::size_t>((z * grid.ny + y) * grid.nx + x)];
  }
};

// Of cubes of `factor` voxels, read slice by slice; the last ones may be cut off.
ReducedVolume reduce(const VolumeReader& volume, std::int64_t factor, Context& context);
ReducedVolume halve(const ReducedVolume& volume);
// 1 2 1 along each axis: what lies between voxels can then be interpolated.
ReducedVolume smooth(const ReducedVolume& volume, Context& context);

}  // namespace lepus::analysis
