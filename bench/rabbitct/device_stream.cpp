// SPDX-License-Identifier: Apache-2.0
// Views on their way into a volume on a GPU. Each is sent up as it comes, on a stream of its own, into one of two
// buffers for a block of views; a full block becomes texels and is summed while the next is on its way. The last block
// is summed in slabs, and each slab comes down while the next is summed.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "bench/rabbitct/format.h"
#include "bench/rabbitct/gpu.h"

namespace lepus::rabbitct {
namespace {

// A multiple of what one launch takes: each block reads and writes the volume once. The last block is what a scanner
// waits for, beside the way down.
constexpr std::int64_t usual_block = 32;
// The last blocks are half of what is still to come, but not smaller: below, a block is the volume's own way in and
// out.
constexpr std::int64_t minimum_block = 8;
// Views on their way up at a time: the link is busy while the next is handed over, and the last one waits for few.
constexpr std::int64_t on_their_way = 3;
// Slabs of the last block: one is summed while another comes down.
constexpr std::int64_t last_slabs = 8;
// fp16 texels hold values up to 30 times this; run/device_sweep.cpp takes the same for filtered views.
constexpr float usual_largest_value = 32;

std::shared_ptr<float> pinned_floats(std::int64_t count, int device) {
  cuda::use_device(device);
  auto buffer = std::make_shared<cuda::PinnedBuffer<float>>(count);
  return {buffer, buffer->data()};
}

class DeviceStream final : public ViewStream {
public:
  explicit DeviceStream(const StreamSetup& setup)
      : device_((cuda::require_device(setup.device), cuda::use_device(setup.device), setup.device)),
        precision_(setup.precision),
        block_(setup.block > 0 ? setup.block : usual_block),
        pixels_(setup.columns * setup.rows),
        grid_(grid_of(setup.size)),
        volume_(grid_.voxels()) {
    geometry_.columns = setup.columns;
    geometry_.rows = setup.rows;
    for (Upload& upload : uploads_) upload.pixels = cuda::DeviceBuffer<float>(block_ * pixels_);
    warm_up();
    clear(volume_);
    work_.synchronize();
  }
  // What is in the streams uses the buffers.
  ~DeviceStream() override { (void)cudaDeviceSynchronize(); }
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  std::string device() const override { return cuda::device_name(device_); }
  std::string description() const override { return description_; }
  std::shared_ptr<float> host_memory(std::int64_t floats) const override { return pinned_floats(floats, device_); }

  void expect(std::int64_t views) override { expected_ = views; }

  void add(const Matrix34& matrix, const float* view) override {
    cuda::use_device(device_);
    const std::int64_t slot = geometry_.views();
    Upload& upload = uploads_[static_cast<std::size_t>(turn_)];
    if (slot == 0) {
      up_.wait_for(upload.used.get());
      filling_ = next_size();
    }
    const cuda::Event& sent = sent_[static_cast<std::size_t>(views_ % on_their_way)];
    sent.synchronize();  // of the view so many before
    geometry_.matrices.push_back(scale_.scaled(matrix, views_++));
    cuda::check(cudaMemcpyAsync(upload.pixels.data() + slot * pixels_, view,
                                static_cast<std::size_t>(pixels_) * sizeof(float), cudaMemcpyHostToDevice, up_.get()),
                "send a view to the device");
    sent.record(up_.get());
    if (slot + 1 == filling_) {
      store_block();
      sum(0, grid_.nz);
      next_block();
    }
  }

  void release_views() override {
    cuda::use_device(device_);
    up_.synchronize();
  }

  void finish(float* volume) override {
    cuda::use_device(device_);
    if (geometry_.views() > 0) store_block();
    const std::int64_t slab = grid_.nz / last_slabs, slice = grid_.nx * grid_.ny;
    for (std::int64_t z = 0; z < grid_.nz; z += slab) {
      if (geometry_.views() > 0) sum(z, z + slab);
      summed_[static_cast<std::size_t>(z / slab)].record(work_.get());
      down_.wait_for(summed_[static_cast<std::size_t>(z / slab)].get());
      cuda::check(
          cudaMemcpyAsync(volume + z * slice, volume_.data() + z * slice,
                          static_cast<std::size_t>(slab * slice) * sizeof(float), cudaMemcpyDeviceToHost, down_.get()),
          "download the volume");
    }
    next_block();
    down_.synchronize();
    const auto factor = static_cast<float>(scale_.volume_factor());
    if (factor != 1.0F)
      for (std::int64_t i = 0; i < grid_.voxels(); ++i) volume[i] *= factor;
  }

private:
  struct Upload {
    cuda::DeviceBuffer<float> pixels;
    cuda::Event used;
  };

