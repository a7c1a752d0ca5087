// SPDX-License-Identifier: Apache-2.0
// Slices of a volume as they are looked at: across z seen from +z (x to the right, y up), across y (x right, z up) and
// across x (y right, z up), upright in millimetres whatever the order of the voxels in the file.
#pragma once

#include <cstdint>
#include <vector>

#include "core/context.h"
#include "io/volume_file.h"
#include <lepus/slice.h>

namespace lepus {

char letter(Axis axis);

struct SliceRequest {
  Axis axis = Axis::z;
  std::int64_t index = 0;
};

struct Slice {
  SliceRequest request;
  double position_mm = 0;  // of the slice on its axis
  std::int64_t width = 0, height = 0;
  double pixel_width_mm = 1, pixel_height_mm = 1;
  std::vector<float> values;  // height rows of width, the top row first

  const char* right() const;  // the axis that points to the right: "x" or "y"
  const char* up() const;     // the axis that points up: "y" or "z"
};

std::int64_t voxels_along(const VolumeGrid& grid, Axis axis);

// The slice whose centre is nearest to a position; throws Error(usage) where it lies outside the volume.
std::int64_t index_at(const VolumeGrid& grid, Axis axis, double position_mm);

// All in one pass over the volume, slab by slab; only the slices that are asked for where none is across x or y.
std::vector<Slice> extract_slices(const VolumeReader& volume, const std::vector<SliceRequest>& requests,
                                  std::int64_t memory_bytes, Context& context);

// The three through the middle: xy, xz, yz.
std::vector<SliceRequest> middle_slices(const VolumeGrid& grid);

// b - a, voxel by voxel.
Slice difference(const Slice& a, const Slice& b);

}  // namespace lepus
