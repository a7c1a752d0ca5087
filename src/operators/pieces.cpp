// SPDX-License-Identifier: Apache-2.0
#include "operators/pieces.h"

#include <algorithm>

#include "geometry/camera.h"
#include "project/seen_pixels.h"

namespace lepus {

SliceRows::SliceRows(const ScanGeometry& geometry, const VolumeGrid& grid)
    : layers_((grid.nz + layer - 1) / layer), slices_(grid.nz) {
  bands_.reserve(static_cast<std::size_t>(geometry.views() * layers_));
  for (const Matrix34& matrix : geometry.matrices) {
    const Matrix34 in_voxels = in_voxel_indices(matrix, grid);
    for (std::int64_t z = 0; z < grid.nz; z += layer) {
      const PixelWindow seen = seen_pixels(in_voxels, geometry.beam, geometry.columns, geometry.rows,
                                           {0, grid.nx, 0, grid.ny, z, std::min(z + layer, grid.nz)});
      bands_.push_back({seen.v0, seen.v1});
    }
  }
}

RowBand SliceRows::rows(ViewRange views, SlabRange slab) const {
  RowBand all;
  if (slab.slices() <= 0) return all;
  for (std::int64_t view = views.first; view < views.first + views.count; ++view)
    for (std::int64_t l = slab.z0 / layer; l <= (slab.z1 - 1) / layer; ++l) all = joined_rows(all, band(view, l));
  return all;
}

SlabRange SliceRows::slices(ViewRange views, RowBand rows) const {
  std::int64_t first = layers_, last = -1;
  for (std::int64_t view = views.first; view < views.first + views.count; ++view)
    for (std::int64_t l = 0; l < layers_; ++l)
      if (common_rows(band(view, l), rows).size() > 0) {
        first = std::min(first, l);
        last = std::max(last, l);
      }
  if (last < first) return {};
  return {first * layer, std::min((last + 1) * layer, slices_)};
}

}  // namespace lepus
