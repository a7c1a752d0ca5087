// SPDX-License-Identifier: Apache-2.0
// Kernel B of Zinsser and Keck 2013: the loops of kernel A reordered. A thread owns K voxels along z whose sums stay in
// registers; the I views of a launch are outside, the K voxels inside. Neighbouring samples of a thread lie in the same
// view a pixel or two apart, what does not depend on z is computed once per view, and the volume is read and written
// once per I views. Templates: the steps that build on it change how 1/w is made and how the volume is updated.
#pragma once

#include "bench/ladder/cuda/step.cuh"

namespace lepus::ladder {

struct Divide {  // correctly rounded: some ten instructions
  __device__ static float of(float w) { return 1.0f / w; }
};
struct ReadAndWrite {
  __device__ static void add(float* voxel, float sum) { *voxel += sum; }
};

// All views of a launch into the sums of K voxels from (x, y, z) on.
template <int K, class Reciprocal, class Access>
__device__ inline void sum_views(const Views<maximum_views>& views, cudaTextureObject_t texture, int x, int y, int z,
                                 const Access& access, float (&sum)[K]) {
  const auto fx = static_cast<float>(x), fy = static_cast<float>(y), fz = static_cast<float>(z);
  for (int i = 0; i < views.count; ++i) {
    const Matrix& m = views.matrix[i];
    const float u = row_at(m.u, fx, fy, fz), v = row_at(m.v, fx, fy, fz), w = row_at(m.w, fx, fy, fz);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const auto step = static_cast<float>(k);
      const float r = Reciprocal::of(w + step * m.w[2]);
      const float value = access.fetch(texture, (u + step * m.u[2]) * r, (v + step * m.v[2]) * r, views.first_slot + i);
      sum[k] += value * (r * r);
    }
  }
}

template <class Update, int K, class Access>
__device__ inline void update_volume(float* volume, int size, int x, int y, int z, const Access& access,
                                     const float (&sum)[K]) {
#pragma unroll
  for (int k = 0; k < K; ++k)
    if (z + k < size && access.stores(sum[k])) Update::add(volume + voxel_at(size, x, y, z + k), sum[k]);
}

template <int K, class Reciprocal, class Update, class Access>
__global__ void kernel_b(const __grid_constant__ Views<maximum_views> views, cudaTextureObject_t texture, float* volume,
                         int size, Access access) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z) * K;
  if (x >= size || y >= size) return;
  float sum[K] = {};
  sum_views<K, Reciprocal>(views, texture, x, y, z, access, sum);
  update_volume<Update>(volume, size, x, y, z, access, sum);
}

template <int K, class Reciprocal = Divide, class Update = ReadAndWrite, class Access = Everything>
void launch_kernel_b(const Launch& launch, const BShape& shape, const Access& access = {}) {
  const dim3 block(shape.block_x, shape.block_y);
  const dim3 grid(blocks_of(launch.size, shape.block_x), blocks_of(launch.size, shape.block_y),
                  blocks_of(launch.size, K));
  for (int done = 0; done < launch.views; done += shape.views) {
    Views<maximum_views> views = take_views<maximum_views>(launch, done);
    views.count = views.count < shape.views ? views.count : shape.views;
    kernel_b<K, Reciprocal, Update>
        <<<grid, block, 0, launch.stream>>>(views, launch.pictures.texture, launch.volume, launch.size, access);
    cuda::check_launch("kernel B");
  }
}

}  // namespace lepus::ladder
