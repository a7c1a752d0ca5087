// SPDX-License-Identifier: Apache-2.0
// Joseph's A' on a device: which kernel serves a scan, and the faces of its views in pieces that fit the memory.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/device_memory.h"
#include "device/cuda/ray_projector_scan.h"
#include "device/ray_projector.h"

namespace lepus::cuda {

class JosephAdjoint {
public:
  // `views` are the job's in the memory of the current device.
  JosephAdjoint(const RayViews& job, const ScanGeometry& geometry, const VolumeGrid& grid, const JosephView* views);

  std::string description() const {
    return by_columns_ ? "by columns" : by_voxel_columns_ ? "by columns of voxels" : "general";
  }
  std::int64_t work_bytes(std::int64_t views, std::int64_t rows) const;
  // Adds to the slab. Returns when the work is in the queue.
  void add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const;

private:
  bool look_for_columns(const RayViews& job, const std::vector<Matrix34>& matrices);
  void add_columns(const FaceSource& source, int first_face, const SlabVoxels<float>& slab, Queue& queue) const;
  void add_pictures(const FaceSource& source, int first_face, const SlabVoxels<float>& slab, Queue& queue) const;

  JosephGrid grid_;
  PictureFrame frame_;
  std::int64_t columns_, rows_;
  Faces faces_;
  bool by_columns_ = false, by_voxel_columns_ = false;
  int slots_ = 1, rows_per_cell_ = 1, forward_ = 1;
  DeviceBuffer<ColumnMap> maps_;
  std::vector<PictureFace> pictures_;
};

}  // namespace lepus::cuda
