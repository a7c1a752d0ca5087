// SPDX-License-Identifier: Apache-2.0
// What a machine must be able to do for a reconstruction, so that the sweep does not know which machine it is.
#pragma once

#include <cstdint>
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

class Backend {
public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;    // "cpu"
  virtual std::string device() const = 0;  // "Intel Xeon, AVX-512, 2 threads"
  virtual std::unique_ptr<Backprojector> make_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                            Interpolation interpolation) const = 0;
};

// "cpu" (SIMD, single precision), "cuda" (the first GPU, exact), "reference" (plain, double precision sums). Throws
// Error(usage) with the nearest name, Error(unsupported) where there is no GPU that can be used.
std::unique_ptr<Backend> make_backend(const std::string& name);
std::vector<std::string> backend_names();

}  // namespace lepus
