// SPDX-License-Identifier: Apache-2.0
// The filtered views of a wedge on the device, as the backprojection kernels read them.
// In: filtered rows in linear device memory, [view][row][column], fp32. Held: for each slot (one view of the wedge)
// `rows` detector rows from first_row(slot) on, in the texels of a TexelKind; outside the detector reads zero.
// Slots of one group (2 or 4 symmetric views) share texels and therefore their first row.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda/device_memory.h"
#include "device/cuda/orbit_views.h"
#include "project/half_scale.h"

namespace lepus::cuda {

struct StoreShape {
  TexelKind kind = TexelKind::linear;
  std::int64_t columns = 0, detector_rows = 0;
  std::int64_t slots = 0;  // a multiple of views_per_texel(kind)
  std::int64_t rows = 0;   // held per slot, at most detector_rows
};

class ViewTextures {
public:
  explicit ViewTextures(const StoreShape& shape);  // all zero
  static std::int64_t bytes(const StoreShape& shape);

  const StoreShape& shape() const { return shape_; }
  // Of fp16 texels: texel = value * scale, a power of 4. Set before rows are stored; 1 for the other kinds.
  void set_scale(float scale);
  float scale() const { return scale_; }

  // The band of a slot; takes effect for stores and backprojections that are called after it.
  void set_first_row(std::int64_t slot, std::int64_t row) { first_row_[static_cast<std::size_t>(slot)] = row; }
  std::int64_t first_row(std::int64_t slot) const { return first_row_[static_cast<std::size_t>(slot)]; }

  // Stores detector rows [row0, row0 + rows) of `slots` slots from first_slot on (both multiples of the group):
  // source[(slot - first_slot) * view_stride + (row - row0) * row_stride + column] * factor. Rows that a slot's
  // band does not hold are left out.
  struct Source {
    const float* data = nullptr;
    std::int64_t row_stride = 0, view_stride = 0;  // in floats
    float factor = 1.0f;
  };
  void store(const Source& source, std::int64_t first_slot, std::int64_t slots, std::int64_t row0, std::int64_t rows,
             cudaStream_t stream);

  // For the kernels: the texture (or memory) of a slot, and its layer (in an atlas: the row of its first row).
  struct Place {
    cudaTextureObject_t texture = 0;
    const float* pixels = nullptr;
    int layer = 0;
  };
  Place place(std::int64_t slot) const;

private:
  struct Sheet {  // one array: layers, or an atlas
    Array array;
    Texture texture;
    Surface surface;
    std::int64_t width = 0, height = 0, layers = 0;
  };
  Sheet make_sheet(std::int64_t layers) const;
  StoreShape shape_;
  float scale_ = 1.0f;
  std::int64_t layers_per_sheet_ = 0;
  std::vector<std::int64_t> first_row_;
  std::vector<Sheet> sheets_;
  DeviceBuffer<float> pixels_;
};

}  // namespace lepus::cuda
