// SPDX-License-Identifier: Apache-2.0
// A block brings a tile of 32 x 32 pixels through shared memory, so that reads and writes both run along rows.
#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/stage_kernels.h"

namespace lepus::cuda {
namespace {

constexpr int tile = 32, rows_at_once = 8;
constexpr std::int64_t maximum_blocks = 65535;  // of a grid along y and z

__global__ void transpose_kernel(Planes in, Planes out) {
  __shared__ float held[tile][tile + 1];  // one more: columns lie in different banks
  const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x) * tile;
  for (std::int64_t z = blockIdx.z; z < in.count; z += gridDim.z)
    for (std::int64_t y0 = static_cast<std::int64_t>(blockIdx.y) * tile; y0 < in.height;
         y0 += static_cast<std::int64_t>(gridDim.y) * tile) {
      for (int j = threadIdx.y; j < tile; j += rows_at_once)
        if (x0 + threadIdx.x < in.width && y0 + j < in.height)
          held[j][threadIdx.x] = in.row(z, y0 + j)[x0 + threadIdx.x];
      __syncthreads();
      for (int j = threadIdx.y; j < tile; j += rows_at_once)
        if (y0 + threadIdx.x < in.height && x0 + j < in.width)
          out.row(z, x0 + j)[y0 + threadIdx.x] = held[threadIdx.x][j];
      __syncthreads();
    }
}

}  // namespace

void launch_transpose(const Planes& in, const Planes& out, cudaStream_t stream) {
  if (in.width == 0 || in.height == 0 || in.count == 0) return;
  const auto tiles = [](std::int64_t n) { return (n + tile - 1) / tile; };
  const dim3 blocks(static_cast<unsigned>(tiles(in.width)),
                    static_cast<unsigned>(tiles(in.height) < maximum_blocks ? tiles(in.height) : maximum_blocks),
                    static_cast<unsigned>(in.count < maximum_blocks ? in.count : maximum_blocks));
  transpose_kernel<<<blocks, dim3(tile, rows_at_once), 0, stream>>>(in, out);
  check_launch("transpose");
}

}  // namespace lepus::cuda
