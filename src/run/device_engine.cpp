// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <mutex>

#include "device/cuda/copy_views.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "correct/apply_correction.h"
#include "device/cuda/device.h"
#include "device/host/device.h"
#include "run/band_engine.h"

namespace lepus {
namespace {

// Taken anew only where it is too small: that makes the whole card wait.
template <class T>
void make_room(cuda::DeviceBuffer<T>& buffer, std::int64_t size) {
  if (buffer.size() >= size) return;
  buffer = {};
  buffer = cuda::DeviceBuffer<T>(size);
}

// Page-locked memory is slow to take; what is given back is handed out again.
class PinnedPool : public std::enable_shared_from_this<PinnedPool> {
public:
  std::shared_ptr<unsigned char> take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    // A row does not get what a band needs.
    const auto fits = std::ranges::find_if(
        free_, [&](const auto& piece) { return piece.size() >= bytes && piece.size() <= 2 * bytes; });
    auto piece = std::make_shared<Piece>();
    if (fits == free_.end()) {
      *piece = Piece(bytes);
    } else {
      *piece = std::move(*fits);
      free_.erase(fits);
    }
    return {piece->data(), [pool = shared_from_this(), piece](unsigned char*) {
              const std::lock_guard returning(pool->mutex_);
              pool->free_.push_back(std::move(*piece));
            }};
  }

private:
  using Piece = cuda::PinnedBuffer<unsigned char>;
  std::mutex mutex_;
  std::vector<Piece> free_;
};

// All rows of all views in device memory, [row][view][column].
class DeviceRowStore final : public RowKeeper {
public:
  DeviceRowStore(const RowStoreSize& size, int device, Queue& work)
      : device_(device), work_(work), memory_(size.floats()) {
    all_ = {memory_.data(), size.columns, size.views, {0, size.rows}, size.rows};
  }
  const SinogramBand* room_for(RowBand rows) override {
    room_ = part_of(all_, rows);
    return &room_;
  }
  void put(const SinogramBand& kept, RowBand rows) override {
    const SinogramBand from = part_of(kept, rows), to = part_of(all_, rows);
    if (from.data == to.data) return;
    cuda::check(cudaMemcpyAsync(to.data, from.data, static_cast<std::size_t>(from.floats() * value_bytes),
                                cudaMemcpyDeviceToDevice, cuda::stream_of(work_)),
                "keep corrected rows");
  }
  void get(std::int64_t view, RowBand rows, float* out) const override {
    const cuda::UsingDevice here(device_);
    work_.wait();
    const auto width = static_cast<std::size_t>(all_.columns * value_bytes);
    cuda::check(cudaMemcpy2D(out, width, part_of(all_, rows).data + view * all_.columns,
                             width * static_cast<std::size_t>(all_.views), width, static_cast<std::size_t>(rows.size()),
                             cudaMemcpyDeviceToHost),
                "bring corrected rows back from the device");
  }
  const SinogramBand* on_device(const DeviceInfo& device) const override {
    if (device.kind != "cuda" || device.number != device_) return nullptr;
    work_.wait();
    return &all_;
  }
  std::int64_t memory_bytes() const override { return 0; }
  std::string place() const override { return "on the GPU"; }

private:
  int device_;
  Queue& work_;
  cuda::DeviceBuffer<float> memory_;
  SinogramBand all_, room_;
};

class DeviceEngine final : public BandEngine {
public:
  DeviceEngine(int device, ThreadPool& pool, std::int64_t memory_bytes)
      : device_((cuda::require_device(device), cuda::use_device(device), device)),
        pool_(pool),
        limited_(memory_bytes > 0),
        memory_bytes_((limited_ ? memory_bytes : cuda::free_memory_bytes(device)) / 2),
        card_(cuda::make_device(device, Precision::exact, memory_bytes)),
        host_(host::make_device("cpu", pool)) {}
  ~DeviceEngine() override {
    (void)cudaStreamSynchronize(up_.get());
    (void)cudaStreamSynchronize(stream());  // looks wait for what is in it
    for (auto& look : looks_) look.wait();
  }

