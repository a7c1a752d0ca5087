// SPDX-License-Identifier: Apache-2.0
// A block of voxels that stays in the cache while the views pass by, and what it sees of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bench/ladder/problem.h"

namespace lepus::ladder {

struct Picture {
  const float* pixels;
  std::int64_t columns, rows;
};

// Taps outside the picture are zero; each is asked for.
inline float bilinear(const Picture& picture, float u, float v) {
  if (!(u > -1.0F && v > -1.0F && u < static_cast<float>(picture.columns) && v < static_cast<float>(picture.rows)))
    return 0.0F;
  const float left = std::floor(u), top = std::floor(v);
  const auto column = static_cast<std::int64_t>(left), row = static_cast<std::int64_t>(top);
  const float a = u - left, b = v - top;
  const auto tap = [&](std::int64_t c, std::int64_t r) {
    return c < 0 || r < 0 || c >= picture.columns || r >= picture.rows ? 0.0F : picture.pixels[r * picture.columns + c];
  };
  return (1 - b) * ((1 - a) * tap(column, row) + a * tap(column + 1, row)) +
         b * ((1 - a) * tap(column, row + 1) + a * tap(column + 1, row + 1));
}

// 32^3 voxels are 128 KiB, half of a usual L2 cache; they see about 80 x 80 pixels of a view, 26 KiB, which the L1
// cache holds.
inline constexpr std::int64_t tile_edge = 32;

struct Tile {
  std::int64_t x0, x1, y0, y1, z0, z1;
};
inline std::int64_t tiles_along(std::int64_t size) { return (size + tile_edge - 1) / tile_edge; }
inline Tile tile_of(std::int64_t size, std::int64_t index) {
  const std::int64_t n = tiles_along(size);
  const std::int64_t x = index % n * tile_edge, y = index / n % n * tile_edge, z = index / (n * n) * tile_edge;
  return {x, std::min(x + tile_edge, size), y, std::min(y + tile_edge, size), z, std::min(z + tile_edge, size)};
}

// u w, v w and w of the first voxel of a line, and their change from voxel to voxel along x.
struct VoxelLine {
  float u, v, w, du, dv, dw;
};
inline VoxelLine voxel_line(const Matrix& m, std::int64_t i, std::int64_t j, std::int64_t k) {
  const auto x = static_cast<float>(i), y = static_cast<float>(j), z = static_cast<float>(k);
  const auto at = [&](const float* row) { return row[0] * x + (row[1] * y + (row[2] * z + row[3])); };
  return {at(m.u), at(m.v), at(m.w), m.u[0], m.v[0], m.w[0]};
}

// Do all taps of all voxels lie in the picture? The block's projection is the hull of its corners' projections; half a
// pixel is left for rounding.
inline bool lies_inside(const Matrix& m, const Tile& t, const Picture& picture) {
  for (int corner = 0; corner < 8; ++corner) {
    const VoxelLine c = voxel_line(m, (corner & 1) != 0 ? t.x1 - 1 : t.x0, (corner & 2) != 0 ? t.y1 - 1 : t.y0,
                                   (corner & 4) != 0 ? t.z1 - 1 : t.z0);
    const float u = c.u / c.w, v = c.v / c.w;
    if (!(c.w > 0 && u > 0.5F && v > 0.5F && u < static_cast<float>(picture.columns) - 1.5F &&
          v < static_cast<float>(picture.rows) - 1.5F))
      return false;
  }
  return true;
}

}  // namespace lepus::ladder
