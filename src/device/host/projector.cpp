// SPDX-License-Identifier: Apache-2.0
#include "device/host/projector.h"

#include <algorithm>
#include <utility>

#include "core/memory.h"
#include "device/host/band_store.h"
#include "device/host/device.h"
#include "geometry/row_band.h"

namespace lepus::host {
namespace {

class HostViews final : public ViewStore {
public:
  HostViews(std::int64_t slots, std::int64_t columns, std::int64_t rows) : bands(slots, columns, padded_rows(rows)) {}
  void set_window(std::int64_t slot, RowBand rows, Keep keep) override {
    bands.turn_to(slot, rows, keep == Keep::nothing);
  }
  void put(const float* filtered, std::int64_t view_stride, std::int64_t first_slot, std::int64_t slots, RowBand rows,
           Queue&) override {
    for (std::int64_t i = 0; i < slots; ++i) bands.put(first_slot + i, rows, filtered + i * view_stride);
  }

  BandStore bands;
};

// z fastest, columns of as many slices as the slab has at most.
class HostSlab final : public SlabStore {
public:
  HostSlab(const VolumeGrid& grid, double cylinder_mm, std::int64_t slices)
      : grid_(grid), cylinder_mm_(cylinder_mm), height_(slices), voxels_(grid.nx * grid.ny * slices) {}

  void begin(SlabRange slab, Queue& queue) override {
    range_ = slab;
    const std::int64_t columns = grid_.nx * grid_.ny;
    threads_of(queue).parallel_for(0, columns, std::max<std::int64_t>(1, columns / 64),
                                   [&](std::int64_t first, std::int64_t last, int) {
                                     std::fill(voxels_.data() + first * height_, voxels_.data() + last * height_, 0.0F);
                                   });
  }
  void finish(Queue&) override {}

  // Groups of slab_alignment slices: sixteen floats are one cache line of the slab, read once.
  void download(const VoxelBox& box, float* voxels, Queue& queue) override {
    const std::int64_t width = box.x1 - box.x0, height = box.y1 - box.y0, area = width * height;
    const std::int64_t groups = (box.z1 - box.z0 + slab_alignment - 1) / slab_alignment;
    threads_of(queue).parallel_for(0, groups * height, 4, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t line = first; line < last; ++line) {
        const std::int64_t z = box.z0 + line / height * slab_alignment, y = box.y0 + line % height;
        const std::int64_t count = std::min(slab_alignment, box.z1 - z);
        for (std::int64_t x = box.x0; x < box.x1; ++x) {
          const float* column = this->column(x, y, z);
          float* out = voxels + (z - box.z0) * area + (y - box.y0) * width + (x - box.x0);
          const bool keep = inside(x, y);
          for (std::int64_t k = 0; k < count; ++k) out[k * area] = keep ? column[k] : 0.0F;
        }
      }
    });
  }
  void download(std::int64_t z0, std::int64_t z1, float* slices, Queue& queue) override {
    download({0, grid_.nx, 0, grid_.ny, z0, z1}, slices, queue);
  }

  SlabView part(SlabRange slices) { return {voxels_.data() + (slices.z0 - range_.z0), slices.z0, slices.z1, height_}; }

private:
  const float* column(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return voxels_.data() + (y * grid_.nx + x) * height_ + (z - range_.z0);
  }
  bool inside(std::int64_t x, std::int64_t y) const {
    const Vec3 p = grid_.centre(static_cast<double>(x), static_cast<double>(y), 0);
    return p.x * p.x + p.y * p.y <= cylinder_mm_ * cylinder_mm_;
  }

  VolumeGrid grid_;
  double cylinder_mm_;
  std::int64_t height_;
  SlabRange range_;
  Buffer<float> voxels_;
};

class HostProjector final : public Projector {
public:
  HostProjector(std::unique_ptr<Backprojector> kernel, const ProjectorSetup& setup)
      : kernel_(std::move(kernel)),
        grid_(setup.grid),
        cylinder_mm_(setup.cylinder_mm),
        columns_(setup.geometry->columns) {}

  std::string description() const override { return kernel_->description(); }
  const std::vector<std::int64_t>& view_order() const override { return kernel_->view_order(); }
  std::int64_t view_block() const override { return kernel_->view_block(); }
  std::int64_t views_at_once() const override { return std::max<std::int64_t>(1, 64 / view_block()) * view_block(); }
  bool rows_alike() const override { return false; }
  double updates_per_second() const override { return 2e9; }  // of a tall slab on one thread
  std::int64_t bytes_per_value() const override { return sizeof(float); }

  std::unique_ptr<ViewStore> make_view_store(std::int64_t slots, std::int64_t rows) const override {
    return std::make_unique<HostViews>(slots, columns_, rows);
  }
  std::unique_ptr<SlabStore> make_slab_store(std::int64_t slices) const override {
    return std::make_unique<HostSlab>(grid_, cylinder_mm_, slices);
  }

  void back(const Wedge& wedge, SlabStore& slab, SlabRange slices, Queue& queue) const override {
    const BandStore& held = dynamic_cast<const HostViews&>(*wedge.store).bands;
    BandSet set{wedge.first, held.row_stride(), {}};
    for (std::int64_t i = 0; i < wedge.views; ++i)
      set.bands.push_back(held.band(wedge.slots ? (*wedge.slots)[static_cast<std::size_t>(i)] : wedge.first_slot + i));
    kernel_->accumulate(set, dynamic_cast<HostSlab&>(slab).part(slices), threads_of(queue));
  }

private:
  std::unique_ptr<Backprojector> kernel_;
  VolumeGrid grid_;
  double cylinder_mm_;
  std::int64_t columns_;
};

}  // namespace

std::unique_ptr<Projector> make_projector(std::unique_ptr<Backprojector> kernel, const ProjectorSetup& setup) {
  return std::make_unique<HostProjector>(std::move(kernel), setup);
}

}  // namespace lepus::host
