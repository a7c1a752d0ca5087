// SPDX-License-Identifier: Apache-2.0
// Backprojection with any matrices: one thread owns C columns of K voxels along z, sums them in registers over all
// views of the launch, and reads and writes the volume once. The texture unit interpolates (8-bit weights).
// The sum starts from what the slab holds, view after view: however the views are cut into launches, the bits are the
// same.
#pragma once

#include <cstdint>

#include "device/cuda/backproject_column.h"
#include "device/cuda/backproject_cull.cuh"
#include "device/cuda/backproject_tile.cuh"
#include "device/cuda/cuda_check.h"

namespace lepus::cuda {

template <Beam beam, bool guard, bool weighted, int K, int C, class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::min_blocks)
    general_kernel(const __grid_constant__ ViewBlock views, const SlabOnDevice slab, int chunk0) {
  const int x = static_cast<int>(blockIdx.x) * Tile::nx + Tile::x(threadIdx.x);
  const int y0 = static_cast<int>(blockIdx.y) * Tile::ny * C + Tile::y(threadIdx.x);
  const int z = (chunk0 + static_cast<int>(blockIdx.z)) * K;
  __shared__ ViewMasks masks;
  const int tile_x = static_cast<int>(blockIdx.x) * Tile::nx, tile_y = static_cast<int>(blockIdx.y) * Tile::ny * C;
  find_views<beam>(views, slab, box_of(tile_x, tile_x + Tile::nx - 1, tile_y, tile_y + Tile::ny * C - 1, z, K), masks);
  if (x >= slab.nx || y0 >= slab.ny) return;
  const std::int64_t slice = static_cast<std::int64_t>(slab.nx) * slab.ny;
  float* const column = slab.data + (z - slab.z0) * slice + static_cast<std::int64_t>(y0) * slab.nx + x;
  const std::int64_t next = static_cast<std::int64_t>(Tile::ny) * slab.nx;
  const auto inside = [&](int c, int k) { return y0 + c * Tile::ny < slab.ny && z + k >= slab.z0 && z + k < slab.z1; };

  float sum[C][K];
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int k = 0; k < K; ++k) sum[c][k] = inside(c, k) ? column[c * next + k * slice] : 0.0f;

#pragma unroll 1
  for (int i = 0; i < views.count; ++i) {
    if (!masks.is_seen(i)) continue;
    const ViewOnDevice& view = views.view[i];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const ChunkStart start =
          chunk_start(view, static_cast<float>(x), static_cast<float>(y0 + c * Tile::ny), static_cast<float>(z));
      if (masks.is_partly(i) && misses_detector<beam>(view, start, static_cast<float>(K - 1), seen_part(view, slab)))
        continue;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const WeighedPoint p = general_point<beam>(view, start, static_cast<float>(k), 0.5f, slab.gain);
        float value = tex2DLayered<float>(view.texture, p.u, difference(p.v, view.first_row), view.layer);
        float weight = weighted ? p.weight : 1.0f;
        if (guard && !p.seen) value = weight = 0.0f;
        sum[c][k] = fused(value, weight, sum[c][k]);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int k = 0; k < K; ++k)
      if (inside(c, k)) column[c * next + k * slice] = sum[c][k];
}

template <bool weighted, int K, int C, class Tile>
auto general_kernel_for(const Launch& launch) {
  if (launch.beam == Beam::parallel) return general_kernel<Beam::parallel, false, weighted, K, C, Tile>;
  if (launch.beam == Beam::fan) return general_kernel<Beam::fan, true, weighted, K, C, Tile>;
  if (launch.guard) return general_kernel<Beam::cone, true, weighted, K, C, Tile>;
  return general_kernel<Beam::cone, false, weighted, K, C, Tile>;
}

// every_case = false leaves out what a sweep does not run.
template <int K, int C, class Tile, bool every_case = true>
void launch_general_as(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  const dim3 grid(tiles(slab.nx, Tile::nx), tiles(slab.ny, Tile::ny * C), chunks(slab.z0, slab.z1, K));
  auto kernel = general_kernel<Beam::cone, false, true, K, C, Tile>;
  if constexpr (every_case)
    kernel =
        launch.weighted ? general_kernel_for<true, K, C, Tile>(launch) : general_kernel_for<false, K, C, Tile>(launch);
  kernel<<<grid, Tile::threads, 0, launch.stream>>>(views, slab, first_chunk(slab.z0, K));
  check_launch("the backprojection of general matrices");
}

}  // namespace lepus::cuda
