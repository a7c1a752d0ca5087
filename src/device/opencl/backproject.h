// SPDX-License-Identifier: Apache-2.0
// Backprojection on an OpenCL device: slab += sum over a wedge's views of sample(u, v) / w^2, for any 3x4 matrices
// (Feldkamp, Davis and Kress 1984). In: filtered views in a ViewTexels. Out: slices [z0, z1) of the volume in device
// memory, [z][y][x], fp32. A voxel's sum runs over the views in their order, starting from what the slab holds, and its
// coordinates come from its place in the volume: any cut into slabs and wedges gives the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/opencl/view_texels.h"
#include <lepus/geometry.h>

namespace lepus::opencl {

// How work-items share out the voxels.
struct KernelShape {
  int tile_x = 32, tile_y = 8, slices = 8;
  std::string options;  // more for the compiler
};
KernelShape usual_shape(const DeviceDescription& device, TexelKind kind);

class Backprojection {
public:
  Backprojection(Context& context, const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision,
                 Interpolation interpolation = Interpolation::linear);

  std::string description() const;
  TexelKind texel_kind() const { return kind_; }
  StoreShape store_shape(std::int64_t slots, std::int64_t rows) const;
  void leave_out_weights() { weighted_ = false; }               // plain sums of samples
  void use_shape(const KernelShape& shape) { shape_ = shape; }  // benchmarks compare them

  // Adds views [first_view, first_view + views), which lie in slots [first_slot, ...) of the store, to the slab.
  // Returns when the work is in the queue.
  struct Wedge {
    const ViewTexels* store = nullptr;
    std::int64_t first_slot = 0, first_view = 0, views = 0;
  };
  struct Slab {
    float* data = nullptr;
    std::int64_t z0 = 0, z1 = 0;
  };
  void accumulate(const Wedge& wedge, const Slab& slab, Queue& queue) const;

private:
  bool all_in_front(const Wedge& wedge, const Slab& slab) const;
  std::string build_options(bool guard) const;
  Context& context_;
  Beam beam_;
  std::int64_t columns_, detector_rows_;
  VolumeGrid grid_;
  Precision asked_;
  TexelKind kind_;
  Interpolation interpolation_;
  KernelShape shape_;
  bool weighted_ = true;
  std::vector<Matrix34> matrices_;  // in voxel indices
};

}  // namespace lepus::opencl
