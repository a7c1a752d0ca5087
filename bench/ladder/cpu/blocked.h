// SPDX-License-Identifier: Apache-2.0
// The loops that the blocked step and the SIMD step share: block by block, all views, line by line. What a line does
// with a view is theirs:
//   add_line(picture, line, count, sums) adds `count` voxels whose taps all lie in the picture.
#pragma once

#include "bench/ladder/cpu/steps.h"
#include "bench/ladder/cpu/tile.h"

namespace lepus::ladder {

template <class AddLine>
void add_in_blocks(const Problem& problem, float* volume, ThreadPool& threads, const AddLine& add_line) {
  const Scene& scene = *problem.scene;
  const std::int64_t n = problem.size, along = tiles_along(n);
  threads.parallel_for(0, along * along * along, 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t index = first; index < last; ++index) {
      const Tile tile = tile_of(n, index);
      for (std::int64_t view = 0; view < scene.views(); ++view) {
        const Matrix& m = problem.matrices[static_cast<std::size_t>(view)];
        const Picture picture{scene.view(view), scene.geometry.columns, scene.geometry.rows};
        const bool inside = lies_inside(m, tile, picture);
        for (std::int64_t z = tile.z0; z < tile.z1; ++z)
          for (std::int64_t y = tile.y0; y < tile.y1; ++y) {
            const VoxelLine line = voxel_line(m, tile.x0, y, z);
            float* const sums = volume + (z * n + y) * n + tile.x0;
            if (inside) {
              add_line(picture, line, tile.x1 - tile.x0, sums);
              continue;
            }
            for (std::int64_t i = 0; i < tile.x1 - tile.x0; ++i) {
              const auto step = static_cast<float>(i);
              const float r = 1 / (line.w + step * line.dw);
              sums[i] += bilinear(picture, (line.u + step * line.du) * r, (line.v + step * line.dv) * r) * r * r;
            }
          }
      }
    }
  });
}

}  // namespace lepus::ladder
