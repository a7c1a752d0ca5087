// SPDX-License-Identifier: Apache-2.0
// What the matrices of a scan allow the kernels to share: is v affine in z while u and w do not depend on it (a
// circular orbit, an upright detector), and do views a quarter or half turn apart see turned voxels alike?
// In: matrices in voxel indices. Out: the order of the views with symmetric ones side by side.
#pragma once

#include <cstdint>
#include <vector>

#include <lepus/geometry.h>

namespace lepus {

struct Orbit {
  bool upright = false;             // every view: u and w are constant along z, v is affine
  int group = 1;                    // views that share coordinates: 4 (quarter turns), 2 (half turns) or 1
  std::vector<std::int64_t> order;  // views, groups side by side: member k sees R^k(voxel) where member 0 sees voxel
  std::vector<Matrix34> matrices;   // in voxel indices, in that order
};

// R turns the voxel columns of a square grid by 90 degrees about its middle: (x, y) -> (n-1-y, x). With group 2 it
// turns any grid by 180 degrees: (x, y) -> (nx-1-x, ny-1-y).
struct ColumnIndex {
  std::int64_t x, y;
};
inline ColumnIndex turned(ColumnIndex c, const VolumeGrid& grid, int group, int times) {
  for (int i = 0; i < times; ++i)
    c = group == 4 ? ColumnIndex{grid.nx - 1 - c.y, c.x} : ColumnIndex{grid.nx - 1 - c.x, grid.ny - 1 - c.y};
  return c;
}

Orbit examine_orbit(const ScanGeometry& geometry, const VolumeGrid& grid);

}  // namespace lepus
