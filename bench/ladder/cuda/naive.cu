// SPDX-License-Identifier: Apache-2.0
// Step 1: a thread per voxel, a launch per view, everything from global memory: the matrix, the four taps, the voxel.
// Papenhausen, Zheng, Mueller: GPU-accelerated back-projection revisited, 2011: 42.6 s at 512^3.
// Every view reads and writes the whole volume; four loads and their bounds make one sample.
#include "bench/ladder/cuda/step.cuh"

namespace lepus::ladder {
namespace {

__global__ void naive_kernel(const float* picture, int columns, int rows, const Matrix* matrix, float* volume,
                             int size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y), z = static_cast<int>(blockIdx.z);
  if (x >= size || y >= size) return;
  const auto fx = static_cast<float>(x), fy = static_cast<float>(y), fz = static_cast<float>(z);
  const float w = row_at(matrix->w, fx, fy, fz);
  const float u = row_at(matrix->u, fx, fy, fz) / w, v = row_at(matrix->v, fx, fy, fz) / w;
  const float left = floorf(u), top = floorf(v), a = u - left, b = v - top;
  const auto tap = [&](float column, float row) {
    const bool inside =
        column >= 0.0f && row >= 0.0f && column < static_cast<float>(columns) && row < static_cast<float>(rows);
    return inside ? picture[static_cast<int>(row) * columns + static_cast<int>(column)] : 0.0f;
  };
  const float upper = (1.0f - a) * tap(left, top) + a * tap(left + 1.0f, top);
  const float lower = (1.0f - a) * tap(left, top + 1.0f) + a * tap(left + 1.0f, top + 1.0f);
  volume[voxel_at(size, x, y, z)] += ((1.0f - b) * upper + b * lower) / (w * w);
}

}  // namespace

void launch_naive(const Launch& launch) {
  const dim3 block(32, 8), grid(blocks_of(launch.size, 32), blocks_of(launch.size, 8), launch.size);
  const auto pixels = static_cast<std::int64_t>(launch.pictures.columns) * launch.pictures.rows;
  for (int view = 0; view < launch.views; ++view) {
    const int slot = launch.first_slot + view;
    naive_kernel<<<grid, block, 0, launch.stream>>>(launch.pictures.pixels + slot * pixels, launch.pictures.columns,
                                                    launch.pictures.rows, launch.pictures.matrices + slot,
                                                    launch.volume, launch.size);
    cuda::check_launch("the naive step");
  }
}

}  // namespace lepus::ladder
