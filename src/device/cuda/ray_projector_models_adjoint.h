// SPDX-License-Identifier: Apache-2.0
// A' of Siddon's lengths and of footprints on a device, in pieces that fit the memory.
#pragma once

#include <string>

#include "device/cuda/ray_projector_models.h"
#include "device/cuda/ray_projector_scan.h"

namespace lepus::cuda {

template <class Pixel>
class PixelAdjoint {
public:
  // `views` are the job's in the memory of the current device.
  PixelAdjoint(const RayViews& job, const ScanGeometry& geometry, const VolumeGrid& grid, const JosephView* views);
  std::string description() const { return "general"; }
  std::int64_t work_bytes(std::int64_t views, std::int64_t rows) const;
  // Adds to the slab. Returns when the work is in the queue.
  void add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const;

private:
  std::int64_t face_bytes(std::int64_t rows) const { return frame_.columns * rows * std::int64_t{sizeof(Pixel)}; }
  JosephGrid grid_;
  PictureFrame frame_;
  Faces faces_;
  std::vector<PictureFace> pictures_;
};

}  // namespace lepus::cuda
