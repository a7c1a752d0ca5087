// SPDX-License-Identifier: Apache-2.0
// The filtered views of a wedge on an OpenCL device, as the backprojection reads them.
// In: filtered rows in device memory, [view][row][column], fp32. Held: for each slot (one view of the wedge) `rows`
// detector rows from first_row(slot) on, as layers of images or in linear memory; outside of them reads zero.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/opencl/images.h"
#include "device/opencl/queue.h"
#include "device/projector.h"
#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus::opencl {

// linear: fp32 in linear memory, for exact weights and for nearest and cubic; the others are images for the sampler.
enum class TexelKind { linear, image_float, image_half };
// What serves that precision on the device: where it lacks fp16 images those of fp32, where it lacks those too linear
// memory, which is never less exact.
TexelKind texel_kind(Context& context, Precision precision, Interpolation interpolation);

struct StoreShape {
  TexelKind kind = TexelKind::linear;
  std::int64_t columns = 0, detector_rows = 0;
  std::int64_t slots = 0, rows = 0;  // rows held per slot, at most detector_rows
};

class ViewTexels {
public:
  // All zero. Throws Error(memory), Error(unsupported) where the detector is too large for an image.
  ViewTexels(Device& device, Context& context, const StoreShape& shape, Queue& queue);
  static std::int64_t bytes(const StoreShape& shape);

  const StoreShape& shape() const { return shape_; }
  // Of fp16 texels: texel = value * scale, a power of 4. Set before rows are stored; 1 for the other kinds.
  void set_scale(float scale);
  float scale() const { return scale_; }

  // The band of a slot; takes effect for stores and backprojections that are called after it.
  void set_first_row(std::int64_t slot, std::int64_t row) { first_row_[static_cast<std::size_t>(slot)] = row; }
  std::int64_t first_row(std::int64_t slot) const { return first_row_[static_cast<std::size_t>(slot)]; }

  // Stores detector rows [row0, row0 + rows) of slots [first_slot, first_slot + slots):
  // source[(slot - first_slot) * view_stride + (row - row0) * row_stride + column] * factor. Rows that a slot's band
  // does not hold are left out.
  struct Source {
    const float* data = nullptr;
    std::int64_t row_stride = 0, view_stride = 0;  // in floats
    float factor = 1.0f;
  };
  void store(const Source& source, std::int64_t first_slot, std::int64_t slots, std::int64_t row0, std::int64_t rows,
             Queue& queue);

  // For the kernels. Linear: floats before pixel (column 0, first row) of a slot, and from row to row.
  const float* pixels() const { return reinterpret_cast<const float*>(pixels_.get()); }
  std::int64_t pixel_offset(std::int64_t slot) const;
  std::int64_t pitch() const { return shape_.columns + 2; }
  // Images: those of sheet i hold slots [i * layers_per_sheet(), ...).
  std::int64_t layers_per_sheet() const { return layers_per_sheet_; }
  cl_mem sheet(std::int64_t i) const { return sheets_[static_cast<std::size_t>(i)].get(); }

private:
  void make_sheets(Queue& queue);
  Context* context_;
  StoreShape shape_;
  float scale_ = 1.0f;
  std::int64_t layers_per_sheet_ = 0;
  std::vector<std::int64_t> first_row_;
  std::vector<Layers> sheets_;
  Block pixels_;
};

// Slices [z][y][x] of a slab: voxels outside the cylinder of this radius around the axis become zero.
void mask_outside(float* slab, const VolumeGrid& grid, std::int64_t slices, double radius_mm, Queue& queue);

// Voxels of a box, x fastest, from slices that begin with the box's first.
void gather_voxels(const float* slices, const VolumeGrid& grid, const VoxelBox& box, float* voxels, Queue& queue);

}  // namespace lepus::opencl
