// SPDX-License-Identifier: Apache-2.0
// Operators as they are written: for every pixel its voxels (project/visit_voxels.h), in single or double precision.
#include <algorithm>
#include <string>
#include <vector>

#include "core/memory.h"
#include "device/host/device.h"
#include "device/host/ray_projector.h"
#include "geometry/camera.h"
#include "project/interpolate.h"
#include "project/detector_point.h"
#include "project/ray_views.h"
#include "project/seen_pixels.h"
#include "project/visit_voxels.h"

namespace lepus::host {
namespace {

// Voxel columns per side of a tile: rays are set up once per tile, and its sums stay in the cache.
constexpr std::int64_t plain_tile = 32;

template <class T>
class PlainProjector final : public RayProjector {
public:
  explicit PlainProjector(const RayProjectorSetup& setup)
      : setup_(setup), grid_(joseph_grid(setup.grid)), views_(joseph_views(*setup.geometry, setup.grid)) {
    for (const Matrix34& matrix : setup.geometry->matrices) matrices_.push_back(in_voxel_indices(matrix, setup.grid));
  }

  std::string description() const override {
    return sizeof(T) == sizeof(double) ? "plain loops, double precision" : "plain loops";
  }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t, std::int64_t) const override {
    return slices * plain_tile * plain_tile * std::int64_t{sizeof(T)};  // per thread
  }

  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) override {
    const std::int64_t rows = out.rows.size(), columns = setup_.geometry->columns;
    IndexBox box = whole_grid(grid_);
    box.first[2] = static_cast<int>(slab.slices.z0) - grid_.middle[2];
    box.last[2] = static_cast<int>(slab.slices.z1) - grid_.middle[2];
    const float* voxels = slab.voxels - slab.slices.z0 * setup_.grid.nx * setup_.grid.ny;
    threads_of(queue).parallel_for(0, out.views * rows, 4, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t line = first; line < last; ++line) {
        const JosephView& view = views_[static_cast<std::size_t>(out.first_view + line / rows)];
        for (std::int64_t u = 0; u < columns; ++u) {
          T sum = 0;
          visit_voxels<T>(
              setup_.model, view, grid_, static_cast<double>(u), static_cast<double>(out.rows.first + line % rows), box,
              [&](int x, int y, int z, T weight) { sum += weight * static_cast<T>(voxels[offset(x, y, z)]); });
          out.values[line * columns + u] = static_cast<float>(sum);
        }
      }
    });
  }

  void adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) override {
    const VolumeGrid& grid = setup_.grid;
    const std::int64_t tiles_x = (grid.nx + plain_tile - 1) / plain_tile,
                       tiles_y = (grid.ny + plain_tile - 1) / plain_tile;
    threads_of(queue).parallel_for(0, tiles_x * tiles_y, 1, [&](std::int64_t first, std::int64_t last, int) {
      Buffer<T> sums(plain_tile * plain_tile * slab.slices.slices());
      for (std::int64_t tile = first; tile < last; ++tile) {
        const std::int64_t x0 = tile % tiles_x * plain_tile, y0 = tile / tiles_x * plain_tile;
        const VoxelRanges box{x0,
                              std::min(x0 + plain_tile, grid.nx),
                              y0,
                              std::min(y0 + plain_tile, grid.ny),
                              slab.slices.z0,
                              slab.slices.z1};
        for (std::int64_t view = in.first_view; view < in.first_view + in.views; ++view)
          add_view(in, view, box, sums, slab);
      }
    });
  }

