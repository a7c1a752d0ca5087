// SPDX-License-Identifier: Apache-2.0
#include "analysis/mask.h"

#include <algorithm>
#include <vector>

#include "core/format.h"
#include "geometry/row_band.h"

namespace lepus {

bool VoxelMask::empty() const {
  return !radius_mm && !ball_mm && !box_mm && !reference_above && !reference_below && !inside && !rows;
}

std::string VoxelMask::description() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (radius_mm) add(format("distance from the axis <= {:g} mm", *radius_mm));
  if (ball_mm) add(format("distance from the centre <= {:g} mm", *ball_mm));
  if (box_mm)
    add(format("x in [{:g}, {:g}], y in [{:g}, {:g}], z in [{:g}, {:g}] mm", (*box_mm)[0], (*box_mm)[1], (*box_mm)[2],
               (*box_mm)[3], (*box_mm)[4], (*box_mm)[5]));
  if (reference_above) add(format("reference > {:g}", *reference_above));
  if (reference_below) add(format("reference < {:g}", *reference_below));
  if (inside || rows) add(inside_text.empty() ? "a given region" : inside_text);
  return text.empty() ? "all voxels" : text;
}

void VoxelMask::row(const VolumeGrid& grid, std::int64_t j, std::int64_t k, const float* reference,
                    std::uint8_t* keep) const {
  std::fill(keep, keep + grid.nx, std::uint8_t{1});
  if (empty()) return;
  for (std::int64_t i = 0; i < grid.nx; ++i) {
    const Vec3 p = grid.centre(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k));
    const double value = reference[i];
    bool counts = true;
    if (radius_mm) counts = counts && p.x * p.x + p.y * p.y <= *radius_mm * *radius_mm;
    if (ball_mm) counts = counts && dot(p, p) <= *ball_mm * *ball_mm;
    if (box_mm) {
      const auto& b = *box_mm;
      counts = counts && p.x >= b[0] && p.x <= b[1] && p.y >= b[2] && p.y <= b[3] && p.z >= b[4] && p.z <= b[5];
    }
    if (reference_above) counts = counts && value > *reference_above;
    if (reference_below) counts = counts && value < *reference_below;
    if (counts && inside) counts = inside(p);
    keep[i] = counts ? 1 : 0;
  }
  if (rows) rows(j, k, keep);
}

VoxelMask field_of_view_mask(const ScanGeometry& geometry, std::int64_t views_checked) {
  VoxelMask mask;
  mask.radius_mm = field_of_view_radius_mm(geometry);
  const std::int64_t step = std::max<std::int64_t>(1, geometry.views() / std::max<std::int64_t>(1, views_checked));
  std::vector<Matrix34> matrices;
  for (std::int64_t view = 0; view < geometry.views(); view += step)
    matrices.push_back(geometry.matrices[static_cast<std::size_t>(view)]);
  const bool divides = geometry.beam != Beam::fan;             // the second row of a fan's matrix gives v itself
  const double last = static_cast<double>(geometry.rows - 1);  // beyond the last pixel centres data fade to nothing
  mask.inside = [matrices = std::move(matrices), divides, last](Vec3 p) {
    for (const Matrix34& matrix : matrices) {
      const Vec3 h = transform(matrix, p);
      const double v = divides ? h.y / h.z : h.y;
      if (!(h.z > 0 && v >= 0 && v <= last)) return false;
    }
    return true;
  };
  mask.inside_text = "inside the rows of every view";
  return mask;
}

}  // namespace lepus
