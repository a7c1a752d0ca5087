// SPDX-License-Identifier: Apache-2.0
// Line integrals of a volume of voxels, as a detector would measure them: what iterative methods and simulations need.
// In: a volume [z][y][x], fp32, in 1/mm. Out: [view][row][column], fp32, u fastest, dimensionless.
// Joseph 1982, "An improved algorithm for reprojecting rays through pixel images": one sample per plane of voxels along
// the axis that a ray runs along most, linear between the four voxels around it, zero outside the volume.
#pragma once

#include <cstdint>
#include <string>

#include "core/threads.h"
#include <lepus/geometry.h>
#include <lepus/compute.h>

namespace lepus {

struct ForwardReport {
  std::string kernel;       // what ran: "texture weights, NVIDIA H200"
  std::int64_t slabs = 0;   // pieces along z that the volume was cut into
  double samples = 0;       // interpolations on the grid: at most views x pixels x planes
  double seconds = 0;       // memory to memory
  double load_seconds = 0;  // of them: until the volume lay on the GPU, ready to be sampled
};

// Projects all views of the scan on the devices that `compute` names, which share the views (half counts as fast: the
// volume stays fp32). The sum along a ray runs with growing z, from slab to slab: any cut of the volume,
// any number of threads or devices gives the same bits on one backend. Throws Error(usage) for a backend or device that
// is not known, Error(unsupported) where there is none, Error(memory) where not even a thin slab fits, Error(geometry)
// for matrices that cannot be used.
ForwardReport forward_project(const ScanGeometry& geometry, const VolumeGrid& grid, const float* volume,
                              float* line_integrals, const Compute& compute, ThreadPool& threads);

}  // namespace lepus
