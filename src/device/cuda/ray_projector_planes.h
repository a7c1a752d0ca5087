// SPDX-License-Identifier: Apache-2.0
// Slices of a volume on a device as planes of voxels on some axes, for the forward kernels.
// In: slices [z][y][x] in device memory. Out: layered textures for the texture unit's weights, or rows of linear memory
// with zeros around them for fp32 weights.
#pragma once

#include <vector>

#include "device/cuda/device_memory.h"
#include "device/cuda/ray_projector_launch.h"
#include "device/projector.h"

namespace lepus::cuda {

class VolumePlanes {
public:
  // For at most so many slices, on the current device. Throws Error(memory) where they do not fit.
  VolumePlanes(const JosephGrid& grid, const std::vector<int>& axes, Weights weights, std::int64_t slices);
  // Whether it can take so many slices of such a volume, with planes on these axes.
  bool fits(const JosephGrid& grid, const std::vector<int>& axes, Weights weights, std::int64_t slices) const;
  static std::int64_t bytes(const JosephGrid& grid, const std::vector<int>& axes, Weights weights, std::int64_t slices);

  // Takes slices [slab.z0, slab.z1) in; what was there before is gone.
  const PlanesOnDevice& fill(const float* voxels, SlabRange slab, cudaStream_t stream);
  const PlanesOnDevice& filled() const { return planes_; }  // by the last call

private:
  void make_sheets(int axis);
  void make_rows(bool turned);

  std::vector<int> axes_;
  Weights weights_;
  std::int64_t capacity_;
  PlanesOnDevice planes_{};
  std::vector<int> stores_;  // one for each copy of the volume: its axis
  PlaneStore store_[3] = {};
  std::vector<Array> arrays_;
  std::vector<Surface> surfaces_;
  std::vector<Texture> textures_;
  std::vector<DeviceBuffer<float>> rows_;
};

}  // namespace lepus::cuda
