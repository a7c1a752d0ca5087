// SPDX-License-Identifier: Apache-2.0
// RayModel::voxel's A' on a device: plain sums of samples of the views at each voxel's centre, by the kernels of FDK.
#pragma once

#include <memory>
#include <string>

#include "device/cuda/backproject.h"
#include "device/ray_projector.h"

namespace lepus::cuda {

class VoxelAdjoint {
public:
  VoxelAdjoint(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision);
  std::string description() const { return kernel_.description(); }
  std::int64_t work_bytes(std::int64_t views, std::int64_t rows) const;
  // Adds to the slab. Returns when the work is in the queue.
  void add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue);

private:
  std::int64_t views_at_once(std::int64_t views, std::int64_t rows) const;
  std::int64_t columns_;
  Backprojection kernel_;
  std::shared_ptr<ViewTextures> store_;
  std::uint64_t store_queue_ = 0;
};

}  // namespace lepus::cuda