  std::shared_ptr<void> hold() override { return std::make_shared<cuda::UsingDevice>(device_); }

  bool takes_recorded() const override { return true; }
  bool sends_from(const void* memory) const override { return cuda::is_pinned(memory); }
  std::shared_ptr<unsigned char> host_memory(std::int64_t bytes) override {
    cuda::use_device(device_);
    return pinned_->take(bytes);
  }

  void send(RecordedBand&& band) override {
    cuda::use_device(device_);
    Upload& upload = uploads_[static_cast<std::size_t>(sent_++ % 2)];
    upload.arrived.synchronize();     // the host's memory of what was here before may be used again
    up_.wait_for(upload.used.get());  // and what it became has been taken
    const std::int64_t view_bytes = band.shape.rows.size() * band.shape.columns * bytes_per_pixel(band.type);
    make_room(upload.pixels, view_bytes * band.shape.views);
    cuda::copy_views(band.views, view_bytes, upload.pixels.data(), 1, up_.get());
    upload.arrived.record(up_.get());
    upload.band = std::move(band);
  }

  void drop_sent() override { taken_ = sent_; }

  SinogramBand take_sent(const Normalisation* normalisation, Stage to, const SinogramBand* room) override {
    cuda::use_device(device_);
    const Upload& upload = uploads_[static_cast<std::size_t>(taken_++ % 2)];
    const SinogramBand kept = room && room->rows == upload.band.shape.rows ? *room : kept_as(upload.band.shape);
    const BandStaging staging = staging_for(normalisation, to);
    cuda::check(cudaStreamWaitEvent(stream(), upload.arrived.get(), 0), "wait for a band on its way up");
    card_->band_kernels().to_stage(upload.band.type, upload.pixels.data(), kept, staging, *work_);
    upload.used.record(stream());
    return kept;
  }

  void take_log(const SinogramBand& kept, const Normalisation* normalisation) override {
    card_->band_kernels().logarithm(kept, staging_for(normalisation, Stage::line_integrals), lowest_grey_of_lines,
                                    *work_);
  }

  void apply(Correction& correction, const SinogramBand& kept, RowBand wanted) override {
    const ScratchScope scope(*work_);
    apply_correction(correction, kept, wanted, *work_, *helper_);
  }

  void bring_back(const SinogramBand& kept, RowBand rows, float* host) override {
    const SinogramBand part = part_of(kept, rows);
    copy_down(part, host, "download a band");
    work_->wait();
  }

  std::shared_ptr<const float> look_at(const SinogramBand& kept, std::int64_t row) override {
    const SinogramBand part = part_of(kept, {row, row + 1});
    auto memory = host_memory(part.floats() * value_bytes);
    auto* seen = reinterpret_cast<float*>(memory.get());
    copy_down(part, seen, "look at a row on the device");
    return {std::move(memory), seen};
  }

  void later(std::function<void(ThreadPool&)> work) override {
    constexpr std::size_t most_looks = 8;  // each holds page-locked rows
    if (looks_.size() == most_looks) {
      looks_.front().get();
      looks_.pop_front();
    }
    auto done = std::make_shared<cuda::Event>();
    done->record(stream());
    looks_.push_back(std::async(std::launch::async, [done, work = std::move(work), device = device_] {
      cuda::use_device(device);
      done->synchronize();
      ThreadPool alone(1);
      work(alone);
    }));
  }

  void wait() override { work_->wait(); }
  void finish() override {
    wait();
    for (auto& look : looks_) look.get();
    looks_.clear();
  }

  // Half of the memory is for rows that wait, half for bands: two on their way up, one at work, and what corrections
  // take beside it, which is at most seven times as much (rings by sorting: values, places, keys, two filters).
  std::int64_t most_floats() const override { return memory_bytes_ / 2 / (10 * value_bytes); }
  std::int64_t memory_for_others() const override {
    return limited_ ? memory_bytes_ : cuda::free_memory_bytes(device_) * 9 / 10 - memory_bytes_ / 2;
  }
  std::unique_ptr<RowKeeper> make_store(const RowStoreSize& size) override {
    cuda::use_device(device_);
    if (size.floats() * value_bytes <= memory_bytes_ / 2) try {
        return std::make_unique<DeviceRowStore>(size, device_, *work_);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::memory) throw;
      }
    return std::make_unique<BroughtBack>(size, *this);
  }

