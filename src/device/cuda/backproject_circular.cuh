// SPDX-License-Identifier: Apache-2.0
// Backprojection of an upright orbit whose views come in groups of G = 2 (half turns) or 4 (quarter turns): where
// member 0 of a group sees a voxel, member m sees that voxel turned m times (R^m), at the same (u, v, w). The G views
// are the channels of one texel, so that one fetch serves G voxels; u and w do not change along z, so nothing is
// divided there. A thread owns C x K voxels of a half or quarter of the grid and their turned ones. For each group it
// looks at all G places: the fetch for place j brings channel m for voxel R^(j + m).
#pragma once

#include <cstdint>

#include "device/cuda/backproject_column.h"
#include "device/cuda/backproject_cull.cuh"
#include "device/cuda/backproject_tile.cuh"
#include "device/cuda/cuda_check.h"

namespace lepus::cuda {

template <int G>
struct Channels;
template <>
struct Channels<2> {
  using Type = float2;
  __device__ static float get(const float2& t, int m) { return m == 0 ? t.x : t.y; }
};
template <>
struct Channels<4> {
  using Type = float4;
  __device__ static float get(const float4& t, int m) { return m == 0 ? t.x : m == 1 ? t.y : m == 2 ? t.z : t.w; }
};

// Column (x, y) turned m times (see device/host/orbit.h).
struct TurnedColumn {
  int x, y;
};
template <int G>
__device__ inline TurnedColumn turned_column(int x, int y, int nx, int ny, int m) {
  if (G == 2) return m == 0 ? TurnedColumn{x, y} : TurnedColumn{nx - 1 - x, ny - 1 - y};
  return m == 0   ? TurnedColumn{x, y}
         : m == 1 ? TurnedColumn{nx - 1 - y, x}
         : m == 2 ? TurnedColumn{nx - 1 - x, nx - 1 - y}
                  : TurnedColumn{y, nx - 1 - x};
}

// The columns that stand for their turned ones; the middle of an odd grid turns onto itself and is left to
// middle_kernel.
template <int G>
__device__ inline bool stands_for_group(int x, int y, int nx, int ny) {
  if (G == 4) return x < (nx + 1) / 2 && y < nx / 2;
  return x < nx && (2 * y + 1 < ny || (2 * y + 1 == ny && 2 * x + 1 < nx));
}

template <Beam beam, bool guard>
__device__ inline UprightColumn shown_column(const ViewOnDevice& view, float x, float y, float z, float gain) {
  UprightColumn column = upright_column<beam>(view, x, y, z, 0.5f, gain);
  if (guard && !column.seen) column = {-8.0f, -8.0f, 0.0f, 0.0f, false};  // outside the texture: reads zero
  return column;
}

template <int G, Beam beam, bool guard, int K, int C, class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::min_blocks)
    circular_kernel(const __grid_constant__ ViewBlock views, const SlabOnDevice slab, int chunk0) {
  const int x = static_cast<int>(blockIdx.x) * Tile::nx + Tile::x(threadIdx.x);
  const int y0 = static_cast<int>(blockIdx.y) * Tile::ny * C + Tile::y(threadIdx.x);
  const int z = (chunk0 + static_cast<int>(blockIdx.z)) * K;
  __shared__ ViewMasks masks[G];  // one for each place
  {
    const int tile_x = static_cast<int>(blockIdx.x) * Tile::nx, tile_y = static_cast<int>(blockIdx.y) * Tile::ny * C;
    for (int j = 0; j < G; ++j) {
      const auto a = turned_column<G>(tile_x, tile_y, slab.nx, slab.ny, j);
      const auto b = turned_column<G>(tile_x + Tile::nx - 1, tile_y + Tile::ny * C - 1, slab.nx, slab.ny, j);
      find_views<beam>(views, slab, box_of(min(a.x, b.x), max(a.x, b.x), min(a.y, b.y), max(a.y, b.y), z, K), masks[j]);
    }
  }
  const std::int64_t slice = static_cast<std::int64_t>(slab.nx) * slab.ny;
  float* const first = slab.data + (z - slab.z0) * slice;

  float sum[C][K][G];
  const auto each_voxel = [&](const auto& act) {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const int y = y0 + c * Tile::ny;
      if (!stands_for_group<G>(x, y, slab.nx, slab.ny)) continue;
#pragma unroll
      for (int m = 0; m < G; ++m) {
        const TurnedColumn place = turned_column<G>(x, y, slab.nx, slab.ny, m);
        float* const column = first + static_cast<std::int64_t>(place.y) * slab.nx + place.x;
#pragma unroll
        for (int k = 0; k < K; ++k)
          if (z + k >= slab.z0 && z + k < slab.z1) act(column[k * slice], sum[c][k][m]);
      }
    }
  };
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int m = 0; m < G; ++m) sum[c][k][m] = 0.0f;
  each_voxel([](float& voxel, float& s) { s = voxel; });

