// SPDX-License-Identifier: Apache-2.0
// Between volumes as they are kept, [z][y][x], and as the host's kernels want them, z fastest.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lepus::host {

struct ZFastest {
  std::int64_t nx = 0, ny = 0, slices = 0;
  std::int64_t stride = 0;  // floats per voxel column

  // each(place in [z][y][x], place with z fastest from voxel column (x0, y0) on) for voxel columns [x0, x1) x [y0, y1):
  // blocks of slices, so that cache lines of both sides are used whole.
  template <class Each>
  void each_voxel(std::int64_t x0, std::int64_t x1, std::int64_t y0, std::int64_t y1, const Each& each) const {
    constexpr std::int64_t block = 16;
    for (std::int64_t y = y0; y < y1; ++y)
      for (std::int64_t z0 = 0; z0 < slices; z0 += block)
        for (std::int64_t x = x0; x < x1; ++x)
          for (std::int64_t z = z0; z < std::min(z0 + block, slices); ++z)
            each((z * ny + y) * nx + x, ((y - y0) * (x1 - x0) + x - x0) * stride + z);
  }
};

}  // namespace lepus::host
