// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/view_texels.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "device/opencl/program.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

// As kernels/view_texels.cl has it.
struct RowsOnDevice {
  cl_long row_stride, view_stride, slot_stride;
  cl_int columns, held_rows, pitch;
  cl_int row0, first_layer;
  cl_float factor;
};

// A sample one pixel beyond the zeros around a view may look one row, and two columns, further.
constexpr std::int64_t floats_around = 32;
std::int64_t pitch_of(const StoreShape& s) { return s.columns + 2; }
std::int64_t slot_floats(const StoreShape& s) { return (s.rows + 2) * pitch_of(s); }
std::int64_t floats_before(const StoreShape& s) { return pitch_of(s) + floats_around; }

void refuse_rows_of_views(const std::string& why) {
  throw Error(ErrorKind::internal,
              {.what = "rows do not fit the store of views", .where = "OpenCL", .why = why, .hint = {}});
}

cl_channel_type channel_of(TexelKind kind) { return kind == TexelKind::image_half ? CL_HALF_FLOAT : CL_FLOAT; }

std::int64_t groups_of(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

}  // namespace

TexelKind texel_kind(Context& context, Precision precision, Interpolation interpolation) {
  if (precision == Precision::exact || interpolation != Interpolation::linear) return TexelKind::linear;
  if (precision == Precision::half && context.images_work(CL_HALF_FLOAT)) return TexelKind::image_half;
  return context.images_work(CL_FLOAT) ? TexelKind::image_float : TexelKind::linear;
}

std::int64_t ViewTexels::bytes(const StoreShape& s) {
  if (s.kind == TexelKind::linear) return 4 * (s.slots * slot_floats(s) + 2 * floats_before(s));
  return Layers::bytes(channel_of(s.kind), s.columns, s.rows, s.slots);
}

ViewTexels::ViewTexels(Device& device, Context& context, const StoreShape& shape, Queue& queue)
    : context_(&context), shape_(shape), first_row_(static_cast<std::size_t>(shape.slots), 0) {
  if (shape.kind != TexelKind::linear) {
    make_sheets(queue);
    return;
  }
  pixels_ = device.allocate(bytes(shape), Place::device);
  device.clear(pixels_.get(), bytes(shape), queue);
}

void ViewTexels::make_sheets(Queue& queue) {
  const DeviceDescription& d = context_->device();
  if (shape_.columns > d.image_columns || shape_.rows > d.image_rows)
    throw Error(ErrorKind::unsupported, {.what = "the detector is too large for an image of the device",
                                         .where = d.name,
                                         .why = format("{} x {} pixels, at most {} x {}", shape_.columns, shape_.rows,
                                                       d.image_columns, d.image_rows),
                                         .hint = "use the precision exact, or bin the frames"});
  // One image is one allocation, whose size a driver may limit.
  const cl_channel_type type = channel_of(shape_.kind);
  layers_per_sheet_ = std::clamp<std::int64_t>(
      d.largest_block_bytes / Layers::bytes(type, shape_.columns, shape_.rows, 1), 1, d.image_layers);
  for (std::int64_t first = 0; first < shape_.slots; first += layers_per_sheet_)
    sheets_.emplace_back(*context_, type, shape_.columns, shape_.rows,
                         std::min(layers_per_sheet_, shape_.slots - first), opencl_queue(queue).get());
}

void ViewTexels::set_scale(float scale) {
  int exponent = 0;
  if (std::frexp(scale, &exponent) != 0.5f || exponent % 2 == 0)
    refuse_rows_of_views(format("scale {} is no power of 4", scale));
  scale_ = shape_.kind == TexelKind::image_half ? scale : 1.0f;
}

std::int64_t ViewTexels::pixel_offset(std::int64_t slot) const {
  return floats_before(shape_) + slot * slot_floats(shape_) + pitch_of(shape_) + 1;
}

