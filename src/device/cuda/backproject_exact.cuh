// SPDX-License-Identifier: Apache-2.0
// Backprojection with any matrices and interpolation weights in single precision: one texture gather brings the 2 x 2
// taps, the arithmetic units weigh them. Views are stacked in 2-D atlases (a gather knows no layers), with a row of
// zeros above and below each.
#pragma once

#include <cstdint>

#include "device/cuda/backproject_column.h"
#include "device/cuda/backproject_cull.cuh"
#include "device/cuda/backproject_tile.cuh"
#include "device/cuda/cuda_check.h"

namespace lepus::cuda {

// Adding 1.5 * 2^23 rounded down leaves the floor in the last bits: two additions instead of a slow conversion.
inline constexpr float floor_magic = 12582912.0f;

// v stays within a row of the band, or the neighbouring view of the atlas would show.
__device__ inline float gathered(const ViewOnDevice& view, float u1, float v1, float last_row1, float column0) {
  v1 = fminf(fmaxf(v1, view.first_row), last_row1);
  const float tu = __fadd_rd(u1, floor_magic), tv = __fadd_rd(v1, floor_magic);
  const float corner_u = difference(tu, floor_magic);  // floor(u) + 1: the corner that four pixels share
  const float corner_v = difference(tv, floor_magic);
  const float fu = difference(u1, corner_u), fv = difference(v1, corner_v);
  const float row = difference(corner_v, difference(view.first_row, static_cast<float>(view.layer)));
  const float4 taps = tex2Dgather<float4>(view.texture, corner_u + column0, row, 0);
  const float above = fused(fu, difference(taps.z, taps.w), taps.w);
  const float below = fused(fu, difference(taps.y, taps.x), taps.x);
  return fused(fv, difference(below, above), above);
}

template <Beam beam, bool guard, bool weighted, int K, int C, class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::min_blocks)
    exact_kernel(const __grid_constant__ ViewBlock views, const SlabOnDevice slab, int chunk0) {
  const int x = static_cast<int>(blockIdx.x) * Tile::nx + Tile::x(threadIdx.x);
  const int y0 = static_cast<int>(blockIdx.y) * Tile::ny * C + Tile::y(threadIdx.x);
  const int z = (chunk0 + static_cast<int>(blockIdx.z)) * K;
  __shared__ ViewMasks masks;
  const int tile_x = static_cast<int>(blockIdx.x) * Tile::nx - slab.x0,
            tile_y = static_cast<int>(blockIdx.y) * Tile::ny * C - slab.y0;
  find_views<beam>(views, slab,
                   box_of(tile_x, tile_x + Tile::nx - 1, tile_y, tile_y + Tile::ny * C - 1, z - slab.middle_z, K),
                   masks);
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

  const float band = static_cast<float>(slab.band_rows + 1), column0 = static_cast<float>(slab.column0);
#pragma unroll 1
  for (int i = 0; i < views.count; ++i) {
    if (!masks.is_seen(i)) continue;
    const ViewOnDevice& view = views.view[i];
    const float last_row1 = view.first_row + band;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const ChunkStart start =
          chunk_start(view, static_cast<float>(x - slab.x0), static_cast<float>(y0 + c * Tile::ny - slab.y0),
                      static_cast<float>(z - slab.middle_z));
      if (masks.is_partly(i) && misses_detector<beam>(view, start, static_cast<float>(K - 1), seen_part(view, slab)))
        continue;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const WeighedPoint p = general_point<beam, true>(view, start, static_cast<float>(k), 1.0f, slab.gain);
        float value = gathered(view, p.u, p.v, last_row1, column0), weight = weighted ? p.weight : 1.0f;
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
auto exact_kernel_for(const Launch& launch) {
  if (launch.beam == Beam::parallel) return exact_kernel<Beam::parallel, false, weighted, K, C, Tile>;
  if (launch.beam == Beam::fan) return exact_kernel<Beam::fan, true, weighted, K, C, Tile>;
  if (launch.guard) return exact_kernel<Beam::cone, true, weighted, K, C, Tile>;
  return exact_kernel<Beam::cone, false, weighted, K, C, Tile>;
}

// every_case = false leaves out what a sweep does not run.
template <int K, int C, class Tile, bool every_case = true>
void launch_exact_as(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  const dim3 grid(tiles(slab.nx, Tile::nx), tiles(slab.ny, Tile::ny * C), chunks(slab.z0, slab.z1, K));
  auto kernel = exact_kernel<Beam::cone, false, true, K, C, Tile>;
  if constexpr (every_case)
    kernel = launch.weighted ? exact_kernel_for<true, K, C, Tile>(launch) : exact_kernel_for<false, K, C, Tile>(launch);
  kernel<<<grid, Tile::threads, 0, launch.stream>>>(views, slab, first_chunk(slab.z0, K));
  check_launch("the exact backprojection");
}

}  // namespace lepus::cuda
