// SPDX-License-Identifier: Apache-2.0
// Parts of a volume, also every n-th voxel of them, without reading the slices they lie in whole where the format
// allows it: a row of each slice for a slice across y, a voxel of each row for one across x.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "io/volume_file.h"

namespace lepus {

// Voxels first, first + step, ... below end, along x, y and z.
struct VolumePart {
  std::array<std::int64_t, 3> first{}, end{}, step{1, 1, 1};

  std::int64_t along(std::size_t axis) const { return (end[axis] - first[axis] + step[axis] - 1) / step[axis]; }
  // How many of its voxels along an axis lie before that one of the volume.
  std::int64_t steps_before(std::size_t axis, std::int64_t voxel) const {
    const std::int64_t distance = voxel - first[axis];
    return distance <= 0 ? 0 : std::min(along(axis), (distance + step[axis] - 1) / step[axis]);
  }
  std::int64_t voxels() const { return along(0) * along(1) * along(2); }
};

// What a VolumeReader may be, too.
class PartReader {
public:
  virtual ~PartReader() = default;
  // Voxels along x, y and z that are read together: a chunk, a slice; 1, 1, 1 where any can be had alone.
  virtual std::array<std::int64_t, 3> brick() const = 0;
  virtual void read_part(const VolumePart& part, float* out) const = 0;
};

std::array<std::int64_t, 3> brick_of(const VolumeReader& volume);

// x fastest. Error(internal) where the part reaches out of the volume.
void read_part(const VolumeReader& volume, const VolumePart& part, float* out);

}  // namespace lepus
