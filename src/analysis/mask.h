// SPDX-License-Identifier: Apache-2.0
// Which voxels count: inside a cylinder around the rotation axis, a ball around its centre, a box, where the reference
// is above or below a value, or where a function says so. All conditions that are given must hold.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <lepus/geometry.h>

namespace lepus {

struct VoxelMask {
  std::optional<double> radius_mm;              // distance from the axis at most
  std::optional<double> ball_mm;                // distance from the rotation centre at most
  std::optional<std::array<double, 6>> box_mm;  // x0, x1, y0, y1, z0, z1 of voxel centres, both ends included
  std::optional<double> reference_above, reference_below;
  std::function<bool(Vec3)> inside;  // of a voxel's centre; called from several threads
  // Clears keep[i] where voxel (i, j, k) does not count; called from several threads.
  std::function<void(std::int64_t j, std::int64_t k, std::uint8_t* keep)> rows;
  std::string inside_text;  // what `inside` and `rows` are, for reports

  bool empty() const;
  std::string description() const;  // "radius <= 20 mm, reference > 0.1"; "all voxels" where nothing is given

  // For the row (j, k) of the grid: keep[i] = 1 where voxel (i, j, k) counts. `reference` are its nx values.
  void row(const VolumeGrid& grid, std::int64_t j, std::int64_t k, const float* reference, std::uint8_t* keep) const;
};

// Voxels that a scan sees: within the field-of-view radius, and projected into the detector's rows by every view (by
// at most `views_checked` of them, spread over the scan; the borders of the seen region are smooth in the angle).
VoxelMask field_of_view_mask(const ScanGeometry& geometry, std::int64_t views_checked = 64);

}  // namespace lepus
