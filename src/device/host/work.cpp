// SPDX-License-Identifier: Apache-2.0
#include "device/host/work.h"

#include <algorithm>
#include <cmath>

#include "device/host/kernel.h"

namespace lepus::cpu {

std::vector<ColumnIndex> tiles_in_cylinder(const VolumeGrid& grid, ColumnIndex columns, double cylinder_mm) {
  // Grids count as turned into themselves with the axis a little beside their middle.
  const double reach = cylinder_mm + 0.5 * std::hypot(grid.step_mm.x, grid.step_mm.y);
  const auto nearest = [](double a, double b) { return std::clamp(0.0, std::min(a, b), std::max(a, b)); };
  std::vector<ColumnIndex> tiles;
  for (std::int64_t y = 0; y < columns.y; y += largest_tile)
    for (std::int64_t x = 0; x < columns.x; x += largest_tile) {
      const Vec3 first = grid.centre(static_cast<double>(x), static_cast<double>(y), 0);
      const Vec3 last = grid.centre(static_cast<double>(std::min(columns.x, x + largest_tile) - 1),
                                    static_cast<double>(std::min(columns.y, y + largest_tile) - 1), 0);
      if (std::hypot(nearest(first.x, last.x), nearest(first.y, last.y)) <= reach) tiles.push_back({x, y});
    }
  return tiles;
}

std::int64_t summed_columns(const VolumeGrid& grid, double cylinder_mm) {
  std::int64_t columns = 0;
  for (const ColumnIndex tile : tiles_in_cylinder(grid, {grid.nx, grid.ny}, cylinder_mm))
    columns += std::min(largest_tile, grid.nx - tile.x) * std::min(largest_tile, grid.ny - tile.y);
  return columns;
}

double tall_slices(SlabRange slab) {
  // Measured on one core of a Neoverse-V1, 256 x 256 voxels from 64 views, milliseconds for 1, 2, 4, 8 slices of a
  // chunk: 4.2, 6.3, 10.3, 18.5; for 16, 32, 48, 64: 41.2, 67.0, 96.5, 123.8. So tiles of each chunk are prepared in
  // the time of eight slices, and those of few slices, which are each a fifth slower, in the time of one of these.
  constexpr double prepare = 8, few_slower = 1.2;
  double units = 0;
  for (std::int64_t z = slab.z0 / chunk * chunk; z < slab.z1; z += chunk) {
    const std::int64_t begin = std::max(slab.z0, z) - z, end = std::min(slab.z1 - z, chunk);
    if (begin >= end) continue;
    const std::int64_t whole =
        (end + whole_vectors - 1) / whole_vectors * whole_vectors - begin / whole_vectors * whole_vectors;
    units += end - begin <= few_slices ? few_slower * static_cast<double>(end - begin + 1)
                                       : prepare + static_cast<double>(whole);
  }
  return units * chunk / (prepare + chunk);
}

}  // namespace lepus::cpu
