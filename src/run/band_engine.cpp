// SPDX-License-Identifier: Apache-2.0
#include "run/band_engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "correct/apply_correction.h"
#include "device/band_kernels.h"
#include "run/device_rows.h"
#include <lepus/error.h>

namespace lepus {

BandEngine::BandEngine(ThreadPool& pool, Device* device, std::int64_t memory_bytes)
    : pool_(pool),
      helpers_(device ? std::make_unique<ThreadPool>(pool.size()) : nullptr),
      host_(open_devices(compute_on("cpu"), helpers_ ? *helpers_ : pool)),
      device_(device ? *device : *host_.front()),
      limited_(memory_bytes > 0),
      memory_bytes_(on_host() ? 0 : (limited_ ? memory_bytes : device_.free_bytes()) / 2),
      helper_(host_.front()->make_queue()),
      up_(device_.make_queue()),
      work_(device_.make_queue(QueueRank::first)),  // sums of slabs go on meanwhile, and wait for the next band
      host_memory_(std::make_shared<HostMemoryPool>(device_)) {
  for (Upload& upload : uploads_) {
    upload.arrived = device_.make_event();
    upload.used = device_.make_event();
  }
}

BandEngine::~BandEngine() {
  for (Queue* queue : {up_.get(), work_.get()}) try {  // looks wait for what is in it
      queue->wait();
    } catch (...) {  // a device that was lost has nothing more to do with them
    }
  for (auto& look : looks_) look.wait();
}

std::shared_ptr<unsigned char> BandEngine::host_memory(std::int64_t bytes) { return host_memory_->take(bytes); }

void BandEngine::send(RecordedBand&& band) {
  Upload& upload = uploads_[static_cast<std::size_t>(sent_++ % 2)];
  if (!band.read) {
    upload.arrived->wait();    // the host's memory of what was here before may be used again
    up_->after(*upload.used);  // and what it became has been taken
    const std::int64_t view_bytes = band.shape.rows.size() * band.shape.columns * bytes_per_pixel(band.type);
    std::byte* pixels = upload.pixels.at_least(view_bytes * band.shape.views, device_);
    device_.copy_views(band.views, view_bytes, pixels, 1, *up_);
    upload.arrived->mark(*up_);
  }
  upload.band = std::move(band);
}

SinogramBand BandEngine::take_sent(const Normalisation* normalisation, Stage to, const SinogramBand* place) {
  const Upload& upload = uploads_[static_cast<std::size_t>(taken_++ % 2)];
  SinogramBand kept = upload.band.shape;
  if (place && place->rows == kept.rows)
    kept = *place;
  else
    kept.data = reinterpret_cast<float*>(kept_.at_least(kept.floats() * float_bytes, device_));
  const BandStaging staging = staging_for(normalisation, to);
  if (upload.band.read) {
    read_and_stage(upload.band, kept, staging);
    return kept;
  }
  work_->after(*upload.arrived);
  device_.band_kernels().to_stage(upload.band.type, upload.pixels.get(), kept, staging, *work_);
  upload.used->mark(*work_);
  return kept;
}

void BandEngine::read_and_stage(const RecordedBand& band, const SinogramBand& kept, BandStaging staging) {
  const std::int64_t view_bytes = kept.rows.size() * kept.columns * bytes_per_pixel(band.type);
  const std::int64_t together = std::min(kept.views, views_read_together(view_bytes, pool_.size()));
  auto* pixels = reinterpret_cast<unsigned char*>(some_views_.at_least(together * view_bytes, device_));
  for (staging.first_view = 0; staging.first_view < kept.views; staging.first_view += together) {
    staging.views = std::min(together, kept.views - staging.first_view);
    pool_.parallel_for(0, staging.views, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) band.read(staging.first_view + i, pixels + i * view_bytes);
    });
    device_.band_kernels().to_stage(band.type, pixels, kept, staging, *work_);
  }
}

// Many enough for all threads, and for what is computed once per pixel and used for all of them.
std::int64_t views_read_together(std::int64_t view_bytes, int threads) {
  return std::max({std::int64_t{16}, std::int64_t{4} * threads, (std::int64_t{4} << 20) / view_bytes});
}

