// SPDX-License-Identifier: Apache-2.0
// The Michigan strategies for sharing what depends on (x, y) alone between the voxels of a column, a view per launch:
//   a column per thread: the terms stay in registers, but there are few threads with much to do;
//   two kernels: the first writes the terms of every (x, y) to global memory, the second reads them, a thread per
//   voxel; a voxel per thread: nothing is shared, every thread computes its own terms; shared memory: a block is a
//   piece of one row of (x, y) and many z; some threads write the terms, all read them.
// On a circle the terms are u, 1/w^2 and v's slope; for any matrices they are the parts of u w, v w and w that z is
// added to. Their problem was 512 x 496 x 480 voxels from 984 views of 888 x 800 (`lepus bench papers`).
#include "bench/ladder/cuda/step.cuh"

namespace lepus::ladder {
namespace {

__device__ inline float3 terms_at(const Matrix& m, int x, int y) {
  const auto fx = static_cast<float>(x), fy = static_cast<float>(y);
  return {m.u[0] * fx + m.u[1] * fy + m.u[3], m.v[0] * fx + m.v[1] * fy + m.v[3], m.w[0] * fx + m.w[1] * fy + m.w[3]};
}
__device__ inline float update_from(const float3& terms, const Matrix& m, cudaTextureObject_t texture, int slot,
                                    int z) {
  const auto fz = static_cast<float>(z);
  const float r = 1.0f / (terms.z + m.w[2] * fz);
  return fetch_at(texture, (terms.x + m.u[2] * fz) * r, (terms.y + m.v[2] * fz) * r, slot) * (r * r);
}

__global__ void column_kernel(const __grid_constant__ Matrix m, cudaTextureObject_t texture, int slot, float* volume,
                              int size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= size || y >= size) return;
  const float3 terms = terms_at(m, x, y);
  for (int z = 0; z < size; ++z) volume[voxel_at(size, x, y, z)] += update_from(terms, m, texture, slot, z);
}

__global__ void terms_kernel(const __grid_constant__ Matrix m, float4* all, int size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= size || y >= size) return;
  const float3 terms = terms_at(m, x, y);
  all[voxel_at(size, x, y, 0)] = make_float4(terms.x, terms.y, terms.z, 0.0f);
}
__global__ void from_terms_kernel(const __grid_constant__ Matrix m, const float4* all, cudaTextureObject_t texture,
                                  int slot, float* volume, int size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y), z = static_cast<int>(blockIdx.z);
  if (x >= size || y >= size) return;
  const float4 terms = all[voxel_at(size, x, y, 0)];
  volume[voxel_at(size, x, y, z)] += update_from({terms.x, terms.y, terms.z}, m, texture, slot, z);
}

__global__ void voxel_kernel(const __grid_constant__ Matrix m, cudaTextureObject_t texture, int slot, float* volume,
                             int size) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y), z = static_cast<int>(blockIdx.z);
  if (x >= size || y >= size) return;
  volume[voxel_at(size, x, y, z)] += update_from(terms_at(m, x, y), m, texture, slot, z);
}

// The block's y axis is the volume's z: 16 slices share the terms of 32 voxels.
constexpr int shared_x = 32, shared_z = 16;
__global__ void shared_kernel(const __grid_constant__ Matrix m, cudaTextureObject_t texture, int slot, float* volume,
                              int size) {
  __shared__ float3 terms[shared_x];
  const int x = static_cast<int>(blockIdx.x) * shared_x + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  const int z = static_cast<int>(blockIdx.z) * shared_z + static_cast<int>(threadIdx.y);
  if (threadIdx.y == 0) terms[threadIdx.x] = terms_at(m, x, y);
  __syncthreads();
  if (x >= size || z >= size) return;
  volume[voxel_at(size, x, y, z)] += update_from(terms[threadIdx.x], m, texture, slot, z);
}

constexpr dim3 flat_block(32, 8);
dim3 flat_grid(int size, int slices) {
  return {blocks_of(size, static_cast<int>(flat_block.x)), blocks_of(size, static_cast<int>(flat_block.y)),
          static_cast<unsigned>(slices)};
}

template <class LaunchView>
void view_by_view(const Launch& launch, const LaunchView& launch_view) {
  for (int view = 0; view < launch.views; ++view) {
    launch_view(launch.matrices[view], launch.first_slot + view);
    cuda::check_launch("a Michigan strategy");
  }
}

}  // namespace

void launch_column_per_thread(const Launch& l) {
  view_by_view(l, [&](const Matrix& m, int slot) {
    column_kernel<<<flat_grid(l.size, 1), flat_block, 0, l.stream>>>(m, l.pictures.texture, slot, l.volume, l.size);
  });
}
void launch_two_kernels(const Launch& l) {
  view_by_view(l, [&](const Matrix& m, int slot) {
    terms_kernel<<<flat_grid(l.size, 1), flat_block, 0, l.stream>>>(m, l.terms, l.size);
    from_terms_kernel<<<flat_grid(l.size, l.size), flat_block, 0, l.stream>>>(m, l.terms, l.pictures.texture, slot,
                                                                              l.volume, l.size);
  });
}
void launch_voxel_per_thread(const Launch& l) {
  view_by_view(l, [&](const Matrix& m, int slot) {
    voxel_kernel<<<flat_grid(l.size, l.size), flat_block, 0, l.stream>>>(m, l.pictures.texture, slot, l.volume, l.size);
  });
}
void launch_shared_terms(const Launch& l) {
  const dim3 grid(blocks_of(l.size, shared_x), static_cast<unsigned>(l.size), blocks_of(l.size, shared_z));
  view_by_view(l, [&](const Matrix& m, int slot) {
    shared_kernel<<<grid, dim3(shared_x, shared_z), 0, l.stream>>>(m, l.pictures.texture, slot, l.volume, l.size);
  });
}

}  // namespace lepus::ladder
