// SPDX-License-Identifier: Apache-2.0
#include "io/volume_part.h"

#include <vector>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void check_part(const VolumePart& part, const VolumeGrid& grid) {
  const std::array<std::int64_t, 3> size{grid.nx, grid.ny, grid.nz};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (part.first[axis] < 0 || part.end[axis] > size[axis] || part.first[axis] >= part.end[axis] ||
        part.step[axis] < 1)
      throw Error(ErrorKind::internal, {.what = "a part outside the volume",
                                        .where = {},
                                        .why = format("[{}, {}) by {} of {} voxels along axis {}", part.first[axis],
                                                      part.end[axis], part.step[axis], size[axis], axis),
                                        .hint = "report this"});
}

}  // namespace

std::array<std::int64_t, 3> brick_of(const VolumeReader& volume) {
  if (const auto* parts = dynamic_cast<const PartReader*>(&volume)) return parts->brick();
  return {volume.grid().nx, volume.grid().ny, 1};
}

void read_part(const VolumeReader& volume, const VolumePart& part, float* out) {
  const VolumeGrid& grid = volume.grid();
  check_part(part, grid);
  if (const auto* parts = dynamic_cast<const PartReader*>(&volume)) return parts->read_part(part, out);
  std::vector<float> slice(static_cast<std::size_t>(grid.nx * grid.ny));
  for (std::int64_t z = part.first[2]; z < part.end[2]; z += part.step[2]) {
    volume.read(z, z + 1, slice.data());
    for (std::int64_t y = part.first[1]; y < part.end[1]; y += part.step[1])
      for (std::int64_t x = part.first[0]; x < part.end[0]; x += part.step[0])
        *out++ = slice[static_cast<std::size_t>(y * grid.nx + x)];
  }
}

}  // namespace lepus
