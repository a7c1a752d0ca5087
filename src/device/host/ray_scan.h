// SPDX-License-Identifier: Apache-2.0
// What the host's operators share: a scan's rays in voxel indices, single rays by plain loops, the slab with z fastest
// and its tiles of voxel columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/threads.h"
#include "device/host/joseph_columns.h"
#include "device/host/z_fastest.h"
#include "device/ray_projector.h"
#include "project/seen_pixels.h"
#include "project/visit_voxels.h"

namespace lepus::host {

// Voxel columns per side of a tile: with a few hundred slices it stays in the L2 cache.
inline constexpr std::int64_t ray_tile = 16;

struct RayScan {
  explicit RayScan(const RayProjectorSetup& its_setup);

  RayProjectorSetup setup;
  JosephGrid grid;
  std::vector<JosephView> views;
  std::vector<Matrix34> matrices;  // to pixels from voxel indices

  const JosephView& view(std::int64_t number) const { return views[static_cast<std::size_t>(number)]; }
  IndexBox indices(const VoxelRanges& box) const;
  VoxelRanges slab_box(SlabRange slices) const { return {0, setup.grid.nx, 0, setup.grid.ny, slices.z0, slices.z1}; }
  PixelWindow seen_by(std::int64_t number, const VoxelRanges& box) const;

  // One ray by plain loops: its sum, and its value into a tile that lies with z fastest.
  float sum_plainly(std::int64_t number, std::int64_t u, std::int64_t row, const SlabVoxels<const float>& slab) const;
  void add_plainly(std::int64_t number, std::int64_t u, std::int64_t row, float value, const VoxelRanges& box,
                   float* tile) const;

  // Floats per voxel column.
  static std::int64_t stride(std::int64_t slices) { return odd_cache_lines(slices + cpu::joseph_padding); }

  // add(tile, its voxels) for every tile of the slab's voxel columns, on all threads; a tile lies with z fastest.
  template <class Add>
  void each_tile(const SlabVoxels<float>& slab, ThreadPool& threads, const Add& add) const {
    const std::int64_t nx = setup.grid.nx, ny = setup.grid.ny, slices = slab.slices.slices();
    const ZFastest order{nx, ny, slices, stride(slices)};
    const std::int64_t tiles_x = (nx + ray_tile - 1) / ray_tile, tiles_y = (ny + ray_tile - 1) / ray_tile;
    threads.parallel_for(0, tiles_x * tiles_y, 1, [&](std::int64_t first, std::int64_t last, int) {
      Buffer<float> tile(ray_tile * ray_tile * order.stride + cpu::joseph_padding);
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t x0 = task % tiles_x * ray_tile, y0 = task / tiles_x * ray_tile;
        const VoxelRanges box{
            x0, std::min(x0 + ray_tile, nx), y0, std::min(y0 + ray_tile, ny), slab.slices.z0, slab.slices.z1};
        order.each_voxel(box.x0, box.x1, box.y0, box.y1,
                         [&](std::int64_t from, std::int64_t to) { tile.data()[to] = slab.voxels[from]; });
        add(box, tile.data());
        order.each_voxel(box.x0, box.x1, box.y0, box.y1,
                         [&](std::int64_t to, std::int64_t from) { slab.voxels[to] = tile.data()[from]; });
      }
    });
  }
};

// run(first, count, kind) for neighbouring views of one kind, one run after the other.
template <class KindOf, class Run>
void each_run(std::int64_t first, std::int64_t count, const KindOf& kind_of, const Run& run) {
  for (std::int64_t begin = first; begin < first + count;) {
    const auto kind = kind_of(begin);
    std::int64_t end = begin + 1;
    while (end < first + count && kind_of(end) == kind) ++end;
    run(begin, end - begin, kind);
    begin = end;
  }
}

// Some of the views of a piece.
template <class Value>
ViewRows<Value> part_of(const ViewRows<Value>& all, std::int64_t columns, std::int64_t first, std::int64_t count) {
  return {all.values + (first - all.first_view) * all.rows.size() * columns, first, count, all.rows};
}

}  // namespace lepus::host
