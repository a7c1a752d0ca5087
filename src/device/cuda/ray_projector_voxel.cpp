// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_voxel.h"

#include <algorithm>

#include "device/cuda/device.h"
#include "device/queue_share.h"

namespace lepus::cuda {

// Views that share no texels are summed in their order.
VoxelAdjoint::VoxelAdjoint(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision)
    : columns_(geometry.columns),
      kernel_(geometry, grid, precision == Precision::exact ? Precision::exact : Precision::fast, Interpolation::linear,
              false) {
  kernel_.leave_out_weights();
}

std::int64_t VoxelAdjoint::views_at_once(std::int64_t views, std::int64_t rows) const {
  constexpr std::int64_t bytes = std::int64_t{1} << 30;
  return std::clamp<std::int64_t>(bytes / (4 * columns_ * rows), 1, views);
}

std::int64_t VoxelAdjoint::work_bytes(std::int64_t views, std::int64_t rows) const {
  return ViewTextures::bytes(kernel_.store_shape(views_at_once(views, rows), rows));
}

void VoxelAdjoint::add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) {
  const std::int64_t rows = lines.rows.size();
  if (lines.views == 0 || rows == 0 || slab.slices.slices() == 0) return;
  const std::int64_t at_once = views_at_once(lines.views, rows);
  const StoreShape wanted = kernel_.store_shape(at_once, rows);
  const auto fits = [&](const ViewTextures& store) {
    const StoreShape& shape = store.shape();
    return shape.kind == wanted.kind && shape.columns == wanted.columns &&
           shape.detector_rows == wanted.detector_rows && shape.rows == wanted.rows && shape.slots >= wanted.slots;
  };
  if (!store_ || store_queue_ != queue.id() || !fits(*store_)) {
    static QueueShare<ViewTextures> share;
    queue.wait();  // kernels that read the old one
    store_.reset();
    store_queue_ = queue.id();
    store_ = share.get(queue.id(), fits, [&] { return std::make_shared<ViewTextures>(wanted); });
  }
  for (std::int64_t first = 0; first < lines.views; first += at_once) {
    const std::int64_t views = std::min(at_once, lines.views - first);
    for (std::int64_t slot = 0; slot < views; ++slot) store_->set_first_row(slot, lines.rows.first);
    store_->store({.data = lines.values + first * rows * columns_,
                   .row_stride = columns_,
                   .view_stride = rows * columns_,
                   .factor = 1.0f},
                  0, views, lines.rows.first, rows, stream_of(queue));
    kernel_.accumulate({&*store_, 0, lines.first_view + first, views}, {slab.voxels, slab.slices.z0, slab.slices.z1},
                       stream_of(queue));
  }
}

}  // namespace lepus::cuda
