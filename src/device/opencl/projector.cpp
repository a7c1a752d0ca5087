// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/projector.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "device/opencl/backproject.h"
#include "project/half_scale.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

class OpenclViews final : public ViewStore {
public:
  OpenclViews(Device& device, Context& context, const StoreShape& shape)
      : texels(device, context, shape, *device.make_queue()) {}
  void set_largest_value(float value) override { texels.set_scale(half_scale(value)); }
  void set_window(std::int64_t slot, RowBand rows, Keep) override {
    texels.set_first_row(slot, first_held_row(rows, texels.shape().rows, texels.shape().detector_rows));
  }
  void put(const float* filtered, std::int64_t view_stride, std::int64_t first_slot, std::int64_t slots, RowBand rows,
           Queue& queue) override {
    texels.store({.data = filtered, .row_stride = texels.shape().columns, .view_stride = view_stride}, first_slot,
                 slots, rows.first, rows.size(), queue);
  }

  ViewTexels texels;
};

class OpenclSlab final : public SlabStore {
public:
  OpenclSlab(Device& device, const VolumeGrid& grid, double cylinder_mm, std::int64_t slices)
      : device_(device), grid_(grid), cylinder_mm_(cylinder_mm), voxels_(device.allocate(bytes(area() * slices))) {}

  void begin(SlabRange slab, Queue& queue) override {
    range_ = slab;
    device_.clear(voxels_.get(), bytes(area() * slab.slices()), queue);
  }
  void finish(Queue& queue) override { mask_outside(slice(range_.z0), grid_, range_.slices(), cylinder_mm_, queue); }
  void download(std::int64_t z0, std::int64_t z1, float* slices, Queue& queue) override {
    device_.copy(slices, slice(z0), bytes((z1 - z0) * area()), queue);
  }
  // Compacted on the device first: a slice across x is one float of every row.
  void download(const VoxelBox& box, float* voxels, Queue& queue) override {
    if (box.x1 - box.x0 == grid_.nx && box.y1 - box.y0 == grid_.ny) return download(box.z0, box.z1, voxels, queue);
    const ScratchScope scope(queue);
    auto* const compact = queue.scratch<float>(box.voxels());
    gather_voxels(slice(box.z0), grid_, box, compact, queue);
    device_.copy(voxels, compact, bytes(box.voxels()), queue);
  }

  Backprojection::Slab part(SlabRange slices) const { return {slice(slices.z0), slices.z0, slices.z1}; }

private:
  std::int64_t area() const { return grid_.nx * grid_.ny; }
  static std::int64_t bytes(std::int64_t floats) { return floats * static_cast<std::int64_t>(sizeof(float)); }
  float* slice(std::int64_t z) const { return reinterpret_cast<float*>(voxels_.get()) + (z - range_.z0) * area(); }

  Device& device_;
  VolumeGrid grid_;
  double cylinder_mm_;
  SlabRange range_;
  Block voxels_;
};

class OpenclProjector final : public Projector {
public:
  OpenclProjector(Device& device, Context& context, Precision precision, const ProjectorSetup& setup)
      : device_(device),
        context_(context),
        grid_(setup.grid),
        cylinder_mm_(setup.cylinder_mm),
        kernel_(context, *setup.geometry, setup.grid, precision, setup.interpolation),
        order_(setup.geometry->matrices.size()) {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
  }

  std::string description() const override { return kernel_.description(); }
  const std::vector<std::int64_t>& view_order() const override { return order_; }
  std::int64_t view_block() const override { return 1; }
  // A CPU takes its time: its progress is seen.
  std::int64_t views_at_once() const override {
    return context_.device().gpu ? std::numeric_limits<std::int64_t>::max() : 16;
  }
  bool rows_alike() const override { return true; }
  std::int64_t bytes_per_value() const override { return kernel_.texel_kind() == TexelKind::image_half ? 2 : 4; }
  // About: a large GPU, or a CPU of a few cores. Only plans are compared by it.
  double updates_per_second() const override {
    if (!context_.device().gpu) return 1e8;
    return kernel_.texel_kind() == TexelKind::linear ? 3e11 : 7e11;
  }

  std::unique_ptr<ViewStore> make_view_store(std::int64_t slots, std::int64_t rows) const override {
    return std::make_unique<OpenclViews>(device_, context_, kernel_.store_shape(slots, rows));
  }
  std::unique_ptr<SlabStore> make_slab_store(std::int64_t slices) const override {
    return std::make_unique<OpenclSlab>(device_, grid_, cylinder_mm_, slices);
  }

  void back(const Wedge& wedge, SlabStore& slab, SlabRange slices, Queue& queue) const override {
    const ViewTexels& texels = dynamic_cast<const OpenclViews&>(*wedge.store).texels;
    const Backprojection::Slab part = dynamic_cast<OpenclSlab&>(slab).part(slices);
    if (!wedge.slots) return kernel_.accumulate({&texels, wedge.first_slot, wedge.first, wedge.views}, part, queue);
    const auto slot = [&](std::int64_t i) { return (*wedge.slots)[static_cast<std::size_t>(i)]; };
    for (std::int64_t i = 0, next = 0; i < wedge.views; i = next) {  // those that lie one after the other together
      for (next = i + 1; next < wedge.views && slot(next) == slot(next - 1) + 1;) ++next;
      kernel_.accumulate({&texels, slot(i), wedge.first + i, next - i}, part, queue);
    }
  }

private:
  Device& device_;
  Context& context_;
  VolumeGrid grid_;
  double cylinder_mm_;
  Backprojection kernel_;
  std::vector<std::int64_t> order_;
};

}  // namespace

std::unique_ptr<Projector> make_projector(Device& device, Context& context, Precision precision,
                                          const ProjectorSetup& setup) {
  return std::make_unique<OpenclProjector>(device, context, precision, setup);
}

}  // namespace lepus::opencl
