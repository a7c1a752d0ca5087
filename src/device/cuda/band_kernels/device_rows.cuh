// SPDX-License-Identifier: Apache-2.0
// What the filters' kernels share: which row a block works on, a pixel under the mask.
#pragma once

#include <cstdint>

#include "device/cuda/band_kernels/device_passes.h"

namespace lepus::filters {

struct Place {
  std::int64_t plane, y;
};

// The index-th row that comes out of a pass.
__device__ inline Place row_place(const Pass& pass, std::int64_t index) {
  const std::int64_t rows = pass.rows.last - pass.rows.first;
  return {pass.planes.first + index / rows, pass.rows.first + index % rows};
}

// The row that the mask finds, nullptr where there is none.
__device__ inline const float* found_row(const Pass& pass, const Stack& from, std::int64_t plane, std::int64_t y) {
  const std::int64_t at_plane = border_index(pass.border, plane, from.planes);
  const std::int64_t at_y = border_index(pass.border, y, from.rows);
  return at_plane < 0 || at_y < 0 ? nullptr : from.row(at_plane, at_y);
}

__device__ inline bool column_is_kept(const Pass& pass, std::int64_t x, std::int64_t width) {
  return !full_mask(x, width, pass.kept_u);
}

}  // namespace lepus::filters