private:
  std::int64_t offset(int x, int y, int z) const {
    return (std::int64_t{z + grid_.middle[2]} * grid_.size[1] + y + grid_.middle[1]) * grid_.size[0] + x +
           grid_.middle[0];
  }

  // A view's part of a tile is summed by itself and then added: so a cut between any two views changes nothing.
  void add_view(const ViewRows<const float>& in, std::int64_t view, const VoxelRanges& box, Buffer<T>& sums,
                const SlabVoxels<float>& slab) const {
    const std::int64_t columns = setup_.geometry->columns;
    const Matrix34& matrix = matrices_[static_cast<std::size_t>(view)];
    const PixelWindow seen = seen_pixels(matrix, setup_.geometry->beam, columns, setup_.geometry->rows, box);
    if (seen.empty()) return;
    const float* values = in.values + ((view - in.first_view) * in.rows.size() - in.rows.first) * columns;
    const std::int64_t width = box.x1 - box.x0, height = box.y1 - box.y0;
    std::fill(sums.data(), sums.data() + width * height * (box.z1 - box.z0), T(0));
    if (setup_.model == RayModel::voxel)
      sample_at_voxels(matrix, values, in.rows, box, sums);
    else
      add_rays(view, values, {std::max(seen.v0, in.rows.first), std::min(seen.v1, in.rows.last)}, seen, box, sums);
    const T* sum = sums.data();
    for (std::int64_t z = box.z0; z < box.z1; ++z)
      for (std::int64_t y = box.y0; y < box.y1; ++y) {
        float* out = slab.voxels + ((z - slab.slices.z0) * setup_.grid.ny + y) * setup_.grid.nx + box.x0;
        for (std::int64_t x = 0; x < width; ++x) out[x] += static_cast<float>(*sum++);
      }
  }

  void add_rays(std::int64_t view, const float* values, RowBand rows, const PixelWindow& seen, const VoxelRanges& box,
                Buffer<T>& sums) const {
    const JosephView& rays = views_[static_cast<std::size_t>(view)];
    const std::int64_t columns = setup_.geometry->columns, width = box.x1 - box.x0, height = box.y1 - box.y0;
    const std::int64_t first[3] = {box.x0, box.y0, box.z0}, last[3] = {box.x1, box.y1, box.z1};
    IndexBox part;
    for (int k = 0; k < 3; ++k) {
      part.first[k] = static_cast<int>(first[k]) - grid_.middle[k];
      part.last[k] = static_cast<int>(last[k]) - grid_.middle[k];
    }
    for (std::int64_t v = rows.first; v < rows.last; ++v)
      for (std::int64_t u = seen.u0; u < seen.u1; ++u) {
        const T value = static_cast<T>(values[v * columns + u]);
        if (value == 0) continue;
        visit_voxels<T>(setup_.model, rays, grid_, static_cast<double>(u), static_cast<double>(v), part,
                        [&](int x, int y, int z, T weight) {
                          const std::int64_t at = ((z - part.first[2]) * height + y - part.first[1]) * width;
                          sums.data()[at + x - part.first[0]] += weight * value;
                        });
      }
  }

  // The view, linear between pixels, at every voxel's centre.
  void sample_at_voxels(const Matrix34& matrix, const float* values, RowBand held, const VoxelRanges& box,
                        Buffer<T>& sums) const {
    const ScanGeometry& geometry = *setup_.geometry;
    T* sum = sums.data();
    for (std::int64_t z = box.z0; z < box.z1; ++z)
      for (std::int64_t y = box.y0; y < box.y1; ++y)
        for (std::int64_t x = box.x0; x < box.x1; ++x, ++sum) {
          const DetectorPoint<double> at = detector_point(matrix.m.data(), geometry.beam, static_cast<double>(x),
                                                          static_cast<double>(y), static_cast<double>(z));
          if (!in_front_of_source(at.w)) continue;
          *sum = static_cast<T>(sample(Interpolation::linear, geometry.columns, geometry.rows, at.u, at.v,
                                       [&](std::int64_t column, std::int64_t row) {
                                         return row >= held.first && row < held.last
                                                    ? values[row * geometry.columns + column]
                                                    : 0.0F;
                                       }));
        }
  }

  RayProjectorSetup setup_;
  JosephGrid grid_;
  std::vector<JosephView> views_;
  std::vector<Matrix34> matrices_;
};

}  // namespace

std::unique_ptr<RayProjector> make_plain_projector(const RayProjectorSetup& setup, WeightPrecision precision) {
  if (precision == WeightPrecision::double_precision) return std::make_unique<PlainProjector<double>>(setup);
  return std::make_unique<PlainProjector<float>>(setup);
}

}  // namespace lepus::host
