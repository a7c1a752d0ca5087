// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_backend.h"

#include <algorithm>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "device/wedge.h"

namespace lepus {
namespace {

class CudaBackprojector final : public Backprojector {
public:
  CudaBackprojector(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision,
                    Interpolation interpolation, int device)
      : work_(geometry, grid, precision, interpolation), grid_(grid), columns_(geometry.columns), device_(device) {}

  std::string description() const override { return work_.description(); }
  const std::vector<std::int64_t>& view_order() const override { return work_.view_order(); }
  std::int64_t view_block() const override { return work_.view_block(); }

  void accumulate(const BandSet& wedge, const SlabView& slab, ThreadPool&) const override {
    check_wedge(*this, grid_, wedge, slab, slab_alignment);
    if (wedge.bands.empty()) return;
    cuda::use_device(device_);
    const cuda::Stream stream;
    const auto views = static_cast<std::int64_t>(wedge.bands.size());
    const cuda::ViewTextures store = sent_up(wedge, stream);
    const std::int64_t slices = slab.z1 - slab.z0, voxels = grid_.nx * grid_.ny * slices;
    cuda::PinnedBuffer<float> host(voxels);
    cuda::DeviceBuffer<float> sums(voxels);
    turn(slab, [&](std::int64_t at, float& voxel) { host.data()[at] = voxel; });
    copy(sums.data(), host.data(), voxels, cudaMemcpyHostToDevice, stream);
    work_.accumulate({&store, 0, wedge.first, views}, {sums.data(), slab.z0, slab.z1}, stream.get());
    copy(host.data(), sums.data(), voxels, cudaMemcpyDeviceToHost, stream);
    stream.synchronize();
    turn(slab, [&](std::int64_t at, float& voxel) { voxel = host.data()[at]; });
  }

private:
  // Calls body(index with x fastest, voxel of the slab) for all of them.
  template <class Body>
  void turn(const SlabView& slab, const Body& body) const {
    const std::int64_t columns = grid_.nx * grid_.ny;
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t z = 0; z < slab.z1 - slab.z0; ++z)
        body(z * columns + column, slab.data[column * slab.z_stride + z]);
  }

  static void copy(float* to, const float* from, std::int64_t count, cudaMemcpyKind kind, const cuda::Stream& stream) {
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(float), kind, stream.get()),
                "copy between host and device");
  }

  // The rows that every view of a group holds: their bands together. Rows that one of them lacks are zero, and never
  // read.
  cuda::ViewTextures sent_up(const BandSet& wedge, const cuda::Stream& stream) const {
    const auto views = static_cast<std::int64_t>(wedge.bands.size()), group = view_block();
    std::int64_t rows = 1;
    std::vector<std::int64_t> first(wedge.bands.size()), last(wedge.bands.size());
    for (std::int64_t g = 0; g < views; g += group) {
      const auto member = [&](std::int64_t k) { return static_cast<std::size_t>(g + k); };
      std::int64_t low = wedge.bands[member(0)].first_row, high = low;
      for (std::int64_t k = 0; k < group; ++k) {
        const ViewBand& band = wedge.bands[member(k)];
        low = std::min(low, band.first_row);
        high = std::max(high, band.first_row + band.rows);
      }
      rows = std::max(rows, high - low);
      for (std::int64_t k = 0; k < group; ++k) first[member(k)] = low, last[member(k)] = high;
    }
    cuda::ViewTextures store(work_.store_shape(views, rows));
    cuda::PinnedBuffer<float> host(group * rows * columns_);
    cuda::DeviceBuffer<float> device(host.size());
    float largest = 0;
    for (const ViewBand& band : wedge.bands)
      for (std::int64_t c = 0; c < columns_; ++c)
        for (std::int64_t r = 0; r < band.rows; ++r)
          largest = std::max(largest, std::abs(band.data[c * wedge.row_stride + r]));
    if (cuda::is_half(store.shape().kind)) store.set_scale(half_scale(largest));
    for (std::int64_t g = 0; g < views; g += group) {
      const std::int64_t low = first[static_cast<std::size_t>(g)], count = last[static_cast<std::size_t>(g)] - low;
      std::fill(host.data(), host.data() + host.size(), 0.0F);
      for (std::int64_t k = 0; k < group; ++k) {
        const ViewBand& band = wedge.bands[static_cast<std::size_t>(g + k)];
        float* out = host.data() + (k * rows + band.first_row - low) * columns_;
        for (std::int64_t c = 0; c < columns_; ++c)
          for (std::int64_t r = 0; r < band.rows; ++r) out[r * columns_ + c] = band.data[c * wedge.row_stride + r];
        store.set_first_row(g + k, low);
      }
      copy(device.data(), host.data(), host.size(), cudaMemcpyHostToDevice, stream);
      store.store({.data = device.data(), .row_stride = columns_, .view_stride = rows * columns_, .factor = 1.0F}, g,
                  group, low, count, stream.get());
      stream.synchronize();
    }
    return store;
  }

  cuda::Backprojection work_;
  VolumeGrid grid_;
  std::int64_t columns_;
  int device_;
};

class CudaBackend final : public Backend {
public:
  CudaBackend(int device, Precision precision) : device_(device), precision_(precision) {
    cuda::require_device(device);
    name_ = cuda::device_name(device);
  }
  std::string name() const override { return "cuda"; }
  std::string device() const override { return name_; }
  std::unique_ptr<Backprojector> make_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                    Interpolation interpolation) const override {
    cuda::use_device(device_);
    return std::make_unique<CudaBackprojector>(geometry, grid, precision_, interpolation, device_);
  }

private:
  int device_;
  Precision precision_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int device, Precision precision) {
  return std::make_unique<CudaBackend>(device, precision);
}

}  // namespace lepus
