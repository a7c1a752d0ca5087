// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_check.h"
#include "device/cuda/slab_kernels.h"

namespace lepus::cuda {
namespace {

__global__ void mask_outside(float* slab, VolumeGrid grid, std::int64_t slices, double squared) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= grid.nx) return;
  const double px = grid.origin_mm.x + static_cast<double>(x) * grid.step_mm.x;
  const double py = grid.origin_mm.y + static_cast<double>(y) * grid.step_mm.y;
  if (px * px + py * py <= squared) return;
  float* voxel = slab + y * grid.nx + x;
  for (std::int64_t z = 0; z < slices; ++z) voxel[z * grid.nx * grid.ny] = 0.0F;
}

}  // namespace

void launch_mask_outside(float* slab, const VolumeGrid& grid, std::int64_t slices, double radius_mm,
                         cudaStream_t stream) {
  constexpr unsigned threads = 128;
  const dim3 blocks(static_cast<unsigned>((grid.nx + threads - 1) / threads), static_cast<unsigned>(grid.ny));
  mask_outside<<<blocks, threads, 0, stream>>>(slab, grid, slices, radius_mm * radius_mm);
  check_launch("mask_outside");
}

cudaError_t kernels_run_on(int device) {
  int before = 0;
  cudaGetDevice(&before);
  cudaError_t status = cudaSetDevice(device);
  cudaFuncAttributes attributes{};
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, mask_outside);
  cudaSetDevice(before);
  cudaGetLastError();
  return status;
}

}  // namespace lepus::cuda
