// SPDX-License-Identifier: Apache-2.0
// The bilateral filter on a device: along rows by pairs; in more dimensions a thread makes one pixel, through the
// cache, and each tap costs one exponential.
#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/bilateral_pairs.cuh"
#include "device/cuda/band_kernels/device_rows.cuh"

namespace lepus::filters {
namespace {

constexpr int bilateral_threads = 256;

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
        auto distance = static_cast<float>(-r);  // counted along: a conversion costs as much as an exponential
#pragma unroll 4
        for (int k = -r; k <= r; ++k, ++tap, distance += 1) {
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

// A block per line.
template <int fixed_reach>
__global__ void __launch_bounds__(maximum_line_threads, line_blocks_at_once)
    bilateral_lines(const __grid_constant__ DeviceJob job, const __grid_constant__ LineCut cut) {
  extern __shared__ float4 bilateral_shared[];
  const Pass& pass = job.pass;
  const auto width = static_cast<int>(job.from.part.width), thread = static_cast<int>(threadIdx.x);
  const Place place = row_place(pass, blockIdx.x / cut.pieces);
  const int x0 = static_cast<int>(blockIdx.x % cut.pieces) * cut.piece;
  const float* row = job.from.row(place.plane, place.y);
  const PairLine<fixed_reach> line(cut, bilateral_shared);
  for (int i = thread; i < line.pixels(); i += static_cast<int>(blockDim.x)) {
    const int x = x0 - cut.margin + i;
    const auto found = x >= -cut.reach && x < width + cut.reach ? border_index(pass.border, x, width) : -1;
    line.value(i) = found >= 0 ? cut.scale * __ldg(row + found) : pass.border == FilterBorder::zero ? 0.0F : nowhere;
  }
  line.wait();
  float own[own_pixels];
  Weighed got;
  line.weigh(own, got);
  // Through shared memory: what neighbouring threads write to the row lies side by side.
#pragma unroll
  for (int i = 0; i < own_pixels; ++i)
    if (thread < cut.owners()) line.value(own_pixels * thread + i) = __fdividef(got.sum[i], got.weight[i] * cut.scale);
  line.wait();
  const bool kept_row = row_is_kept(pass, job.to, place.plane, place.y);
  float* out = job.to.row(place.plane, place.y);
  const float* original = job.original.row(place.plane, place.y);
  const int count = min(cut.piece, width - x0);
  for (int i = thread; i < count; i += static_cast<int>(blockDim.x)) {
    const int x = x0 + i;
    out[x] = kept_row || column_is_kept(pass, x, width) ? original[x] : __ldg(row + x) + line.value(cut.margin + i);
  }
}

}  // namespace

void bilateral_on_device(const DeviceJob& job, cudaStream_t stream) {
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width, rows = pass.rows.size() * pass.planes.size();
  const auto per_distance2 = static_cast<float>(log2_e / (2 * pass.sigma * pass.sigma));
  const auto falloff = static_cast<float>(log2_e / (2 * pass.sigma_value * pass.sigma_value));
  LineCut cut;
  if (cut_lines(pass, width, cut)) {
    const auto kernel = cut.reach == usual_reach ? bilateral_lines<usual_reach> : bilateral_lines<0>;
    kernel<<<static_cast<unsigned>(cut.pieces * rows), cut.threads(), cut.shared_bytes(), stream>>>(job, cut);
  } else {
    const std::int64_t chunks = (width + bilateral_threads - 1) / bilateral_threads;
    bilateral_kernel<<<static_cast<unsigned>(chunks * rows), bilateral_threads, 0, stream>>>(
        job, static_cast<int>(chunks), per_distance2, falloff);
  }
  cuda::check_launch("bilateral filter");
}

}  // namespace lepus::filters
