// SPDX-License-Identifier: Apache-2.0
// Joseph's A with the transpose that is not one: every voxel samples the views at its centre, by the kernels of FDK
// without their weights.
#include <algorithm>
#include <utility>

#include "core/memory.h"
#include "device/host/band_store.h"
#include "device/host/backprojector.h"
#include "device/host/device.h"
#include "device/host/ray_projector.h"
#include "device/host/z_fastest.h"
#include "geometry/row_band.h"
#include <lepus/error.h>

namespace lepus::host {
namespace {

class VoxelProjector final : public RayProjector {
public:
  explicit VoxelProjector(const RayProjectorSetup& setup)
      : setup_(setup),
        joseph_(make_joseph_projector(setup)),
        back_(make_unweighted_backprojector(*setup.geometry, setup.grid)) {}

  std::string description() const override { return joseph_->description() + "; back: " + back_->description(); }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    const std::int64_t slab = setup_.grid.nx * setup_.grid.ny * slices;
    const std::int64_t turned = views_at_once() * setup_.geometry->columns * padded_rows(rows);
    return std::max(joseph_->work_bytes(slices, views, rows), (slab + turned) * std::int64_t{sizeof(float)});
  }
  // Symmetric views are summed together, wherever they are in the scan.
  std::int64_t view_block() const override { return setup_.geometry->views(); }

  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) override {
    joseph_->forward(slab, out, queue);
  }

  void adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) override {
    if (in.views != setup_.geometry->views())
      throw Error(ErrorKind::internal,
                  {.what = "the voxel transpose was given a part of the views", .where = {}, .why = {}, .hint = {}});
    ThreadPool& threads = threads_of(queue);
    const std::int64_t nx = setup_.grid.nx, ny = setup_.grid.ny, slices = slab.slices.slices();
    const ZFastest order{nx, ny, slices, slices};
    Buffer<float> sums(nx * ny * slices);
    const auto each_row_of_columns = [&](const auto& each) {
      threads.parallel_for(0, ny, 1, [&](std::int64_t first, std::int64_t last, int) {
        order.each_voxel(0, nx, first, last, [&](std::int64_t voxel, std::int64_t turned) {
          each(slab.voxels[voxel], sums.data()[first * nx * slices + turned]);
        });
      });
    };
    each_row_of_columns([](float voxel, float& sum) { sum = voxel; });
    const std::int64_t columns = setup_.geometry->columns, view_values = in.rows.size() * columns;
    BandStore turned(views_at_once(), columns, padded_rows(in.rows.size()));
    for (std::int64_t first = 0; first < in.views; first += views_at_once()) {
      const std::int64_t count = std::min(views_at_once(), in.views - first);
      threads.parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t slot = begin; slot < end; ++slot) {
          turned.turn_to(slot, in.rows, true);
          turned.put(slot, in.rows,
                     in.values + back_->view_order()[static_cast<std::size_t>(first + slot)] * view_values);
        }
      });
      BandSet wedge{first, turned.row_stride(), {}};
      for (std::int64_t slot = 0; slot < count; ++slot) wedge.bands.push_back(turned.band(slot));
      back_->accumulate(wedge, {sums.data(), slab.slices.z0, slab.slices.z1, slices}, threads);
    }
    each_row_of_columns([](float& voxel, float sum) { voxel = sum; });
  }

private:
  std::int64_t views_at_once() const { return 2 * back_->view_block(); }

  RayProjectorSetup setup_;
  std::unique_ptr<RayProjector> joseph_;
  std::unique_ptr<Backprojector> back_;
};

}  // namespace

std::unique_ptr<RayProjector> make_voxel_projector(const RayProjectorSetup& setup) {
  return std::make_unique<VoxelProjector>(setup);
}

}  // namespace lepus::host
