// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/ray_projector_voxel.h"

#include <algorithm>

#include "device/queue_share.h"

namespace lepus::opencl {

VoxelAdjoint::VoxelAdjoint(Device& device, Context& context, const ScanGeometry& geometry, const VolumeGrid& grid,
                           Precision precision)
    : device_(device),
      context_(context),
      columns_(geometry.columns),
      kernel_(context, geometry, grid, precision == Precision::exact ? Precision::exact : Precision::fast) {
  kernel_.leave_out_weights();
}

// As many views at once as take no more than a part of the memory, where one of them is less.
StoreShape VoxelAdjoint::store_shape(std::int64_t views, std::int64_t rows) const {
  constexpr std::int64_t bytes = std::int64_t{256} << 20;
  const std::int64_t view_bytes = columns_ * std::max<std::int64_t>(rows, 1) * std::int64_t{sizeof(float)};
  return kernel_.store_shape(std::clamp<std::int64_t>(bytes / view_bytes, 1, views), rows);
}

std::int64_t VoxelAdjoint::work_bytes(std::int64_t views, std::int64_t rows) const {
  return ViewTexels::bytes(store_shape(views, rows));
}

void VoxelAdjoint::add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) {
  const std::int64_t rows = lines.rows.size();
  if (lines.views == 0 || rows == 0 || slab.slices.slices() == 0) return;
  const StoreShape wanted = store_shape(lines.views, rows);
  const auto fits = [&](const ViewTexels& store) {
    const StoreShape& shape = store.shape();
    return shape.kind == wanted.kind && shape.columns == wanted.columns &&
           shape.detector_rows == wanted.detector_rows && shape.rows == wanted.rows && shape.slots >= wanted.slots;
  };
  if (!store_ || store_queue_ != queue.id() || !fits(*store_)) {
    static QueueShare<ViewTexels> share;
    queue.wait();  // kernels that read the old one
    store_.reset();
    store_queue_ = queue.id();
    store_ =
        share.get(queue.id(), fits, [&] { return std::make_shared<ViewTexels>(device_, context_, wanted, queue); });
  }
  for (std::int64_t first = 0; first < lines.views; first += wanted.slots) {
    const std::int64_t views = std::min(wanted.slots, lines.views - first);
    for (std::int64_t slot = 0; slot < views; ++slot) store_->set_first_row(slot, lines.rows.first);
    store_->store(
        {.data = lines.values + first * rows * columns_, .row_stride = columns_, .view_stride = rows * columns_}, 0,
        views, lines.rows.first, rows, queue);
    kernel_.accumulate({store_.get(), 0, lines.first_view + first, views},
                       {slab.voxels, slab.slices.z0, slab.slices.z1}, queue);
  }
}

}  // namespace lepus::opencl
