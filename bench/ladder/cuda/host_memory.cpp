// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder/cuda/host_memory.h"

#include <algorithm>

namespace lepus::ladder {

float* HostMemory::ordinary_volume() {
  if (ordinary_.size() == 0) {
    ordinary_ = Buffer<float>(voxels_);
    constexpr std::int64_t piece = 1 << 20;
    threads_.parallel_for(0, voxels_, piece, [&](std::int64_t first, std::int64_t last, int) {
      std::fill(ordinary_.data() + first, ordinary_.data() + last, 0.0F);
    });
  }
  return ordinary_.data();
}

float* HostMemory::locked_volume() {
  if (locked_.size() == 0) locked_ = cuda::PinnedBuffer<float>(voxels_);
  return locked_.data();
}

float* HostMemory::locked_views(std::int64_t pixels) {
  if (views_.size() < pixels) {
    views_ = {};
    views_ = cuda::PinnedBuffer<float>(pixels);
  }
  return views_.data();
}

}  // namespace lepus::ladder
