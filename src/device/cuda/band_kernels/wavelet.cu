// SPDX-License-Identifier: Apache-2.0
// The wavelet-Fourier filter's products and steps on the device.
#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/ring_kernels.h"
#include "project/wavelet.h"

namespace lepus::rings {
namespace {

// Tiles of 64 x 64 of C, 16 of k at a time through shared memory, 4 x 4 elements per thread.
constexpr int tile = 64, depth = 16, each = 4;

__global__ void __launch_bounds__(256) product(DeviceProduct p) {
  __shared__ float a[depth][tile + 1], b[depth][tile];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const std::int64_t x0 = std::int64_t{blockIdx.x} * tile, row0 = std::int64_t{blockIdx.y} * tile;
  for (std::int64_t plane = blockIdx.z; plane < p.c.count; plane += gridDim.z) {
    float sums[each][each] = {};
    for (std::int64_t k0 = 0; k0 < p.k; k0 += depth) {
      for (int i = threadIdx.x; i < tile * depth; i += 256) {
        const std::int64_t row = row0 + i / depth, k = k0 + i % depth;
        a[i % depth][i / depth] = row < p.m && k < p.k ? p.a[row * p.k + k] : 0.0F;
        const std::int64_t x = x0 + i % tile, deep = k0 + i / tile;
        b[i / tile][i % tile] = x < p.n && deep < p.k ? p.b.row(plane, deep)[x] : 0.0F;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < depth; ++k) {
        float left[each], right[each];
#pragma unroll
        for (int i = 0; i < each; ++i) {
          left[i] = a[k][ty * each + i];
          right[i] = b[k][i * 16 + tx];
        }
#pragma unroll
        for (int i = 0; i < each; ++i)
#pragma unroll
          for (int j = 0; j < each; ++j) sums[i][j] += left[i] * right[j];
      }
      __syncthreads();
    }
    for (int i = 0; i < each; ++i)
      for (int j = 0; j < each; ++j) {
        const std::int64_t row = row0 + ty * each + i, x = x0 + j * 16 + tx;
        if (row >= p.m || x >= p.n) continue;
        float& c = p.c.row(plane, row)[x];
        c = p.subtract ? c - sums[i][j] : sums[i][j];
      }
  }
}

template <bool Back>
__global__ void wavelet_step(WaveletStep s) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, mode = s.own + blockIdx.y;
  if (i >= (Back ? s.n : s.half)) return;
  const float* taps = mode < s.higher ? s.high : s.low;
  for (std::int64_t plane = blockIdx.z; plane < s.planes; plane += gridDim.z) {
    const std::int64_t line = (plane * s.modes + mode) * s.stride;
    float sum = 0;
    if (Back) {
      for (std::int64_t k = i / 2; 2 * k + 1 - i < s.taps && k < s.half; ++k)
        sum += taps[2 * k + 1 - i] * s.from[line + k];
    } else {
      for (int j = 0; j < s.taps; ++j) sum += taps[j] * s.from[line + mirrored_index(2 * i + 1 - j, s.n)];
    }
    s.to[line + i] = sum;
  }
}

dim3 step_blocks(const WaveletStep& s, std::int64_t outputs) {
  return dim3(blocks_for(outputs, 128), static_cast<unsigned>(s.modes - s.own), capped(s.planes));
}

}  // namespace

void launch_product(const DeviceProduct& p, cudaStream_t stream) {
  const dim3 blocks(blocks_for(p.n, tile), blocks_for(p.m, tile), capped(p.c.count));
  product<<<blocks, 256, 0, stream>>>(p);
  cuda::check_launch("product");
}

void launch_analyse(const WaveletStep& step, cudaStream_t stream) {
  wavelet_step<false><<<step_blocks(step, step.half), 128, 0, stream>>>(step);
  cuda::check_launch("wavelet_step");
}

void launch_synthesise(const WaveletStep& step, cudaStream_t stream) {
  wavelet_step<true><<<step_blocks(step, step.n), 128, 0, stream>>>(step);
  cuda::check_launch("wavelet_step");
}

}  // namespace lepus::rings
