// SPDX-License-Identifier: Apache-2.0
// Before a block sums, its threads find out together which views see its box of voxels at all, and which see only a
// part of it: views that miss cost a few instructions instead of a projection per voxel column.
#pragma once

#include "device/cuda/backproject_column.h"

namespace lepus::cuda {

// One bit per view of the launch.
struct ViewMasks {
  static constexpr int words = (views_per_launch + 31) / 32;
  unsigned seen[words], partly[words];
  __device__ bool is_seen(int view) const { return (seen[view / 32] >> (view % 32) & 1u) != 0; }
  __device__ bool is_partly(int view) const { return (partly[view / 32] >> (view % 32) & 1u) != 0; }
};

// Called by all threads of a block; ends with a barrier.
template <Beam beam>
__device__ inline void find_views(const ViewBlock& views, const SlabOnDevice& slab, const Box& box, ViewMasks& masks) {
  for (int first = 0; first < views.count; first += static_cast<int>(blockDim.x)) {
    const int i = first + static_cast<int>(threadIdx.x);
    BoxView state = BoxView::missed;
    if (i < views.count) state = box_view<beam>(views.view[i], box, seen_part(views.view[i], slab));
    const unsigned seen = __ballot_sync(0xffffffffu, state != BoxView::missed);
    const unsigned partly = __ballot_sync(0xffffffffu, state == BoxView::partly);
    if (threadIdx.x % 32 == 0 && i / 32 < ViewMasks::words) {
      masks.seen[i / 32] = seen;
      masks.partly[i / 32] = partly;
    }
  }
  __syncthreads();
}

// The box of columns [x0, x1] x [y0, y1] and slices [z, z + slices).
__device__ inline Box box_of(int x0, int x1, int y0, int y1, int z, int slices) {
  return {0.5f * static_cast<float>(x0 + x1),
          0.5f * static_cast<float>(y0 + y1),
          static_cast<float>(z) + 0.5f * static_cast<float>(slices - 1),
          0.5f * static_cast<float>(x1 - x0),
          0.5f * static_cast<float>(y1 - y0),
          0.5f * static_cast<float>(slices - 1)};
}

}  // namespace lepus::cuda
