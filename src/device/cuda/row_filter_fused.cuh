// SPDX-License-Identifier: Apache-2.0
// The whole row filter in one kernel: a block takes a pair of rows of one view from raw pixels to filtered floats, with
// the transform's line in shared memory. Device memory sees each raw pixel once and each filtered value once.
#pragma once

#include "device/cuda/cuda_check.h"
#include "device/cuda/row_filter_pixels.cuh"

namespace lepus::cuda {

__device__ inline void add_saturated(unsigned count, BadPixels* bad) {
  for (int distance = 16; distance > 0; distance /= 2) count += __shfl_down_sync(0xFFFFFFFFU, count, distance);
  if (threadIdx.x % 32 == 0 && count > 0) atomicAdd(&bad->saturated, count);
}

template <class Fft, int Threads, int Blocks>
__global__ void __launch_bounds__(Threads, Blocks) filter_pairs(const __grid_constant__ RowJob job) {
  extern __shared__ Complex line[];
  __shared__ RowContext context[2];
  __shared__ RayLine middle;
  __shared__ ViewWeight view;
  constexpr int A = Fft::first;
  const std::int64_t view_index = blockIdx.x, row0 = job.batch.row0 + 2 * static_cast<std::int64_t>(blockIdx.y);
  const std::int64_t view_number = job.batch.first_view + view_index * job.batch.view_step;
  if (threadIdx.x < 2) context[threadIdx.x] = prepare_row(job, job.views[view_number], view_index, row0 + threadIdx.x);
  if (threadIdx.x == 32) {
    view = job.views[view_number];
    middle = ray_line(view, job.shape.middle_column, job.shape.middle_row);
  }
  __syncthreads();

  bool counted[2];
  for (int r = 0; r < 2; ++r)
    counted[r] = row0 + r < job.batch.row1 && row0 + r >= job.batch.counted_row0 && row0 + r < job.batch.counted_row1;
  unsigned saturated = 0;
#pragma unroll 1
  for (int j = threadIdx.x; j < Fft::stride1; j += Threads) {
    Complex v[A];
    weighted_pixels<A / 2, Fft::stride1>(job, view, view_number, context, j, v, counted, saturated);
    if (job.extension == 0) {
      Fft::template there1<true>(v, j, job.roots1, line);
    } else {
#pragma unroll 1
      for (int k = 0; k < A; ++k) {  // the row's places are done again: seldom asked for, so kept short
        const int place = j + k * Fft::stride1;
        line[Fft::place(place)] = {continued_pixel(job, view, middle, context[0], place, Fft::length),
                                   continued_pixel(job, view, middle, context[1], place, Fft::length)};
      }
      repeat<A>([&](auto k) { v[k] = line[Fft::place(j + k * Fft::stride1)]; });
      Fft::template there1<false>(v, j, job.roots1, line);
    }
  }
  if (job.saturation < INFINITY) add_saturated(saturated, job.bad + view_number);
  __syncthreads();
#pragma unroll 1
  for (int j = threadIdx.x; j < Fft::length / Fft::second; j += Threads) Fft::there2(j, job.roots2, line);
  __syncthreads();
#pragma unroll 1
  for (int j = threadIdx.x; j < Fft::length / 16; j += Threads) Fft::turn(j, job.response, line);
  __syncthreads();
#pragma unroll 1
  for (int j = threadIdx.x; j < Fft::length / Fft::second; j += Threads) Fft::back2(j, job.roots2, line);
  __syncthreads();
  float* out = job.batch.out + view_index * job.batch.out_view + (row0 - job.batch.row0) * job.batch.out_row;
  const bool both = row0 + 1 < job.batch.row1;
#pragma unroll 1
  for (int j = threadIdx.x; j < Fft::stride1; j += Threads) {
    Complex v[A];
    Fft::back1(v, j, job.roots1, line);
#pragma unroll
    for (int k = 0; k < A / 2; ++k) {
      const int place = j + k * Fft::stride1;
      if (place >= job.wide) break;
      out[place] = v[k].x;
      if (both) out[job.batch.out_row + place] = v[k].y;
    }
  }
}

template <class Fft>
constexpr int line_bytes = Fft::places* static_cast<int>(sizeof(Complex));

template <class Fft, int Threads, int Blocks>
void launch_pairs(const RowJob& job, cudaStream_t stream) {
  constexpr int bytes = line_bytes<Fft>;
  const auto kernel = filter_pairs<Fft, Threads, Blocks>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "prepare the row filter");
  const auto pairs = static_cast<unsigned>((job.batch.row1 - job.batch.row0 + 1) / 2);
  kernel<<<dim3(static_cast<unsigned>(job.batch.views), pairs), Threads, bytes, stream>>>(job);
  check_launch("row filter");
}

template <int A, int B, int Threads, int Blocks>
constexpr FusedLength fused_length() {
  using Fft = RowFft<A, B>;
  return {Fft::length,
          A,
          B,
          line_bytes<Fft> + 1024,
          [](int i) { return Fft::frequency_at(i); },
          launch_pairs<Fft, Threads, Blocks>};
}

}  // namespace lepus::cuda