  void clear(const cuda::DeviceBuffer<float>& buffer) const {
    cuda::check(cudaMemsetAsync(buffer.data(), 0, static_cast<std::size_t>(buffer.bytes()), work_.get()),
                "clear device memory");
  }

  // Takes the textures' memory and loads the kernels before the first view comes: one black view is summed.
  void warm_up() {
    clear(uploads_[0].pixels);
    geometry_.matrices = {Matrix34{{1, 0, 0, 0, 0, 0, 1, 0, 0, 1e-3, 0, 1}}};
    store_block();
    sum(0, grid_.nz);
    geometry_.matrices.clear();
    description_.clear();
  }

  // The views that wait become texels.
  void store_block() {
    Upload& upload = uploads_[static_cast<std::size_t>(turn_)];
    const std::int64_t views = geometry_.views();
    kernel_.emplace(geometry_, grid_, precision_);
    symmetric_ = kernel_->view_block() > 1;
    description_ = kernel_->description();
    // Symmetric views would share texels; a sweep that has some sums them one by one, each as a scan of its own.
    if (symmetric_) {
      ScanGeometry one = geometry_;
      one.matrices.resize(1);
      kernel_.emplace(one, grid_, precision_);
    }
    if (!store_ || store_->shape().kind != kernel_->texel_kind()) {
      store_ = std::make_unique<cuda::ViewTextures>(kernel_->store_shape(block_, geometry_.rows));
      if (cuda::is_half(kernel_->texel_kind())) store_->set_scale(cuda::scale_for_half(usual_largest_value));
    }
    arrived_.record(up_.get());
    work_.wait_for(arrived_.get());
    store_->store(
        {.data = upload.pixels.data(), .row_stride = geometry_.columns, .view_stride = pixels_, .factor = 1.0F}, 0,
        views, 0, geometry_.rows, work_.get());
    upload.used.record(work_.get());
  }

  void sum(std::int64_t z0, std::int64_t z1) {
    const std::int64_t slice = grid_.nx * grid_.ny;
    const cuda::Backprojection::Slab slab{volume_.data() + z0 * slice, z0, z1};
    if (!symmetric_) {
      kernel_->accumulate({store_.get(), 0, 0, geometry_.views()}, slab, work_.get());
      return;
    }
    for (std::int64_t view = 0; view < geometry_.views(); ++view) {
      ScanGeometry one = geometry_;
      one.matrices = {geometry_.matrices[static_cast<std::size_t>(view)]};
      cuda::Backprojection(one, grid_, precision_).accumulate({store_.get(), view, 0, 1}, slab, work_.get());
    }
  }

  // Of the block that begins with the next view.
  std::int64_t next_size() const {
    const std::int64_t to_come = expected_ - views_;
    return to_come <= 0 ? block_ : std::min(block_, std::max(minimum_block, to_come / 2));
  }

  void next_block() {
    geometry_.matrices.clear();
    turn_ ^= 1;
  }

  int device_;
  Precision precision_;
  std::int64_t block_, pixels_, views_ = 0;
  std::int64_t expected_ = 0, filling_ = 0;  // views in all (0: not known), of the block that is being filled
  VolumeGrid grid_;
  cuda::Stream up_, work_, down_;
  cuda::DeviceBuffer<float> volume_;  // x fastest
  std::array<Upload, 2> uploads_;
  int turn_ = 0;
  cuda::Event arrived_;
  std::array<cuda::Event, on_their_way> sent_;
  std::array<cuda::Event, last_slabs> summed_;
  MatrixScale scale_;
  ScanGeometry geometry_;  // of the views that wait
  std::optional<cuda::Backprojection> kernel_;
  bool symmetric_ = false;
  std::unique_ptr<cuda::ViewTextures> store_;
  std::string description_;
};

std::unique_ptr<ViewStream> make_stream(const StreamSetup& setup) { return std::make_unique<DeviceStream>(setup); }

}  // namespace

GpuRabbitct cuda_rabbitct() { return {"cuda", make_stream, pinned_floats}; }

}  // namespace lepus::rabbitct
