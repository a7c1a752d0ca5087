// SPDX-License-Identifier: Apache-2.0
// Kernel A of Zinsser and Keck (Systematic performance optimization of cone-beam back-projection on the Kepler
// architecture, Fully 3D 2013): a thread owns K voxels along z, outside; for each it sums many views, inside, and
// writes it once. The volume is no longer the wall, but two neighbouring samples of a thread lie in different views:
// what the texture cache holds is thrown out before the next voxel asks for it. Synchronising the block after every
// voxel keeps its warps at the same view, where they share texels.
#include "bench/ladder/cuda/step.cuh"

namespace lepus::ladder {
namespace {

template <bool synchronised, class Access>
__global__ void kernel_a(const __grid_constant__ Views<maximum_views> views, cudaTextureObject_t texture, float* volume,
                         int size, int K, Access access) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const bool inside = x < size && y < size;
  const int z0 = static_cast<int>(blockIdx.z) * K, z1 = min(z0 + K, size);
  for (int z = z0; z < z1; ++z) {
    float sum = 0.0f;
    for (int i = 0; i < views.count; ++i) {
      const Matrix& m = views.matrix[i];
      const auto fx = static_cast<float>(x), fy = static_cast<float>(y), fz = static_cast<float>(z);
      const float r = 1.0f / row_at(m.w, fx, fy, fz);
      const float value =
          access.fetch(texture, row_at(m.u, fx, fy, fz) * r, row_at(m.v, fx, fy, fz) * r, views.first_slot + i);
      sum += value * (r * r);
    }
    if (inside && access.stores(sum)) volume[voxel_at(size, x, y, z)] += sum;
    if constexpr (synchronised) __syncthreads();
  }
}

template <bool synchronised, class Access = Everything>
void launch_a(const Launch& launch, int K, const Access& access = {}) {
  const dim3 block(32, 8);
  const dim3 grid(blocks_of(launch.size, 32), blocks_of(launch.size, 8), blocks_of(launch.size, K));
  for (int done = 0; done < launch.views; done += maximum_views) {
    kernel_a<synchronised><<<grid, block, 0, launch.stream>>>(
        take_views<maximum_views>(launch, done), launch.pictures.texture, launch.volume, launch.size, K, access);
    cuda::check_launch("kernel A");
  }
}

}  // namespace

void launch_a_512(const Launch& launch) { launch_a<false>(launch, 512); }
void launch_a_512_synchronised(const Launch& launch) { launch_a<true>(launch, 512); }
void launch_a_8(const Launch& launch) { launch_a<false>(launch, 8); }
void launch_a_8_synchronised(const Launch& launch) { launch_a<true>(launch, 8); }
void launch_a_parts(const Launch& launch, const Parts& parts) { launch_a<true>(launch, 8, Some{parts}); }

}  // namespace lepus::ladder
