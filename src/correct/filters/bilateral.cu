// SPDX-License-Identifier: Apache-2.0
// The bilateral filter on a device. Each tap costs one exponential, of which a multiprocessor makes 16 per clock: that
// is the wall. Along rows a thread makes four neighbouring pixels, so that what it loads serves four, and the five
// other instructions of a tap hide behind the exponential. In more dimensions a thread makes one pixel, through the
// cache.
#include <algorithm>
#include <math_constants.h>

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

constexpr int row_threads = 512, each = 4;

__device__ inline void take_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// A block per piece of a row. Shared: the exponents of distances from -(reach + 3), minus infinity beyond the mask; and
// the piece, with `reach` pixels before it. A pixel that is not there is so far off that it has no weight.
__global__ void __launch_bounds__(row_threads)
    bilateral_rows(const __grid_constant__ DeviceJob job, int pieces, int piece, float per_distance2, float falloff) {
  constexpr float nowhere = 1e18F;
  extern __shared__ float4 bilateral_shared[];
  const Pass& pass = job.pass;
  const auto width = static_cast<int>(job.from.part.width), reach = static_cast<int>(pass.reach_u);
  const int groups = (2 * reach + each + 3) / 4, exponents = 4 * groups + 4;
  float* exponent = reinterpret_cast<float*>(bilateral_shared);
  float* line = exponent + exponents;
  const Place place = row_place(pass, blockIdx.x / pieces);
  const int x0 = static_cast<int>(blockIdx.x % pieces) * piece, thread = static_cast<int>(threadIdx.x);
  const float* row = job.from.row(place.plane, place.y);
  for (int i = thread; i < exponents; i += static_cast<int>(blockDim.x)) {
    const auto distance = static_cast<float>(i - reach - (each - 1));
    exponent[i] = fabsf(distance) <= static_cast<float>(reach) ? -per_distance2 * distance * distance : -CUDART_INF_F;
  }
  for (int i = thread; i < piece + 4 * groups; i += static_cast<int>(blockDim.x)) {
    const int x = x0 - reach + i;
    const auto at = x >= -reach && x < width + reach ? border_index(pass.border, x, width) : -1;
    line[i] = at >= 0 ? __ldg(row + at) : pass.border == FilterBorder::zero ? 0.0F : nowhere;
  }
  __syncthreads();
  const int first = each * thread;
  if (first >= piece || x0 + first >= width) return;
  float centre[each], sum[each] = {}, weights[each] = {}, far[8];
#pragma unroll
  for (int j = 0; j < each; ++j) centre[j] = line[first + reach + j];
  take_four(exponent, far);
  for (int group = 0; group < groups; ++group) {
    float values[4];
    take_four(line + first + 4 * group, values);
    take_four(exponent + 4 * group + 4, far + 4);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const float difference = values[i] - centre[j];
        const float weight = exp2_of(fmaf(-difference * falloff, difference, far[i - j + each - 1]));
        sum[j] = fmaf(weight, difference, sum[j]);
        weights[j] += weight;
      }
#pragma unroll
    for (int i = 0; i < 4; ++i) far[i] = far[i + 4];
  }
  const bool kept_row = row_is_kept(pass, job.to, place.plane, place.y);
  float* out = job.to.row(place.plane, place.y) + x0 + first;
  const float* original = job.original.row(place.plane, place.y) + x0 + first;
#pragma unroll
  for (int j = 0; j < each; ++j) {
    if (x0 + first + j >= width) break;
    out[j] = kept_row || column_is_kept(pass, x0 + first + j, width) ? original[j] : centre[j] + sum[j] / weights[j];
  }
}

}  // namespace

void bilateral_on_device(const DeviceJob& job, cudaStream_t stream) {
  constexpr double log2_e = 1.4426950408889634;
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width, rows = pass.rows.size() * pass.planes.size();
  const auto per_distance2 = static_cast<float>(log2_e / (2 * pass.sigma * pass.sigma));
  const auto falloff = static_cast<float>(log2_e / (2 * pass.sigma_value * pass.sigma_value));
  // A piece, what the mask sees beside it, and the exponents.
  const std::int64_t pieces = (width + each * row_threads - 1) / (each * row_threads);
  const std::int64_t piece = (width + each * pieces - 1) / (each * pieces) * each;
  const auto shared_bytes = static_cast<std::int64_t>(sizeof(float)) * (piece + 4 * pass.reach_u + 24);
  if (pass.reach_v == 0 && pass.reach_z == 0 && shared_bytes <= 48 * 1024) {
    const auto threads = static_cast<unsigned>((piece / each + 31) / 32 * 32);
    bilateral_rows<<<static_cast<unsigned>(pieces * rows), threads, static_cast<std::size_t>(shared_bytes), stream>>>(
        job, static_cast<int>(pieces), static_cast<int>(piece), per_distance2, falloff);
  } else {
    const std::int64_t chunks = (width + bilateral_threads - 1) / bilateral_threads;
    bilateral_kernel<<<static_cast<unsigned>(chunks * rows), bilateral_threads, 0, stream>>>(
        job, static_cast<int>(chunks), per_distance2, falloff);
  }
  cuda::check_launch("bilateral filter");
}

}  // namespace lepus::filters
