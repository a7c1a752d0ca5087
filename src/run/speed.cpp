// SPDX-License-Identifier: Apache-2.0
#include "run/speed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/fastest.h"
#include "core/memory.h"
#include "device/host/kernel.h"
#include "device/host/row_filter.h"
#include "device/host/work.h"
#include "device/projector.h"
#include "device/row_filter.h"
#include "geometry/row_band.h"
#include "run/row_loader.h"

namespace lepus {
namespace {

// The middle of the volume: few voxel columns, but tall ones, so that it passes through memory as a reconstruction
// does, and tiles for all threads.
VolumeGrid middle_of(const VolumeGrid& grid, int threads) {
  const std::int64_t side = threads <= 8 ? 128 : threads <= 32 ? 256 : 512;
  VolumeGrid piece = grid;
  const auto keep = [](std::int64_t& n, double& origin, double step, std::int64_t most) {
    const std::int64_t cut = (std::max(n, most) - most + 1) / 2;  // odd stays odd; no tile of a single column
    origin += static_cast<double>(cut) * step;
    n -= 2 * cut;
  };
  keep(piece.nx, piece.origin_mm.x, piece.step_mm.x, side);
  keep(piece.ny, piece.origin_mm.y, piece.step_mm.y, side);
  keep(piece.nz, piece.origin_mm.z, piece.step_mm.z, 1024 / side * cpu::chunk);
  return piece;
}

PixelType type_of(std::int64_t bytes) {
  return bytes == 1 ? PixelType::u8 : bytes == 2 ? PixelType::u16 : bytes == 4 ? PixelType::f32 : PixelType::f64;
}

// Counts of one kind, of as many bytes as those of the frames.
class SyntheticFrames final : public FrameSource {
public:
  explicit SyntheticFrames(const SweepJob& job)
      : columns_(job.resampler ? job.resampler->map().columns : job.columns),
        rows_(job.resampler ? job.resampler->map().rows : job.wide->rows),
        frames_(job.wide->views()),
        type_(type_of(job.frame_pixel_bytes)) {}
  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return frames_; }
  PixelType pixel_type() const override { return type_; }
  std::string name(std::int64_t) const override { return "synthetic frame"; }
  void read_native(std::int64_t, std::int64_t row0, std::int64_t row1, void* out) const override {
    std::memset(out, 1, static_cast<std::size_t>((row1 - row0) * columns_ * bytes_per_pixel(type_)));
  }

private:
  std::int64_t columns_, rows_, frames_;
  PixelType type_;
};

// A block of views, filtered and backprojected again and again.
class Trial {
public:
  Trial(const SweepJob& job, Device& device, ThreadPool& threads)
      : job_(job),
        device_(device),
        threads_(threads),
        piece_(middle_of(job.grid, threads.size())),
        queue_(device.make_queue()),
        projector_(device.make_projector({.geometry = job.wide,
                                          .grid = piece_,
                                          .cylinder_mm = job.cylinder_mm,
                                          .interpolation = job.interpolation,
                                          .views_share_texels = true})),
        views_(std::min(job.wide->views(), projector_->view_block())),
        slices_(slices_at_once()),
        bands_(bands_of_parts()),
        held_rows_(std::ranges::max(bands_, {}, &RowBand::size).size()),
        store_(projector_->make_view_store(views_, held_rows_)) {
    // What the rows hold does not matter, as long as they hold numbers.
    const RowBand held{0, held_rows_};
    Buffer<float> view(job.wide->columns * held_rows_);
    std::fill(view.begin(), view.end(), 0.5F);
    for (std::int64_t slot = 0; slot < views_; ++slot) {
      store_->set_window(slot, held, ViewStore::Keep::nothing);
      store_->put(view.data(), 0, slot, 1, held, *queue_);
    }
  }

  double updates_per_second() {
    const auto slab = projector_->make_slab_store((piece_.nz + slab_alignment - 1) / slab_alignment * slab_alignment);
    slab->begin({0, piece_.nz}, *queue_);
    const double seconds = typical_seconds([&](std::int64_t run) {
      const std::int64_t part = run % parts();
      for (std::int64_t slot = 0; slot < views_; ++slot)
        store_->set_window(slot, bands_[static_cast<std::size_t>(part * views_ + slot)], ViewStore::Keep::nothing);
      projector_->back({store_.get(), 0, 0, views_}, *slab, {part * slices_, (part + 1) * slices_}, *queue_);
    });
    return static_cast<double>(cpu::summed_columns(piece_, job_.cylinder_mm) * views_) *
           cpu::tall_slices({0, slices_}) / seconds;
  }