void BandEngine::take_log(const SinogramBand& kept, const Normalisation* normalisation) {
  device_.band_kernels().logarithm(kept, staging_for(normalisation, Stage::line_integrals), lowest_grey_of_lines,
                                   *work_);
}

void BandEngine::apply(Correction& correction, const SinogramBand& kept, RowBand wanted) {
  const ScratchScope scope(*work_);
  apply_correction(correction, kept, wanted, *work_, *helper_);
}

void BandEngine::download(const SinogramBand& kept, RowBand rows, float* host) {
  const SinogramBand part = part_of(kept, rows);
  device_.copy(host, part.data, part.floats() * float_bytes, *work_);
  wait();
}

std::shared_ptr<const float> BandEngine::look_at(const SinogramBand& kept, std::int64_t row) {
  const SinogramBand part = part_of(kept, {row, row + 1});
  auto memory = host_memory(part.floats() * float_bytes);
  auto* seen = reinterpret_cast<float*>(memory.get());
  device_.copy(seen, part.data, part.floats() * float_bytes, *work_);
  return {std::move(memory), seen};
}

void BandEngine::later(std::function<void(ThreadPool&)> work) {
  if (on_host()) return work(pool_);
  constexpr std::size_t maximum_looks = 8;  // each holds rows in the host's fast memory
  if (looks_.size() == maximum_looks) {
    looks_.front().get();
    looks_.pop_front();
  }
  std::shared_ptr<Event> done = device_.make_event();
  done->mark(*work_);
  looks_.push_back(std::async(std::launch::async, [done, work = std::move(work)] {
    done->wait();
    ThreadPool alone(1);
    work(alone);
  }));
}

void BandEngine::finish() {
  wait();
  for (auto& look : looks_) look.get();
  looks_.clear();
}

// Half of the memory is for rows that wait, half for bands: two on their way up, one at work, and what corrections
// take beside it, which is at most seven times as much (rings by sorting: values, places, keys, two filters).
std::int64_t BandEngine::maximum_floats() const {
  return on_host() ? std::numeric_limits<std::int64_t>::max() : memory_bytes_ / 2 / (10 * float_bytes);
}

std::int64_t BandEngine::memory_for_others() const {
  if (on_host()) return 0;
  return limited_ ? memory_bytes_ : device_.free_bytes() * 9 / 10 - memory_bytes_ / 2;
}

std::unique_ptr<RowKeeper> BandEngine::make_store(const RowStoreSize& size) {
  if (on_host()) return std::make_unique<RowStore>(size);
  if (size.floats() * float_bytes <= memory_bytes_ / 2) try {
      return std::make_unique<DeviceRows>(size, device_, *work_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
    }
  return std::make_unique<DownloadedRows>(size, *this);
}

BandStaging BandEngine::staging_for(const Normalisation* normalisation, Stage to) {
  const bool grey = to == Stage::grey_levels;
  if (!normalisation) return {.to = grey ? BandStage::line_to_grey : BandStage::as_it_is};
  if (normalisation != held_) {
    held_ = nullptr;
    dark_ = on_device(normalisation->dark, dark_memory_);
    log_i0_ = on_device(normalisation->log_i0, log_i0_memory_);
    held_ = normalisation;
  }
  return {.to = grey ? BandStage::counts_to_grey : BandStage::counts_to_line,
          .dark = dark_,
          .log_i0 = log_i0_,
          .log_i0_everywhere = normalisation->log_i0_everywhere,
          .clip = normalisation->clip};
}

const float* BandEngine::on_device(const Buffer<float>& map, Block& memory) {
  if (map.size() == 0) return nullptr;
  if (on_host()) return map.data();
  memory = device_.allocate(map.bytes());
  device_.copy(memory.get(), map.data(), map.bytes(), *work_);
  wait();
  return reinterpret_cast<const float*>(memory.get());
}

SinogramBand part_of(const SinogramBand& band, RowBand rows) {
  return {band.data + (rows.first - band.rows.first) * band.views * band.columns, band.columns, band.views, rows,
          band.detector_rows};
}

}  // namespace lepus
