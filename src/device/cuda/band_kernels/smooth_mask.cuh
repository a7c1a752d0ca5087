// SPDX-License-Identifier: Apache-2.0
// The mask of box and Gaussian along one axis, for their kernels: weights of 2 reach + 1 taps whose sum is 1.
#pragma once

#include <cstdint>

#include "device/cuda/band_kernels/device_rows.cuh"

namespace lepus::filters {

struct Mask {
  int reach;
  float per_distance2, scale;  // scale makes the sum of the weights 1
  __host__ __device__ int taps() const { return 2 * reach + 1; }
  __device__ float weight(int k) const {  // 0 beyond the mask
    const auto distance = static_cast<float>(k - reach);
    return k < 0 || k >= taps() ? 0.0f : scale * expf(-per_distance2 * distance * distance);
  }
};

Mask mask_of(const Pass& pass, std::int64_t reach);

// What the weights inside the picture add up to; i is the pixel of n. The box's are counted: thousands of equal numbers
// do not add up well.
__device__ inline float weight_inside(const Mask& mask, const float* weights, std::int64_t i, std::int64_t n) {
  const int first = i < mask.reach ? mask.reach - static_cast<int>(i) : 0;
  const int last = n - i <= mask.reach ? mask.reach + static_cast<int>(n - i) : mask.taps();
  if (mask.per_distance2 == 0) return static_cast<float>(last - first) * mask.scale;
  float sum = 0;
  for (int k = first; k < last; ++k) sum += weights[k];
  return sum;
}

// Throws Error(unsupported) where a block of this device has less shared memory.
void make_room(const void* kernel, std::int64_t bytes);

void smooth_rows_on_device(const DeviceJob& job, const Mask& mask, cudaStream_t stream);
void smooth_across_on_device(const DeviceJob& job, const Mask& mask, cudaStream_t stream);

}  // namespace lepus::filters
