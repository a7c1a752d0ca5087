// SPDX-License-Identifier: Apache-2.0
// RayModel::voxel's A' on a device: plain sums of samples of the views at each voxel's centre, by the kernels of FDK.
#pragma once

#include <memory>

#include "device/opencl/backproject.h"
#include "device/ray_projector.h"

namespace lepus::opencl {

class VoxelAdjoint {
public:
  VoxelAdjoint(Device& device, Context& context, const ScanGeometry& geometry, const VolumeGrid& grid,
               Precision precision);
  std::int64_t work_bytes(std::int64_t views, std::int64_t rows) const;
  // Adds to the slab. Returns when the work is in the queue.
  void add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue);

private:
  StoreShape store_shape(std::int64_t views, std::int64_t rows) const;
  Device& device_;
  Context& context_;
  std::int64_t columns_;
  Backprojection kernel_;
  std::shared_ptr<ViewTexels> store_;
  std::uint64_t store_queue_ = 0;
};

}  // namespace lepus::opencl