  ThreadPool& pool() override { return pool_; }

private:
  struct Upload {  // one of two on the way up
    cuda::DeviceBuffer<unsigned char> pixels;
    RecordedBand band;
    cuda::Event arrived, used;
  };

  // Rows that do not fit on the card wait on the host.
  class BroughtBack final : public RowKeeper {
  public:
    BroughtBack(const RowStoreSize& size, DeviceEngine& engine) : store_(size), engine_(engine) {}
    void put(const SinogramBand& kept, RowBand rows) override {
      SinogramBand host = part_of(kept, rows);
      const auto memory = engine_.host_memory(host.floats() * value_bytes);
      host.data = reinterpret_cast<float*>(memory.get());
      engine_.bring_back(kept, rows, host.data);
      store_.put(host, rows);
    }
    void get(std::int64_t view, RowBand rows, float* out) const override { store_.get(view, rows, out); }
    std::int64_t memory_bytes() const override { return store_.memory_bytes(); }
    std::string place() const override { return store_.place(); }

  private:
    RowStore store_;
    DeviceEngine& engine_;
  };

  BandStaging staging_for(const Normalisation* normalisation, Stage to) {
    const bool grey = to == Stage::grey_levels;
    if (!normalisation) return {.to = grey ? BandStage::line_to_grey : BandStage::as_it_is};
    if (normalisation != held_) {
      held_ = nullptr;
      dark_ = cuda::on_device(normalisation->dark.data(), normalisation->dark.size(), "send the dark to the device");
      log_i0_ = cuda::on_device(normalisation->log_i0.data(), normalisation->log_i0.size(), "send flats to the device");
      held_ = normalisation;
    }
    return {.to = grey ? BandStage::counts_to_grey : BandStage::counts_to_line,
            .dark = dark_.data(),
            .log_i0 = log_i0_.data(),
            .log_i0_everywhere = normalisation->log_i0_everywhere,
            .clip = normalisation->clip};
  }
  SinogramBand kept_as(const SinogramBand& shape) {
    make_room(kept_, shape.floats());
    SinogramBand kept = shape;
    kept.data = kept_.data();
    return kept;
  }
  void copy_down(const SinogramBand& from, float* to, const char* doing) const {
    cuda::check(cudaMemcpyAsync(to, from.data, static_cast<std::size_t>(from.floats() * value_bytes),
                                cudaMemcpyDeviceToHost, stream()),
                doing);
  }

  cudaStream_t stream() const { return cuda::stream_of(*work_); }

  int device_;
  ThreadPool& pool_;
  bool limited_;
  std::int64_t memory_bytes_;
  std::shared_ptr<PinnedPool> pinned_ = std::make_shared<PinnedPool>();
  std::unique_ptr<Device> card_, host_;  // the host helps out where the card lacks a kernel
  cuda::Stream up_;
  std::unique_ptr<Queue> work_ =
      card_->make_queue(QueueRank::first);  // sums of slabs go on, and wait for the next band
  std::unique_ptr<Queue> helper_ = host_->make_queue();
  std::array<Upload, 2> uploads_;
  std::int64_t sent_ = 0, taken_ = 0;
  cuda::DeviceBuffer<float> kept_, dark_, log_i0_;
  const Normalisation* held_ = nullptr;
  std::deque<std::future<void>> looks_;
};

}  // namespace

std::unique_ptr<BandEngine> device_engine(const std::string& devices, ThreadPool& pool, std::int64_t memory_bytes) {
  return std::make_unique<DeviceEngine>(cuda::parse_devices(devices).front(), pool, memory_bytes);
}

}  // namespace lepus
