// SPDX-License-Identifier: Apache-2.0
// Joseph's projector on an OpenCL device: a slab of the volume as planes of voxels, and line integrals of some views
// through it. In: slices [z][y][x] in device memory. Out: [view][row][column] in device memory, fp32.
// Needs a device with double precision: rays are set up in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/forward_project_job.h"
#include "device/opencl/images.h"
#include "device/opencl/queue.h"
#include <lepus/options.h>

namespace lepus::opencl {

class SlabPlanes {
public:
  // For the samples in the slab's cells, with planes on `axes` (of 0, 1, 2). exact: lines of voxels with zeros around
  // them; else images for the sampler (where the device has none that work, lines). Throws Error(memory),
  // Error(unsupported).
  SlabPlanes(Device& device, Context& context, const JosephGrid& grid, const ForwardSlab& slab,
             const std::vector<int>& axes, Precision precision, Queue& queue);

  static std::int64_t bytes(const JosephGrid& grid, const std::vector<int>& axes, bool images, std::int64_t slices);

  // Slices [z0, z0 + count) of the volume, which must be among the slab's.
  void store(const float* slices, std::int64_t z0, std::int64_t count, Queue& queue);

  // Line integrals of the views through the slab, [view][row][column]; `onto`: added to what is there, the sums of the
  // slabs below.
  void project(std::span<const JosephView> views, std::int64_t columns, std::int64_t rows, float* sums, bool onto,
               Queue& queue) const;

private:
  bool has(int axis) const;
  Context& context_;
  JosephGrid grid_;
  ForwardSlab slab_;
  std::vector<int> axes_;
  bool images_;
  Layers layers_[3];
  Block turned_, straight_;  // lines along y and along x
};

// All views of a job, shared by OpenCL devices. In: volume and pictures in host memory.
void forward_project(const ForwardJob& job, const Devices& devices, Precision precision, ForwardReport& report);

}  // namespace lepus::opencl
