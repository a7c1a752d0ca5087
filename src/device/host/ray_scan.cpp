// SPDX-License-Identifier: Apache-2.0
#include "device/host/ray_scan.h"

#include "geometry/camera.h"
#include "project/ray_views.h"

namespace lepus::host {

RayScan::RayScan(const RayProjectorSetup& its_setup)
    : setup(its_setup), grid(joseph_grid(its_setup.grid)), views(joseph_views(*its_setup.geometry, its_setup.grid)) {
  for (const Matrix34& matrix : setup.geometry->matrices) matrices.push_back(in_voxel_indices(matrix, setup.grid));
}

IndexBox RayScan::indices(const VoxelRanges& box) const {
  const std::int64_t first[3] = {box.x0, box.y0, box.z0}, last[3] = {box.x1, box.y1, box.z1};
  IndexBox out;
  for (int k = 0; k < 3; ++k) {
    out.first[k] = static_cast<int>(first[k]) - grid.middle[k];
    out.last[k] = static_cast<int>(last[k]) - grid.middle[k];
  }
  return out;
}

PixelWindow RayScan::seen_by(std::int64_t number, const VoxelRanges& box) const {
  return seen_pixels(matrices[static_cast<std::size_t>(number)], setup.geometry->beam, setup.geometry->columns,
                     setup.geometry->rows, box);
}

float RayScan::sum_plainly(std::int64_t number, std::int64_t u, std::int64_t row,
                           const SlabVoxels<const float>& slab) const {
  const IndexBox box = indices(slab_box(slab.slices));
  const std::int64_t nx = setup.grid.nx, ny = setup.grid.ny;
  float sum = 0;
  visit_voxels<float>(setup.model, view(number), grid, static_cast<double>(u), static_cast<double>(row), box,
                      [&](int x, int y, int z, float weight) {
                        const std::int64_t line = (z - box.first[2]) * ny + y - box.first[1];
                        sum += weight * slab.voxels[line * nx + x - box.first[0]];
                      });
  return sum;
}

void RayScan::add_plainly(std::int64_t number, std::int64_t u, std::int64_t row, float value, const VoxelRanges& box,
                          float* tile) const {
  const IndexBox part = indices(box);
  const std::int64_t width = box.x1 - box.x0, tile_stride = stride(box.z1 - box.z0);
  visit_voxels<float>(setup.model, view(number), grid, static_cast<double>(u), static_cast<double>(row), part,
                      [&](int x, int y, int z, float weight) {
                        const std::int64_t column = (y - part.first[1]) * width + x - part.first[0];
                        tile[column * tile_stride + z - part.first[2]] += weight * value;
                      });
}

}  // namespace lepus::host
