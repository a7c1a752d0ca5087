// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/memory.h"
#include "live/view_sum.h"
#include "run/band_store.h"

namespace lepus {
namespace {

std::int64_t columns_height(const VolumeGrid& grid) {
  return (grid.nz + slab_alignment - 1) / slab_alignment * slab_alignment;
}

// An odd number of cache lines from column to column, so that columns do not fall into the same sets of the cache.
std::int64_t band_stride(RowBand rows) { return ((rows.size() + 15) / 16 | 1) * 16; }

class HostSum final : public ViewSum {
public:
  HostSum(std::unique_ptr<Backend> backend, const ViewSumSetup& setup)
      : backend_(std::move(backend)),
        setup_(setup),
        height_(columns_height(setup.grid)),
        store_(setup.block, setup.detector.columns, band_stride(setup.rows)),
        sums_(setup.grid.nx * setup.grid.ny * height_) {
    setup_.detector.matrices.clear();
    for (std::int64_t slot = 0; slot < setup.block; ++slot) store_.turn_to(slot, setup.rows, true);
    std::fill(sums_.begin(), sums_.end(), 0.0F);
  }

  std::string device() const override { return backend_->device(); }
  std::string description() const override { return description_; }
  std::string backend() const override { return backend_->name(); }

  void put(std::int64_t slot, RowBand rows, const float* filtered) override { store_.put(slot, rows, filtered); }

  // A block is a scan of its own: which of its views are symmetric, if any, the kernel sees.
  void add(const std::vector<Matrix34>& matrices, ThreadPool& threads) override {
    ScanGeometry geometry = setup_.detector;
    geometry.matrices = matrices;
    const auto kernel = backend_->make_backprojector(geometry, setup_.grid, setup_.interpolation);
    BandSet wedge{0, store_.row_stride(), {}};
    for (const std::int64_t view : kernel->view_order()) wedge.bands.push_back(store_.band(view));
    kernel->accumulate(wedge, {sums_.data(), 0, setup_.grid.nz, height_}, threads);
    description_ = kernel->description();
  }

  void wait() override {}

  void read(const VoxelBox& box, float* x_fastest, ThreadPool* threads) override {
    const std::int64_t width = box.x1 - box.x0, area = width * (box.y1 - box.y0);
    const auto lines = [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t y = first; y < last; ++y)
        for (std::int64_t x = box.x0; x < box.x1; ++x) {
          const float* column = sums_.data() + (y * setup_.grid.nx + x) * height_;
          float* out = x_fastest + (y - box.y0) * width + (x - box.x0);
          for (std::int64_t z = box.z0; z < box.z1; ++z) out[(z - box.z0) * area] = column[z];
        }
    };
    if (threads)
      threads->parallel_for(box.y0, box.y1, 8, lines);
    else
      lines(box.y0, box.y1, 0);
  }

private:
  std::unique_ptr<Backend> backend_;
  ViewSumSetup setup_;
  std::int64_t height_;
  BandStore store_;
  Buffer<float> sums_;  // z fastest
  std::string description_;
};

}  // namespace

std::int64_t host_sum_bytes(const ViewSumSetup& setup) {
  const std::int64_t volume = setup.grid.nx * setup.grid.ny * columns_height(setup.grid);
  const std::int64_t views = setup.block * setup.detector.columns * band_stride(setup.rows);
  return (volume + views) * static_cast<std::int64_t>(sizeof(float));
}

std::unique_ptr<ViewSum> make_host_sum(std::unique_ptr<Backend> backend, const ViewSumSetup& setup) {
  return std::make_unique<HostSum>(std::move(backend), setup);
}

}  // namespace lepus
