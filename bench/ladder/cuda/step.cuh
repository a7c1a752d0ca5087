// SPDX-License-Identifier: Apache-2.0
// What the kernels of several steps share: matrices as kernel parameters (they lie in the constant cache, where all
// lanes of a warp read the same number at once), a voxel's point, and the two things that the ablation can take out.
#pragma once

#include <cstdint>

#include "device/cuda/cuda_check.h"
#include "bench/ladder/cuda/launch.h"
#include "bench/ladder/matrix.h"

namespace lepus::ladder {

inline constexpr int maximum_views = 128;  // per launch
template <int maximum>
struct Views {
  Matrix matrix[maximum];
  int first_slot, count;
};

template <int maximum>
Views<maximum> take_views(const Launch& launch, int done) {
  Views<maximum> views{};
  views.first_slot = launch.first_slot + done;
  views.count = launch.views - done < maximum ? launch.views - done : maximum;
  for (int i = 0; i < views.count; ++i) views.matrix[i] = launch.matrices[done + i];
  return views;
}

inline unsigned blocks_of(int size, int block) { return static_cast<unsigned>((size + block - 1) / block); }

__device__ inline float row_at(const float* row, float x, float y, float z) {
  return row[0] * x + row[1] * y + row[2] * z + row[3];
}
__device__ inline std::int64_t voxel_at(int size, int x, int y, int z) {
  return (static_cast<std::int64_t>(z) * size + y) * size + x;
}
__device__ inline float fetch_at(cudaTextureObject_t texture, float u, float v, int slot) {
  return tex2DLayered<float>(texture, u + 0.5f, v + 0.5f, slot);
}

// The value that one view adds to a voxel, everything computed from its indices.
__device__ inline float whole_update(const Matrix& m, cudaTextureObject_t texture, int slot, float x, float y,
                                     float z) {
  const float r = 1.0f / row_at(m.w, x, y, z);
  return fetch_at(texture, row_at(m.u, x, y, z) * r, row_at(m.v, x, y, z) * r, slot) * (r * r);
}

// Fetch and update as they are, and with either taken out. Without a fetch the coordinates themselves are summed, and
// without an update a sum is stored that never comes: the compiler knows neither and keeps every instruction.
struct Everything {
  __device__ float fetch(cudaTextureObject_t texture, float u, float v, int slot) const {
    return fetch_at(texture, u, v, slot);
  }
  __device__ bool stores(float) const { return true; }
};
struct Some {
  Parts parts;
  __device__ float fetch(cudaTextureObject_t texture, float u, float v, int slot) const {
    return parts.fetch ? fetch_at(texture, u, v, slot) : (u + 0.5f) + (v + 0.5f);
  }
  __device__ bool stores(float sum) const { return parts.update || sum == -1.25e30f; }
};

}  // namespace lepus::ladder
