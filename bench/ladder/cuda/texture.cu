// SPDX-License-Identifier: Apache-2.0
// Step 2: the texture unit interpolates (its cache is made for neighbours in two dimensions, its border is zero, its
// weights have 8 bits), and the matrix lies in constant memory. 2011: 10.8 s at 512^3.
// Step 3: four views per launch, so that the volume is read and written a quarter as often. 2011: 6.07 s.
#include "bench/ladder/cuda/step.cuh"

namespace lepus::ladder {
namespace {

template <int maximum>
__global__ void texture_kernel(const __grid_constant__ Views<maximum> views, cudaTextureObject_t texture, float* volume,
                               int size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y), z = static_cast<int>(blockIdx.z);
  if (x >= size || y >= size) return;
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < maximum; ++i)
    if (i < views.count)
      sum += whole_update(views.matrix[i], texture, views.first_slot + i, static_cast<float>(x), static_cast<float>(y),
                          static_cast<float>(z));
  volume[voxel_at(size, x, y, z)] += sum;
}

template <int maximum>
void launch_few_views(const Launch& launch) {
  const dim3 block(32, 8), grid(blocks_of(launch.size, 32), blocks_of(launch.size, 8), launch.size);
  for (int done = 0; done < launch.views; done += maximum) {
    texture_kernel<maximum><<<grid, block, 0, launch.stream>>>(take_views<maximum>(launch, done),
                                                               launch.pictures.texture, launch.volume, launch.size);
    cuda::check_launch("the texture step");
  }
}

}  // namespace

void launch_texture(const Launch& launch) { launch_few_views<1>(launch); }
void launch_four_views(const Launch& launch) { launch_few_views<4>(launch); }

}  // namespace lepus::ladder
