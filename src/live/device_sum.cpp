// SPDX-License-Identifier: Apache-2.0
// The volume on a GPU. Views are filtered on the host into one of two page-locked blocks; a block goes up, becomes
// texels and is summed while the host filters the next one.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "live/view_sum.h"

namespace lepus {
namespace {

constexpr std::int64_t float_size = sizeof(float);

std::int64_t view_pixels(const ViewSumSetup& setup) { return setup.detector.columns * setup.rows.size(); }

cuda::Backprojection kernel_of(const ViewSumSetup& setup, const std::vector<Matrix34>& matrices) {
  ScanGeometry geometry = setup.detector;
  geometry.matrices = matrices;
  return {geometry, setup.grid, setup.precision, setup.interpolation};
}

// What texels look like does not depend on which view it is: no two views share one.
cuda::StoreShape store_for(const ViewSumSetup& setup) {
  return kernel_of(setup, setup.detector.matrices).store_shape(setup.block, setup.rows.size());
}

class DeviceSum final : public ViewSum {
public:
  explicit DeviceSum(const ViewSumSetup& setup)
      : setup_((cuda::require_device(setup.device), cuda::use_device(setup.device), setup)),
        volume_(setup.grid.voxels()),
        uploaded_(setup.block * view_pixels(setup)),
        store_(store_for(setup)) {
    setup_.detector.matrices.clear();
    for (Block& block : blocks_) block.pixels = cuda::PinnedBuffer<float>(setup.block * view_pixels(setup));
    for (std::int64_t slot = 0; slot < setup.block; ++slot) store_.set_first_row(slot, setup.rows.first);
    if (cuda::is_half(store_.shape().kind)) store_.set_scale(cuda::scale_for_half(setup.largest_value));
    cuda::check(cudaMemsetAsync(volume_.data(), 0, static_cast<std::size_t>(volume_.bytes()), work_.get()),
                "clear the volume on the device");
  }
  // What is in the stream uses the buffers.
  ~DeviceSum() override { (void)cudaStreamSynchronize(work_.get()); }
  DeviceSum(const DeviceSum&) = delete;
  DeviceSum& operator=(const DeviceSum&) = delete;

  std::string device() const override { return cuda::device_name(setup_.device); }
  std::string description() const override { return description_; }
  std::string backend() const override { return "cuda"; }

  void put(std::int64_t slot, RowBand rows, const float* filtered) override {
    float* view = blocks_[turn_].pixels.data() + slot * view_pixels(setup_);
    std::memcpy(view + (rows.first - setup_.rows.first) * setup_.detector.columns, filtered,
                static_cast<std::size_t>(rows.size() * setup_.detector.columns * float_size));
  }

  void add(const std::vector<Matrix34>& matrices, ThreadPool&) override {
    cuda::use_device(setup_.device);
    const auto views = static_cast<std::int64_t>(matrices.size());
    Block& block = blocks_[turn_];
    cuda::check(cudaMemcpyAsync(uploaded_.data(), block.pixels.data(),
                                static_cast<std::size_t>(views * view_pixels(setup_) * float_size),
                                cudaMemcpyHostToDevice, work_.get()),
                "send views to the device");
    block.sent.record(work_.get());
    store_.store({.data = uploaded_.data(),
                  .row_stride = setup_.detector.columns,
                  .view_stride = view_pixels(setup_),
                  .factor = 1.0F},
                 0, views, setup_.rows.first, setup_.rows.size(), work_.get());
    sum(matrices);
    turn_ ^= 1;
    blocks_[turn_].sent.synchronize();  // put() may write into it
  }

  void wait() override {
    cuda::use_device(setup_.device);
    work_.synchronize();
  }

  // Compacted on the device first: a slice across x is one float of every row.
  void read(const VoxelBox& box, float* x_fastest, ThreadPool*) override {
    cuda::use_device(setup_.device);
    const VolumeGrid& grid = setup_.grid;
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    const bool whole_slices = box.x1 - box.x0 == grid.nx && box.y1 - box.y0 == grid.ny;
    const float* from = volume_.data() + box.z0 * grid.nx * grid.ny;
    cuda::DeviceBuffer<float> compact;
    if (!whole_slices) {
      compact = cuda::DeviceBuffer<float>(box.voxels());
      const std::int64_t width = box.x1 - box.x0, height = box.y1 - box.y0;
      cudaMemcpy3DParms copy{};
      copy.srcPtr = {volume_.data(), size(grid.nx * float_size), size(grid.nx), size(grid.ny)};
      copy.srcPos = {size(box.x0 * float_size), size(box.y0), size(box.z0)};
      copy.dstPtr = {compact.data(), size(width * float_size), size(width), size(height)};
      copy.extent = {size(width * float_size), size(height), size(box.z1 - box.z0)};
      copy.kind = cudaMemcpyDeviceToDevice;
      cuda::check(cudaMemcpy3DAsync(&copy, work_.get()), "gather voxels on the device");
      from = compact.data();
    }
    cuda::check(cudaMemcpyAsync(x_fastest, from, size(box.voxels() * float_size), cudaMemcpyDeviceToHost, work_.get()),
                "bring voxels down from the device");
    work_.synchronize();
  }

private:
  struct Block {
    cuda::PinnedBuffer<float> pixels;
    cuda::Event sent;
  };

  void sum(const std::vector<Matrix34>& matrices) {
    const auto views = static_cast<std::int64_t>(matrices.size());
    const cuda::Backprojection::Slab slab{volume_.data(), 0, setup_.grid.nz};
    const cuda::Backprojection all = kernel_of(setup_, matrices);
    description_ = all.description();
    if (all.view_block() == 1) {
      all.accumulate({&store_, 0, 0, views}, slab, work_.get());
      return;
    }
    // Views half a turn apart would share texels, and are hardly ever in one block: each is summed for itself.
    for (std::int64_t view = 0; view < views; ++view)
      kernel_of(setup_, {matrices[static_cast<std::size_t>(view)]})
          .accumulate({&store_, view, 0, 1}, slab, work_.get());
  }

  ViewSumSetup setup_;
  cuda::Stream work_;
  cuda::DeviceBuffer<float> volume_;    // x fastest
  cuda::DeviceBuffer<float> uploaded_;  // [view][row][column]
  cuda::ViewTextures store_;
  std::array<Block, 2> blocks_;
  std::size_t turn_ = 0;
  std::string description_;
};

}  // namespace

DeviceSumBytes device_sum_bytes(const ViewSumSetup& setup) {
  const std::int64_t views = setup.block * view_pixels(setup) * float_size;
  return {2 * views, setup.grid.voxels() * float_size + views + cuda::ViewTextures::bytes(store_for(setup))};
}

std::int64_t free_device_bytes(int device) {
  cuda::require_device(device);
  return cuda::free_memory_bytes(device);
}

std::unique_ptr<ViewSum> make_device_sum(const ViewSumSetup& setup) { return std::make_unique<DeviceSum>(setup); }

}  // namespace lepus
