// SPDX-License-Identifier: Apache-2.0
// Operators ray by ray: Joseph's of any view, Siddon's, footprints of views that are not upright.
#pragma once

#include <cstdint>

#include "device/host/block_rays.h"
#include "device/host/ray_scan.h"

namespace lepus::host {

// Views of the scan through the kernels of block_rays.h; rays that run along z most through plain loops.
class BlockProjector {
public:
  // The scan outlives it.
  explicit BlockProjector(const RayScan& scan);

  const char* target() const { return kernel_.target; }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const;
  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) const;
  void adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab, ThreadPool& threads) const;

private:
  struct View;
  // Whether all layers on x, and on y, lie on one side of a view's source.
  struct InFront {
    bool of_axis[2] = {false, false};
  };
  // The ray's way from layer to layer, in mm; negative where it runs along z.
  float set_ray(std::int64_t view, std::int64_t u, std::int64_t row, cpu::BlockRays& rays, std::int64_t column,
                std::int64_t place, float value) const;
  View view_of(const ViewRows<const float>& in, std::int64_t view, ThreadPool& threads) const;
  void add_views(const ViewRows<const float>& in, const SlabVoxels<float>& slab, ThreadPool& threads) const;
  void add_layers(const ViewRows<const float>& in, std::int64_t view, const cpu::BlockRays& rays, int axis,
                  const VoxelRanges& box, float* blocks, float* tile) const;

  const RayScan& scan_;
  cpu::BlockModel model_;
  cpu::BlockKernel kernel_;
  std::vector<InFront> in_front_;  // of every view
};

}  // namespace lepus::host
