// SPDX-License-Identifier: Apache-2.0
// Backprojection on the device: slab += sum over a wedge's views of sample(u, v) / w^2 (Feldkamp, Davis and Kress
// 1984). In: filtered views in ViewTextures. Out: slices [z0, z1) of the volume in device memory, [z][y][x], fp32. A
// voxel's sum runs over the views in view_order(), starting from what the slab holds, and its coordinates come from its
// place in the volume: any cut into slabs, and into wedges of whole groups, gives the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/cuda/backproject_launch.h"
#include "device/cuda/orbit_views.h"
#include "device/cuda/view_textures.h"

namespace lepus::cuda {

class Backprojection {
public:
  Backprojection(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision,
                 Interpolation interpolation = Interpolation::linear, bool views_share_texels = true);

  const std::string& description() const { return layout_.description; }
  const std::vector<std::int64_t>& view_order() const { return layout_.order; }
  std::int64_t view_block() const { return layout_.group; }  // wedges hold a multiple of this many views
  TexelKind texel_kind() const { return layout_.kind; }
  // A store for `slots` views (rounded up to whole groups) of `rows` detector rows each.
  StoreShape store_shape(std::int64_t slots, std::int64_t rows) const;

  // Adds views [first_view, first_view + views) of view_order(), which lie in slots [first_slot, ...) of the store, to
  // the slab. Returns when the work is in the stream.
  struct Wedge {
    const ViewTextures* store = nullptr;
    std::int64_t first_slot = 0, first_view = 0, views = 0;
  };
  struct Slab {
    float* data = nullptr;
    std::int64_t z0 = 0, z1 = 0;
  };
  void accumulate(const Wedge& wedge, const Slab& slab, cudaStream_t stream) const;

private:
  bool all_in_front(const Wedge& wedge, const Slab& slab) const;
  ViewLayout layout_;
  Beam beam_;
  std::int64_t columns_, detector_rows_;
  VolumeGrid grid_;
  Interpolation interpolation_;
  Launcher launcher_;
};

}  // namespace lepus::cuda
