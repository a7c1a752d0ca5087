// SPDX-License-Identifier: Apache-2.0
// On the way to ours: kernel B whose warps are 8 x 4 voxels of a slice instead of 32 x 1, so that their samples lie
// close together from wherever the rays come and no volume need be turned, with four lanes of the texture unit as 2 x 2
// voxels, 1/w by one instruction, and registers bounded so that two blocks of 512 threads fit a multiprocessor.
// lepus' kernel (src/device/cuda/backproject_general.cuh) also leaves out the views that a block does not see.
#include "device/cuda/backproject_column.h"
#include "device/cuda/backproject_tile.cuh"
#include "bench/ladder/cuda/kernel_b.cuh"

namespace lepus::ladder {
namespace {

using Square = cuda::Tile<cuda::Lanes::quad, 4, 4, 2>;
constexpr int voxels = 8;

struct OneInstruction {
  __device__ static float of(float w) { return cuda::reciprocal(w); }
};

template <class Access>
__global__ void __launch_bounds__(Square::threads, Square::min_blocks)
    square_kernel(const __grid_constant__ Views<maximum_views> views, cudaTextureObject_t texture, float* volume,
                  int size, Access access) {
  const int x = static_cast<int>(blockIdx.x) * Square::nx + Square::x(static_cast<int>(threadIdx.x));
  const int y = static_cast<int>(blockIdx.y) * Square::ny + Square::y(static_cast<int>(threadIdx.x));
  const int z = static_cast<int>(blockIdx.z) * voxels;
  if (x >= size || y >= size) return;
  float sum[voxels] = {};
  sum_views<voxels, OneInstruction>(views, texture, x, y, z, access, sum);
  update_volume<ReadAndWrite>(volume, size, x, y, z, access, sum);
}

template <class Access>
void launch_squares(const Launch& launch, const Access& access) {
  const dim3 grid(blocks_of(launch.size, Square::nx), blocks_of(launch.size, Square::ny),
                  blocks_of(launch.size, voxels));
  for (int done = 0; done < launch.views; done += maximum_views) {
    square_kernel<<<grid, Square::threads, 0, launch.stream>>>(
        take_views<maximum_views>(launch, done), launch.pictures.texture, launch.volume, launch.size, access);
    cuda::check_launch("the step with square warps");
  }
}

}  // namespace

void launch_square_warps(const Launch& launch) { launch_squares(launch, Everything{}); }
void launch_square_warps_parts(const Launch& launch, const Parts& parts) { launch_squares(launch, Some{parts}); }

}  // namespace lepus::ladder
