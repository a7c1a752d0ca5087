// SPDX-License-Identifier: Apache-2.0
// The voxels that count for a pixel, each with its weight in millimetres: one row of the matrix A. What the
// double-precision reference, the sparse matrix and the plain loops of the host are made of.
// visit(x, y, z, weight) is called for voxels of a box, layer by layer along the ray's main axis; a box that is a part
// of another is given the same weights. Indices count from the grid's middle voxel.
#pragma once

#include <algorithm>
#include <cmath>

#include "project/footprint.h"
#include "project/joseph.h"
#include "project/siddon.h"
#include <lepus/operator.h>

namespace lepus {

// Voxels [first, last) on x, y and z.
struct IndexBox {
  int first[3] = {}, last[3] = {};
};

inline IndexBox whole_grid(const JosephGrid& grid) {
  IndexBox box;
  for (int k = 0; k < 3; ++k) {
    box.first[k] = -grid.middle[k];
    box.last[k] = grid.size[k] - grid.middle[k];
  }
  return box;
}

// Calls visit for voxel i of the main axis, j and k of the other two, if the box has it.
template <class T, class Visit>
void visit_if_inside(const IndexBox& box, int axis, int i, int j, int k, T weight, const Visit& visit) {
  int at[3];
  at[axis] = i;
  at[joseph_axis_a(axis)] = j;
  at[joseph_axis_b(axis)] = k;
  for (int n = 0; n < 3; ++n)
    if (at[n] < box.first[n] || at[n] >= box.last[n]) return;
  visit(at[0], at[1], at[2], weight);
}

// Line: JosephLine (double precision) or JosephRay (single).
template <class Line, class Visit>
void visit_joseph(const Line& line, const IndexBox& box, const Visit& visit) {
  using T = decltype(line.a0);
  const int first = std::max(line.first, box.first[line.axis]), last = std::min(line.last, box.last[line.axis]);
  for (int i = first; i < last; ++i) {
    const T at_a = line.a0 + static_cast<T>(i) * line.da, at_b = line.b0 + static_cast<T>(i) * line.db;
    const T cell_a = std::floor(at_a), cell_b = std::floor(at_b), fa = at_a - cell_a, fb = at_b - cell_b;
    const int j = static_cast<int>(cell_a), k = static_cast<int>(cell_b);
    visit_if_inside(box, line.axis, i, j, k, (T(1) - fa) * (T(1) - fb) * line.way_mm, visit);
    visit_if_inside(box, line.axis, i, j + 1, k, fa * (T(1) - fb) * line.way_mm, visit);
    visit_if_inside(box, line.axis, i, j, k + 1, (T(1) - fa) * fb * line.way_mm, visit);
    visit_if_inside(box, line.axis, i, j + 1, k + 1, fa * fb * line.way_mm, visit);
  }
}

template <class T, class Visit>
void visit_siddon(const SiddonRay<T>& ray, const IndexBox& box, const Visit& visit) {
  const int first = std::max(ray.first, box.first[ray.axis]), last = std::min(ray.last, box.last[ray.axis]);
  for (int i = first; i < last; ++i) {
    const int j0 = siddon_first(ray.a0, ray.da, i), k0 = siddon_first(ray.b0, ray.db, i);
    for (int k = k0; k < k0 + 2; ++k)
      for (int j = j0; j < j0 + 2; ++j)
        if (const T length = siddon_length(ray, i, j, k); length > 0)
          visit_if_inside(box, ray.axis, i, j, k, length, visit);
  }
}

template <class T, class Visit>
void visit_footprint(const FootprintRay<T>& ray, const IndexBox& box, const Visit& visit) {
  const int a = joseph_axis_a(ray.axis), b = joseph_axis_b(ray.axis);
  const int first = std::max(ray.first, box.first[ray.axis]), last = std::min(ray.last, box.last[ray.axis]);
  for (int i = first; i < last; ++i) {
    const FootprintLayer<T> layer = footprint_layer(ray, i);
    const IndexRange columns = footprint_indices(layer.on_a, layer.a);
    for (int j = std::max(columns.first, box.first[a]); j <= std::min(columns.last, box.last[a] - 1); ++j) {
      const FootprintColumn<T> column = footprint_column(layer, j);
      if (!(column.share > 0)) continue;
      const IndexRange rows = footprint_indices(column.on_b, column.b);
      for (int k = std::max(rows.first, box.first[b]); k <= std::min(rows.last, box.last[b] - 1); ++k)
        if (const T share = footprint_row(column, k); share > 0)
          visit_if_inside(box, ray.axis, i, j, k, ray.way_mm * column.share * share, visit);
    }
  }
}

// The voxels of pixel (u, v), in the precision T. RayModel::voxel has Joseph's A.
template <class T, class Visit>
void visit_voxels(RayModel model, const JosephView& view, const JosephGrid& grid, double u, double v,
                  const IndexBox& box, const Visit& visit) {
  if (model == RayModel::siddon)
    visit_siddon(siddon_ray<T>(view, grid, u, v), box, visit);
  else if (model == RayModel::footprint)
    visit_footprint(footprint_ray<T>(view, grid, u, v), box, visit);
  else if constexpr (sizeof(T) == sizeof(float))
    visit_joseph(joseph_ray(joseph_line(view, grid, u, v)), box, visit);
  else
    visit_joseph(joseph_line(view, grid, u, v), box, visit);
}

}  // namespace lepus
