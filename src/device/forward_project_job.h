// SPDX-License-Identifier: Apache-2.0
// What forward_project hands to a backend: the scan as rays in voxel indices, the volume, and where the sums go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/forward_project.h"
#include "project/joseph.h"

namespace lepus {

struct ForwardJob {
  JosephGrid grid;
  std::vector<JosephView> views;
  std::int64_t columns = 0, rows = 0;
  const float* volume = nullptr;    // [z][y][x]
  float* line_integrals = nullptr;  // [view][row][column]

  std::int64_t pixels() const { return columns * rows; }
  std::int64_t slice_voxels() const { return std::int64_t{grid.size[0]} * grid.size[1]; }
};

// Slices [first, last) of the volume serve the samples in cells [cell0, cell1) along z; indices from slice 0.
struct ForwardSlab {
  int cell0 = 0, cell1 = 0, first = 0, last = 0;
};
// Cuts the volume into slabs of at most `most_slices` slices (at least 2), all of about the same size.
std::vector<ForwardSlab> forward_slabs(const JosephGrid& grid, std::int64_t most_slices);

// Which axes planes of voxels may be needed on: an axis counts where its largest direction over the detector reaches
// the smallest of both others.
std::vector<int> axes_of(const ForwardJob& job);

// One ray of the volume, in double precision.
double reference_line_integral(const ForwardJob& job, const JosephLine& line);

// Each fills in the report's kernel and slabs.
void forward_project_reference(const ForwardJob& job, ThreadPool& threads, ForwardReport& report);
void forward_project_cpu(const ForwardJob& job, ThreadPool& threads, ForwardReport& report);
// Slabs of at most so many voxels: tests make many of a small volume.
void forward_project_cpu(const ForwardJob& job, ThreadPool& threads, ForwardReport& report, std::int64_t slab_voxels);
ForwardJob forward_job(const ScanGeometry& geometry, const VolumeGrid& grid, const float* volume,
                       float* line_integrals);

namespace cpu {
// One detector row of one view, compiled for one SIMD target; `line` is row * views + view.
struct ForwardKernel {
  const char* target;
  void (*row)(const ForwardJob&, const ForwardSlab&, std::int64_t line);
};
}  // namespace cpu

}  // namespace lepus
