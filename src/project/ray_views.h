// SPDX-License-Identifier: Apache-2.0
// A scan's rays in the voxel indices of a grid: what the ray models of joseph.h, siddon.h and footprint.h start from.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "project/joseph.h"
#include <lepus/geometry.h>

namespace lepus {

// Throws Error(usage) for an axis without voxels or with more than 2^20.
JosephGrid joseph_grid(const VolumeGrid& grid);
// One per view. A view is upright where
// - its detector columns are parallel to z, so that u and w are the same for a whole voxel column,
// - all of the grid lies in front of its source,
// - no ray rises by more than a row, or a slice, while it passes a layer of voxels: rows then meet a voxel column in
//   pieces side by side.
// Throws Error(geometry) for a matrix that cannot be used.
std::vector<JosephView> joseph_views(const ScanGeometry& geometry, const VolumeGrid& grid);

// A scan's rays through a grid.
struct RayViews {
  JosephGrid grid;
  std::vector<JosephView> views;
  std::int64_t columns = 0, rows = 0;
  std::int64_t pixels() const { return columns * rows; }
  std::int64_t slice_voxels() const { return std::int64_t{grid.size[0]} * grid.size[1]; }
};
RayViews ray_views(const ScanGeometry& geometry, const VolumeGrid& grid);

// Which axes rays of a detector may run along: an axis counts where its largest direction over the detector reaches the
// smallest of both others.
std::array<bool, 3> axes_along(const JosephView& view, std::int64_t columns, std::int64_t rows);
std::vector<int> axes_of(const RayViews& rays);  // of any of its views
// By how much rays that run along axis k change at most on another axis, from plane to plane.
double largest_slope(const JosephView& view, std::int64_t columns, std::int64_t rows, int k, int axis);

// Of an upright view: the smallest, over columns [first, last], of what its rays change by on their main axis.
double slowest_direction(const JosephView& view, double first, double last);

}  // namespace lepus
