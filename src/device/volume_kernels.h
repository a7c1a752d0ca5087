// SPDX-License-Identifier: Apache-2.0
// What an analysis does with volumes of bits in a device's memory: morphology by balls, and exact distances.
#pragma once

#include <cstdint>
#include <limits>

#include "project/host_device.h"

namespace lepus {

class Queue;

// One bit a voxel in words of 32, the first voxel in the lowest bit, bits behind the last voxel of a row zero; rows are
// row_words apart, slices follow each other.
struct BitShape {
  std::int64_t nx = 0, ny = 0, nz = 0, row_words = 0;
  LEPUS_HD std::int64_t words() const { return row_words * ny * nz; }
  LEPUS_HD std::int64_t voxels() const { return nx * ny * nz; }
};

inline constexpr std::int32_t no_distance = std::numeric_limits<std::int32_t>::max() / 4;

class VolumeKernels {
public:
  virtual ~VolumeKernels() = default;

  // Ones within `radius` voxels (at most largest_ball_radius, project/ball_rows.h) of a one, or with no zero within it.
  // Voxels outside are neither.
  virtual void dilate(const std::uint32_t* bits, std::uint32_t* out, const BitShape& shape, double radius,
                      Queue& queue) = 0;
  virtual void erode(const std::uint32_t* bits, std::uint32_t* out, const BitShape& shape, double radius,
                     Queue& queue) = 0;
  // Of every one to the nearest zero, squared, in voxels; no_distance where there is none; 0 of zeros. Exact.
  virtual void squared_distances(const std::uint32_t* bits, std::int32_t* out, const BitShape& shape, Queue& queue) = 0;
};

}  // namespace lepus
