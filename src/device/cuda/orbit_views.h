// SPDX-License-Identifier: Apache-2.0
// How the views of a scan are laid out for the device: which kernel serves them, what a texel holds, in which order
// the views are summed.
// In: the geometry, the grid, precision and interpolation. Out: groups of symmetric views side by side, with their
// matrices in voxel indices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus::cuda {

using lepus::Precision;

enum class TexelKind {
  float1,  // one view per layer
  half1,
  float2,  // two views, half a turn apart
  half2,
  half4,   // four views, a quarter turn apart
  gather,  // float, 2-D atlas, for texture gathers
  linear,  // float, plain memory
};
int views_per_texel(TexelKind kind);
std::int64_t bytes_per_pixel(TexelKind kind);  // of one view
bool is_half(TexelKind kind);

struct ViewLayout {
  TexelKind kind = TexelKind::linear;
  int group = 1;                    // views per texel; wedges are cut at multiples of it
  std::vector<std::int64_t> order;  // views in the order in which they are stored and summed
  std::vector<Matrix34> matrices;   // in voxel indices, in that order
  std::string description;          // "circular orbit, 4 symmetric views, fp16 texels"
};

ViewLayout lay_out_views(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision,
                         Interpolation interpolation, bool views_share_texels = true);

}  // namespace lepus::cuda