#pragma unroll 1
  for (int i = 0; i < views.count; ++i) {
    const ViewOnDevice& view = views.view[i];
#pragma unroll
    for (int j = 0; j < G; ++j) {
      if (!masks[j].is_seen(i)) continue;
#pragma unroll
      for (int c = 0; c < C; ++c) {
        const TurnedColumn place = turned_column<G>(x, y0 + c * Tile::ny, slab.nx, slab.ny, j);
        const auto column = shown_column<beam, guard>(view, static_cast<float>(place.x), static_cast<float>(place.y),
                                                      static_cast<float>(z), slab.gain);
        if (masks[j].is_partly(i) && misses_detector(column, static_cast<float>(K - 1), seen_part(view, slab)))
          continue;
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const float v = difference(fused(column.v_step, static_cast<float>(k), column.v), view.first_row);
          const auto texel = tex2DLayered<typename Channels<G>::Type>(view.texture, column.u, v, view.layer);
#pragma unroll
          for (int m = 0; m < G; ++m)
            sum[c][k][(j + m) % G] = fused(Channels<G>::get(texel, m), column.weight, sum[c][k][(j + m) % G]);
        }
      }
    }
  }
  each_voxel([](float& voxel, float& s) { voxel = s; });
}

// The column in the middle of an odd grid: every member of a group sees it, so its sum takes all channels in turn.
template <int G, Beam beam>
__global__ void middle_kernel(const __grid_constant__ ViewBlock views, const SlabOnDevice slab) {
  const int z = slab.z0 + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (z >= slab.z1) return;
  const int x = slab.nx / 2, y = slab.ny / 2;
  float& voxel = slab.data[(static_cast<std::int64_t>(z - slab.z0) * slab.ny + y) * slab.nx + x];
  float sum = voxel;
  for (int i = 0; i < views.count; ++i) {
    const ViewOnDevice& view = views.view[i];
    const auto column =
        shown_column<beam, true>(view, static_cast<float>(x), static_cast<float>(y), static_cast<float>(z), slab.gain);
    const auto texel = tex2DLayered<typename Channels<G>::Type>(view.texture, column.u,
                                                                difference(column.v, view.first_row), view.layer);
    for (int m = 0; m < G; ++m) sum = fused(Channels<G>::get(texel, m), column.weight, sum);
  }
  voxel = sum;
}

template <int G, Beam beam, bool guard, int K, int C, class Tile>
void run_circular(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  const int nx = G == 4 ? (slab.nx + 1) / 2 : slab.nx, ny = G == 4 ? slab.ny / 2 : (slab.ny + 1) / 2;
  const dim3 grid(tiles(nx, Tile::nx), tiles(ny, Tile::ny * C), chunks(slab.z0, slab.z1, K));
  if (ny > 0) {
    circular_kernel<G, beam, guard, K, C, Tile>
        <<<grid, Tile::threads, 0, launch.stream>>>(views, slab, first_chunk(slab.z0, K));
    check_launch("the backprojection of a circular orbit");
  }
  if (slab.nx % 2 == 1 && slab.ny % 2 == 1) {
    middle_kernel<G, beam><<<tiles(slab.z1 - slab.z0, 64), 64, 0, launch.stream>>>(views, slab);
    check_launch("the backprojection of the middle column");
  }
}

// every_beam = false leaves out what a sweep does not run.
template <int G, int K, int C, class Tile, bool every_beam = true>
void launch_circular_as(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  if constexpr (every_beam) {
    if (launch.beam == Beam::parallel) return run_circular<G, Beam::parallel, false, K, C, Tile>(views, slab, launch);
    if (launch.beam == Beam::fan) return run_circular<G, Beam::fan, true, K, C, Tile>(views, slab, launch);
    if (launch.guard) return run_circular<G, Beam::cone, true, K, C, Tile>(views, slab, launch);
  }
  run_circular<G, Beam::cone, false, K, C, Tile>(views, slab, launch);
}

}  // namespace lepus::cuda