  // All that is done with recorded rows, in memory that is new as that of rows that were just read.
  double filtered_pixels_per_second() {
    const RowBand rows{0, std::min(held_rows_, host::rows_at_once)};
    const SyntheticFrames frames(job_);
    Normalisation normalisation;
    normalisation.columns = frames.columns();
    normalisation.rows = frames.rows();
    normalisation.log_i0_everywhere = std::log(60000.0F);
    std::vector<RowBlock> blocks(
        static_cast<std::size_t>(std::max<std::int64_t>(views_, std::int64_t{2} * threads_.size())));
    std::int64_t recorded_rows = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::int64_t slot = static_cast<std::int64_t>(i) % views_;
      const std::int64_t view = projector_->view_order()[static_cast<std::size_t>(slot)];
      const RowBand recorded = job_.resampler ? job_.resampler->recorded_rows(view, rows) : rows;
      blocks[i].request = {view, slot, slot, rows, recorded, rows};
      recorded_rows += recorded.size();
      store_->set_window(slot, rows, ViewStore::Keep::nothing);
    }
    const std::int64_t row_bytes = frames.columns() * bytes_per_pixel(frames.pixel_type());
    const double seconds = typical_seconds([&](std::int64_t) {
      Buffer<std::byte> pixels(recorded_rows * row_bytes);
      std::byte* at = pixels.data();
      for (RowBlock& block : blocks) {
        const RowBand recorded = block.request.recorded;
        block.pixels = at;
        frames.read_native(block.request.view, recorded.first, recorded.last, at);
        at += recorded.size() * row_bytes;
      }
      RowAudit audit(frames, {1, 0});
      SweepFrames swept{.source = &frames};
      if (!job_.by_bands) {  // or else they were corrected, and are line integrals
        swept.audit = &audit;
        swept.normalisation = &normalisation;
      }
      const RowLoaderSetup setup{.job = &job_, .projector = projector_.get(), .device = &device_, .frames = &swept};
      device_.make_row_filter(filter_setup(setup))->filter(blocks, *store_, *queue_);
    });
    return static_cast<double>(std::ssize(blocks) * rows.size() * job_.columns) / seconds;
  }

private:
  // Whole chunks, and tiles for all threads. Where views are symmetric, a quarter of the tiles stands for all.
  std::int64_t slices_at_once() const {
    const std::int64_t columns = cpu::summed_columns(piece_, job_.cylinder_mm);
    const std::int64_t tiles = std::max<std::int64_t>(1, columns / (4 * cpu::largest_tile * cpu::largest_tile));
    return std::min(piece_.nz, (std::int64_t{4} * threads_.size() + tiles - 1) / tiles * cpu::chunk);
  }
  std::int64_t parts() const { return piece_.nz / slices_; }

  // Rows that a slab of the volume needs, [part][slot]: how far apart they lie matters.
  std::vector<RowBand> bands_of_parts() const {
    const std::int64_t before = (job_.grid.nz - piece_.nz) / 2, margin = interpolation_margin(job_.interpolation);
    std::vector<RowBand> bands;
    for (std::int64_t part = 0; part < parts(); ++part)
      for (std::int64_t slot = 0; slot < views_; ++slot)
        bands.push_back(row_band(*job_.wide, projector_->view_order()[static_cast<std::size_t>(slot)], job_.grid,
                                 job_.cylinder_mm, before + part * slices_, before + (part + 1) * slices_, margin));
    return bands;
  }

  const SweepJob& job_;
  Device& device_;
  ThreadPool& threads_;
  VolumeGrid piece_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Projector> projector_;
  std::int64_t views_, slices_;
  std::vector<RowBand> bands_;
  std::int64_t held_rows_;
  std::unique_ptr<ViewStore> store_;
};

}  // namespace

MachineSpeed measured_speed(const SweepJob& job, Device& device, ThreadPool& threads) {
  Trial trial(job, device, threads);
  MachineSpeed speed;
  speed.updates = trial.updates_per_second();
  speed.filtered_pixels = trial.filtered_pixels_per_second();
  return speed;
}

}  // namespace lepus
