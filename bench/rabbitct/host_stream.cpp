// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/memory.h"
#include "geometry/camera.h"
#include "run/band_store.h"
#include "run/device_sweep.h"
#include "bench/measure/gpu_part.h"
#include "bench/rabbitct/format.h"
#include "bench/rabbitct/gpu.h"
#include "bench/rabbitct/host_memory.h"
#include <lepus/error.h>

namespace lepus::rabbitct {
namespace {

// An odd number of cache lines from column to column, so that columns do not fall into the same sets of the cache.
std::int64_t stride_of(std::int64_t rows) { return ((rows + 15) / 16 | 1) * 16; }

class HostStream final : public ViewStream {
public:
  HostStream(std::unique_ptr<Backend> backend, const StreamSetup& setup, ThreadPool& threads)
      : backend_(std::move(backend)),
        threads_(threads),
        columns_(setup.columns),
        rows_(setup.rows),
        block_(setup.block),
        grid_(grid_of(setup.size)),
        sums_(grid_.voxels()) {
    std::fill(sums_.begin(), sums_.end(), 0.0F);
    geometry_.columns = columns_;
    geometry_.rows = rows_;
  }

  std::string device() const override { return backend_->device(); }
  std::string description() const override { return description_; }
  std::shared_ptr<float> host_memory(std::int64_t floats) const override { return aligned_floats(floats); }

  void add(const Matrix34& matrix, const float* view) override {
    geometry_.matrices.push_back(scale_.scaled(matrix, views_));
    ++views_;
    if (!store_) make_store();
    const std::int64_t slot = geometry_.views() - 1;
    store_->turn_to(slot, {0, rows_}, true);
    threads_.parallel_for(0, rows_, 16, [&](std::int64_t first, std::int64_t last, int) {
      store_->put(slot, {first, last}, view + first * columns_);
    });
    if (geometry_.views() == block_) sum_block();
  }

  void release_views() override {}  // they were copied

  void finish(float* volume) override {
    sum_block();
    const std::int64_t area = grid_.nx * grid_.ny, nz = grid_.nz;
    const auto factor = static_cast<float>(scale_.volume_factor());
    // Sixteen slices at a time: they share the cache lines of every column.
    threads_.parallel_for(0, nz / 16 * grid_.ny, 4, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t line = first; line < last; ++line) {
        const std::int64_t z = line / grid_.ny * 16, y = line % grid_.ny;
        for (std::int64_t x = 0; x < grid_.nx; ++x) {
          const float* column = sums_.data() + (y * grid_.nx + x) * nz + z;
          float* out = volume + z * area + y * grid_.nx + x;
          for (std::int64_t k = 0; k < 16; ++k) out[k * area] = column[k] * factor;
        }
      }
    });
  }

private:
  std::unique_ptr<Backprojector> backprojector() const {
    return backend_->make_backprojector(geometry_, grid_, Interpolation::linear);
  }

  void make_store() {
    if (block_ == 0) block_ = backprojector()->view_block();
    store_ = std::make_unique<BandStore>(block_, columns_, stride_of(rows_));
  }

  void sum_block() {
    if (geometry_.matrices.empty()) return;
    const auto kernel = backprojector();
    description_ = kernel->description();
    BandSet wedge{0, store_->row_stride(), {}};
    for (const std::int64_t view : kernel->view_order()) wedge.bands.push_back(store_->band(view));
    kernel->accumulate(wedge, {sums_.data(), 0, grid_.nz, grid_.nz}, threads_);
    geometry_.matrices.clear();
  }

  std::unique_ptr<Backend> backend_;
  ThreadPool& threads_;
  std::int64_t columns_, rows_, block_, views_ = 0;
  VolumeGrid grid_;
  Buffer<float> sums_;  // z fastest
  MatrixScale scale_;
  ScanGeometry geometry_;  // of the views that wait
  std::unique_ptr<BandStore> store_;
  std::string description_;
};

}  // namespace

std::shared_ptr<float> aligned_floats(std::int64_t count) {
  auto buffer = std::make_shared<Buffer<float>>(count);
  return {buffer, buffer->data()};
}

std::shared_ptr<float> page_locked(std::int64_t count, int device) {
  return measure::gpu_part(gpu_rabbitct(), "cuda").page_locked(count, device);
}

Matrix34 MatrixScale::scaled(const Matrix34& matrix, std::int64_t view) {
  (void)normalised(matrix, Beam::cone, view);  // refuses what cannot be used
  const double w = matrix(2, 3);
  // Kernels ask whether w is above some hundredths before they trust their coordinates.
  if (common_ == 0) common_ = std::abs(w) >= 0.25 && std::abs(w) <= 4 ? 1 : std::abs(w);
  if (const double ratio = std::abs(w) / common_; !(ratio >= 0.05 && ratio <= 20))
    throw Error(
        ErrorKind::geometry,
        {.what = "the matrices of the views differ too much in scale",
         .where = format("view {}", view),
         .why = format("the depth w of the volume's middle is {:.6g}, in the first view about {:.6g}", w, common_),
         .hint = "check the matrix: its weight 1/w^2 would drown the other views, or drown in them"});
  Matrix34 scaled = matrix;
  for (double& number : scaled.m) number /= w < 0 ? -common_ : common_;
  return scaled;
}

std::unique_ptr<ViewStream> make_host_stream(std::unique_ptr<Backend> backend, const StreamSetup& setup,
                                             ThreadPool& threads) {
  return std::make_unique<HostStream>(std::move(backend), setup, threads);
}

std::unique_ptr<ViewStream> make_device_stream(const StreamSetup& setup) {
  return measure::gpu_part(gpu_rabbitct(), "cuda").make_stream(setup);
}

std::unique_ptr<ViewStream> make_view_stream(const std::string& backend, const StreamSetup& setup,
                                             ThreadPool& threads) {
  if (backend == "cuda" || (backend == "auto" && why_no_device().empty())) return make_device_stream(setup);
  return make_host_stream(make_backend(backend == "auto" ? "cpu" : backend), setup, threads);
}

}  // namespace lepus::rabbitct
