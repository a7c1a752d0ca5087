// SPDX-License-Identifier: Apache-2.0
// The bilateral filter on a device, a thread per pixel. Each tap costs one exponential, of which a multiprocessor makes
// 16 per clock: that is the wall, and the ten other instructions hide behind it. Neighbouring lanes read neighbouring
// pixels, through the cache.
#include "backend/cuda/cuda_check.h"
#include "correct/filters/device_rows.cuh"

namespace lepus::filters {
namespace {

constexpr int bilateral_threads = 256;

__device__ inline float exp2_of(float t) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  return power;
}

struct Mean {
  float centre, falloff, sum, weights;

  __device__ void add(float value, float exponent) {
    const float difference = value - centre;
    const float weight = exp2_of(fmaf(-difference * falloff, difference, exponent));
    sum = fmaf(weight, difference, sum);
    weights += weight;
  }
};

__global__ void __launch_bounds__(bilateral_threads)
    bilateral_kernel(const __grid_constant__ DeviceJob job, int chunks, float per_distance2, float falloff) {
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width;
  const Place place = row_place(pass, blockIdx.x / chunks);
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x % chunks) * bilateral_threads + threadIdx.x;
  if (x >= width) return;
  float* out = job.to.row(place.plane, place.y) + x;
  if (row_is_kept(pass, job.to, place.plane, place.y) || column_is_kept(pass, x, width)) {
    *out = job.original.row(place.plane, place.y)[x];
    return;
  }
  Mean mean{job.from.row(place.plane, place.y)[x], falloff, 0, 0};
  const int r = static_cast<int>(pass.reach_u), rv = static_cast<int>(pass.reach_v),
            rz = static_cast<int>(pass.reach_z);
  const bool inside = full_mask(x, width, r), zeros = pass.border == FilterBorder::zero;
  for (int dz = -rz; dz <= rz; ++dz)
    for (int dy = -rv; dy <= rv; ++dy) {
      const float* row = found_row(pass, job.from, place.plane + dz, place.y + dy);
      if (!row && !zeros) continue;
      const float far = -per_distance2 * (static_cast<float>(dz) * static_cast<float>(dz) +
                                          static_cast<float>(dy) * static_cast<float>(dy));
      if (row && inside) {
        const float* tap = row + (x - r);
#pragma unroll 4
        for (int k = -r; k <= r; ++k, ++tap) {
          const auto distance = static_cast<float>(k);
          mean.add(__ldg(tap), fmaf(-per_distance2 * distance, distance, far));
        }
        continue;
      }
      for (int k = -r; k <= r; ++k) {
        const std::int64_t at = border_index(pass.border, x + k, width);
        if (at < 0 && !zeros) continue;
        const auto distance = static_cast<float>(k);
        mean.add(row && at >= 0 ? __ldg(row + at) : 0.0f, fmaf(-per_distance2 * distance, distance, far));
      }
    }
  *out = mean.centre + mean.sum / mean.weights;
}

}  // namespace

void bilateral_on_device(const DeviceJob& job, cudaStream_t stream) {
  constexpr double log2_e = 1.4426950408889634;
  const Pass& pass = job.pass;
  const std::int64_t chunks = (job.from.part.width + bilateral_threads - 1) / bilateral_threads;
  const std::int64_t blocks = chunks * pass.rows.size() * pass.planes.size();
  bilateral_kernel<<<static_cast<unsigned>(blocks), bilateral_threads, 0, stream>>>(
      job, static_cast<int>(chunks), static_cast<float>(log2_e / (2 * pass.sigma * pass.sigma)),
      static_cast<float>(log2_e / (2 * pass.sigma_value * pass.sigma_value)));
  cuda::check_launch("bilateral filter");
}

}  // namespace lepus::filters
