// SPDX-License-Identifier: Apache-2.0
// What the kernels of the median share: the pixels under a mask as integers of the same order, and which of them is the
// median.
#pragma once

#include "device/cuda/band_kernels/device_rows.cuh"

namespace lepus::filters {

__device__ inline std::int64_t part_inside(std::int64_t i, std::int64_t n, std::int64_t reach) {
  const std::int64_t first = i - reach > 0 ? i - reach : 0, last = i + reach < n - 1 ? i + reach : n - 1;
  return last - first + 1;
}

// Rank of the median among the pixels under the mask.
__device__ inline std::int64_t median_rank(const Pass& pass, const Stack& from, Place place, std::int64_t x) {
  const bool partial = pass.border == FilterBorder::partial;
  const auto pixels = [&](std::int64_t i, std::int64_t n, std::int64_t reach) {
    return partial ? part_inside(i, n, reach) : 2 * reach + 1;
  };
  return (pixels(x, from.part.width, pass.reach_u) * pixels(place.y, from.rows, pass.reach_v) *
              pixels(place.plane, from.planes, pass.reach_z) -
          1) /
         2;
}

// The value that the mask finds, as an integer of the same order.
__device__ inline std::uint32_t key_at(const Pass& pass, const Stack& from, const float* row, std::int64_t x) {
  const std::int64_t at = row ? border_index(pass.border, x, from.part.width) : -1;
  if (at < 0 && pass.border == FilterBorder::partial) return absent;
  return ordered_bits(__float_as_uint(at < 0 ? 0.0f : row[at]));
}

// Of pictures; false where no tile with its masks fits into a block of this device.
bool median_by_tiles(const DeviceJob& job, cudaStream_t stream);

}  // namespace lepus::filters
