// SPDX-License-Identifier: Apache-2.0
// The shapes a sweep tries: how lanes cover voxels, the size of a block, voxels per thread along z and y.
#pragma once

#include "device/cuda/backproject_tile.cuh"
#include "cuda_kernels.h"

namespace lepus::bench {

template <cuda::Lanes lanes, int warps_x, int warps_y, int min_blocks, int K, int C>
std::string shape_name() {
  using T = cuda::Tile<lanes, warps_x, warps_y, min_blocks>;
  const char* const names[] = {"row", "along_x", "along_y", "quad", "tall"};
  return std::string(names[static_cast<int>(lanes)]) + " " + std::to_string(T::nx) + "x" + std::to_string(T::ny) +
         " K" + std::to_string(K) + " C" + std::to_string(C) + " B" + std::to_string(min_blocks);
}

}  // namespace lepus::bench

// LEPUS_SHAPE(launcher, lanes, warps_x, warps_y, min_blocks, K, C)
#define LEPUS_SHAPE(launcher, lanes, wx, wy, blocks, k, c)                                      \
  {                                                                                             \
    ::lepus::bench::shape_name<::lepus::cuda::Lanes::lanes, wx, wy, blocks, k, c>(),            \
        launcher<k, c, ::lepus::cuda::Tile<::lepus::cuda::Lanes::lanes, wx, wy, blocks>, false> \
  }
