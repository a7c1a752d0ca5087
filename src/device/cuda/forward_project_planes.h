// SPDX-License-Identifier: Apache-2.0
// A slab of the volume on a device as planes of voxels on some axes, for the projector's kernels.
// In: slices [z][y][x] in host memory. Out: layered textures for the texture unit's weights, or rows of linear memory
// with zeros around them for fp32 weights.
#pragma once

#include <vector>

#include "device/cuda/device_memory.h"
#include "device/cuda/forward_project_launch.h"
#include "device/forward_project_job.h"

namespace lepus::cuda {

// Fills in the report's kernel and slabs. memory_bytes: the limit on each device; 0: 90 % of what is free.
void forward_project(const ForwardJob& job, const std::vector<int>& devices, Precision precision,
                     std::int64_t memory_bytes, ForwardReport& report);

class SlabPlanes {
public:
  // Brings the slices of the slab to the current device. Throws Error(memory) where they do not fit.
  SlabPlanes(const ForwardJob& job, const ForwardSlab& slab, const std::vector<int>& axes, Weights weights);
  const VolumeOnDevice& on_device() const { return volume_; }

  // Device memory of a slab of so many slices (affine in them), and of the buffers that slices come up through.
  static std::int64_t bytes(const JosephGrid& grid, const std::vector<int>& axes, Weights weights, std::int64_t slices);
  static std::int64_t upload_bytes(const JosephGrid& grid);

private:
  void make_sheets(int axis);
  void make_rows(bool turned);
  void upload(const ForwardJob& job);

  VolumeOnDevice volume_{};
  std::vector<int> stores_;  // one for each copy of the volume: its axis
  PlaneStore store_[3] = {};
  std::vector<Array> arrays_;
  std::vector<Surface> surfaces_;
  std::vector<Texture> textures_;
  std::vector<DeviceBuffer<float>> rows_;
};

}  // namespace lepus::cuda
