// SPDX-License-Identifier: Apache-2.0
// The host's backprojection kernels, on filtered rows and slabs in the layout that they like: SIMD in single precision,
// and plain loops in double precision that everything else is held against.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/threads.h"
#include "device/projector.h"
#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus {

// Filtered rows [first_row, first_row + rows) of one view: data[column * row_stride + (row - first_row)], rows fastest.
// Rows of the detector that are not held are never needed; rows and columns outside the detector count as zero.
struct ViewBand {
  const float* data = nullptr;
  std::int64_t first_row = 0, rows = 0;
};

struct BandSet {
  std::int64_t first = 0;  // position of bands[0] in Backprojector::view_order()
  std::int64_t row_stride = 0;
  std::vector<ViewBand> bands;
};

// Slices [z0, z1) of the volume while it is summed: data[(y * nx + x) * z_stride + (z - z0)], z fastest.
// The result does not depend on the cut; it is cheapest where both are multiples of slab_alignment, or slices are few.
struct SlabView {
  float* data = nullptr;
  std::int64_t z0 = 0, z1 = 0, z_stride = 0;
};

// Made once per reconstruction. The sum over views of every voxel is taken in view_order(), in blocks of `view_block()`
// counted from its start, so that the result does not depend on how the work is cut.
class Backprojector {
public:
  virtual ~Backprojector() = default;
  virtual std::string description() const = 0;  // the kernel that runs: "circular orbit, 4 symmetric views, AVX-512"
  virtual const std::vector<std::int64_t>& view_order() const = 0;
  virtual std::int64_t view_block() const = 0;  // wedges start at multiples of this, and end there or at the last view
  // Adds the wedge's part of the sum to the slab.
  virtual void accumulate(const BandSet& wedge, const SlabView& slab, ThreadPool& threads) const = 0;
};

// Kernels in single precision, chosen for this machine and by looking at the matrices. target: a SIMD target by
// Highway's name ("SSE4", "AVX2", "AVX3", ...) for tests and benchmarks; "" is the best one. Throws Error(usage) where
// this machine cannot run it. What is summed of voxels beyond the cylinder is not said: tiles of them are left out.
std::unique_ptr<Backprojector> make_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                  Interpolation interpolation, const std::string& target = "",
                                                  double cylinder_mm = std::numeric_limits<double>::infinity());
// The sum of the views at each voxel's centre, linear between pixels, without FDK's weight.
std::unique_ptr<Backprojector> make_unweighted_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid);
std::vector<std::string> cpu_targets();                    // that this machine can run, the best first
std::string describe_cpu(const std::string& target = "");  // "Intel Xeon, AVX-512, 2 hardware threads"

// The target whose kernel ran last in this process, as the kernel's own code says; "" before the first.
std::string last_cpu_target();

// For every voxel, for every view: project, interpolate, weigh, add, in double precision.
std::unique_ptr<Backprojector> make_reference_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                            Interpolation interpolation);

}  // namespace lepus