void ViewTexels::store(const Source& source, std::int64_t first_slot, std::int64_t slots, std::int64_t row0,
                       std::int64_t rows, Queue& queue) {
  if (first_slot < 0 || slots < 0 || first_slot + slots > shape_.slots)
    refuse_rows_of_views(format("slots [{}, {}) of {}", first_slot, first_slot + slots, shape_.slots));
  if (row0 < 0 || rows < 0 || row0 + rows > shape_.detector_rows)
    refuse_rows_of_views(format("rows [{}, {}) of {}", row0, row0 + rows, shape_.detector_rows));
  if (rows == 0 || slots == 0) return;
  OpenclQueue& q = opencl_queue(queue);
  const bool linear = shape_.kind == TexelKind::linear;
  Program& program = context_->program("view_texels", shape_.kind == TexelKind::image_half ? "-DHALF" : "");
  const ScratchScope scope(queue);
  cl_int* const held = queue.scratch<cl_int>(slots);
  std::vector<cl_int> first(first_row_.begin() + first_slot, first_row_.begin() + first_slot + slots);
  queue.device().copy(held, first.data(), slots * static_cast<std::int64_t>(sizeof(cl_int)), queue);
  for (std::int64_t done = 0; done < slots;) {
    const std::int64_t slot = first_slot + done, sheet = linear ? 0 : slot / layers_per_sheet_;
    const std::int64_t count = linear ? slots : std::min(slots - done, (sheet + 1) * layers_per_sheet_ - slot);
    const RowsOnDevice r{.row_stride = source.row_stride,
                         .view_stride = source.view_stride,
                         .slot_stride = slot_floats(shape_),
                         .columns = static_cast<cl_int>(shape_.columns),
                         .held_rows = static_cast<cl_int>(shape_.rows),
                         .pitch = static_cast<cl_int>(pitch()),
                         .row0 = static_cast<cl_int>(row0),
                         .first_layer = static_cast<cl_int>(linear ? 0 : slot - sheet * layers_per_sheet_),
                         .factor = source.factor * scale_};
    KernelCall call(*context_, program, linear ? "store_rows" : "store_layers");
    call.value(r).memory(source.data + done * source.view_stride).memory(held + done);
    if (linear)
      call.memory(pixels() + pixel_offset(slot));
    else
      call.object(sheets_[static_cast<std::size_t>(sheet)].get());
    call.run(q.get(), {groups_of(shape_.columns, 64), rows, count}, {64, 1, 1});
    done += count;
  }
}

void mask_outside(float* slab, const VolumeGrid& grid, std::int64_t slices, double radius_mm, Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  // A line cuts a circle in one piece. Judged here, in double precision, as on the host.
  std::vector<cl_int> inside;
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    const double py = grid.origin_mm.y + static_cast<double>(y) * grid.step_mm.y;
    std::int64_t first = grid.nx, last = 0;
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      const double px = grid.origin_mm.x + static_cast<double>(x) * grid.step_mm.x;
      if (!(px * px + py * py <= radius_mm * radius_mm)) continue;
      first = std::min(first, x);
      last = x + 1;
    }
    inside.push_back(static_cast<cl_int>(first));
    inside.push_back(static_cast<cl_int>(last));
  }
  const ScratchScope scope(queue);
  cl_int* const table = queue.scratch<cl_int>(static_cast<std::int64_t>(inside.size()));
  queue.device().copy(table, inside.data(), static_cast<std::int64_t>(inside.size() * sizeof(cl_int)), queue);
  KernelCall(q.context(), q.context().program("view_texels", ""), "mask_outside")
      .memory(slab)
      .memory(table)
      .value(static_cast<cl_int>(grid.nx))
      .value(static_cast<cl_int>(grid.ny))
      .run(q.get(), {groups_of(grid.nx, 64), grid.ny, slices}, {64, 1, 1});
}

void gather_voxels(const float* slices, const VolumeGrid& grid, const VoxelBox& box, float* voxels, Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  const std::int64_t width = box.x1 - box.x0, height = box.y1 - box.y0;
  KernelCall(q.context(), q.context().program("view_texels", ""), "gather_voxels")
      .memory(slices)
      .memory(voxels)
      .value(static_cast<cl_int>(grid.nx))
      .value(static_cast<cl_int>(grid.ny))
      .value(static_cast<cl_int>(box.x0))
      .value(static_cast<cl_int>(box.y0))
      .value(static_cast<cl_int>(width))
      .value(static_cast<cl_int>(height))
      .run(q.get(), {groups_of(width, 64), height, box.z1 - box.z0}, {64, 1, 1});
}

}  // namespace lepus::opencl
