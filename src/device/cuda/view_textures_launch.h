// SPDX-License-Identifier: Apache-2.0
// What ViewTextures hands to its two kernels: store filtered rows as texels, and clear an array.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "device/cuda/orbit_views.h"

namespace lepus::cuda {

inline constexpr int slots_per_store = 256;
inline constexpr int atlas_margin = 2;  // a row of zeros above and below each view

// Each group of views goes to texels (column, row - first_row) of its layer.
struct StoreOnDevice {
  const float* data;
  std::int64_t row_stride, view_stride;
  float factor;
  int columns, held_rows, row0, rows;
  int first_row[slots_per_store];
  int first_layer, layers;
};

void launch_store(TexelKind kind, const StoreOnDevice& store, cudaSurfaceObject_t surface, float* pixels,
                  cudaStream_t stream);
// layers = 0: a plain 2-D array.
void launch_clear(TexelKind kind, cudaSurfaceObject_t surface, int width, int height, int layers);

}  // namespace lepus::cuda
