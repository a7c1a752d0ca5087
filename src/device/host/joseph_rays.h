// SPDX-License-Identifier: Apache-2.0
// Joseph's rays of views that do not stand upright (tilted detectors, wobbling orbits): every ray has a place of its
// own in every plane. Lanes are rows of a detector column; with z fastest in memory two of a sample's four voxels come
// with one load.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/row_band.h"
#include "project/joseph.h"

namespace lepus::cpu {

// Rays of detector columns, rows side by side, with planes on x or y.
struct JosephRays {
  std::int64_t stride = 0;  // floats per column
  std::vector<float> a0, da, b0, db, value;
  // Planes [first, last) on x and on y; none where the ray has them on another axis.
  std::vector<float> first[2], last[2];

  void resize(std::int64_t columns, std::int64_t rows);
  void set(std::int64_t column, std::int64_t row, const JosephRay& ray, float its_value);
};

// One column of rays through the slices held, z fastest and with voxels of zero around them:
// voxels[((y + 1) * (nx + 3) + x + 1) * stride + z - z0 + 1]. Sums are not yet multiplied by the way.
struct JosephRayForward {
  JosephGrid grid;
  const JosephRays* rays = nullptr;
  std::int64_t column = 0, rows = 0;
  const float* voxels = nullptr;
  std::int64_t stride = 0, z0 = 0, z1 = 0;
  float* sums = nullptr;
};

// One plane of a tile: its voxel columns [a_first, a_last) on the plane's first axis. Rays of columns [u0, u1) and rows
// [row0, row1) share their values out to pairs of slices: pairs[((a - a_first + 1) * cells + z - z0 + 1) * 2].
struct JosephRayBack {
  JosephGrid grid;
  const JosephRays* rays = nullptr;
  std::int64_t u0 = 0, u1 = 0, row0 = 0, row1 = 0;
  int axis = 0, plane = 0;  // from the middle
  std::int64_t a_first = 0, a_last = 0, z0 = 0, z1 = 0, cells = 0;
  float* pairs = nullptr;
  std::int32_t* offsets = nullptr;  // working memory: as long as a column of rays, and four times that
  float* shares = nullptr;
};

struct JosephRayKernel {
  void (*forward)(const JosephRayForward&);
  void (*back)(const JosephRayBack&);
  // voxels[z] += the pairs' first of slice z and second of the slice below.
  void (*add_pairs)(const float* pairs, std::int64_t slices, float* voxels);
};
JosephRayKernel chosen_joseph_ray_kernel();

}  // namespace lepus::cpu
