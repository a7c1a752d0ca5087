// SPDX-License-Identifier: Apache-2.0
// The chain of corrections on a device with memory of its own, whichever it is.
#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <mutex>

#include "correct/apply_correction.h"
#include "device/band_kernels.h"
#include "device/device.h"
#include "run/band_engine.h"

namespace lepus {
namespace {

// Memory of the device that is taken anew only where it is too small: that may make a whole card wait.
class GrowingBlock {
public:
  std::byte* at_least(std::int64_t bytes, Device& device) {
    if (bytes_ < bytes) {
      memory_.reset();
      memory_ = device.allocate(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }
  std::byte* get() const { return memory_.get(); }

private:
  Block memory_;
  std::int64_t bytes_ = 0;
};

// Memory that the device copies from fastest is slow to take; what is given back is handed out again.
class HostMemoryPool : public std::enable_shared_from_this<HostMemoryPool> {
public:
  explicit HostMemoryPool(Device& device) : device_(device) {}
  std::shared_ptr<unsigned char> take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    // A row does not get what a band needs.
    const auto fits =
        std::ranges::find_if(free_, [&](const Piece& p) { return p.bytes >= bytes && p.bytes <= 2 * bytes; });
    Piece piece;
    if (fits == free_.end()) {
      piece = {device_.allocate(bytes, Place::host), bytes};
    } else {
      piece = std::move(*fits);
      free_.erase(fits);
    }
    auto* memory = reinterpret_cast<unsigned char*>(piece.memory.get());
    return {memory, [pool = shared_from_this(), piece](unsigned char*) {
              const std::lock_guard returning(pool->mutex_);
              pool->free_.push_back(piece);
            }};
  }

private:
  struct Piece {
    Block memory;
    std::int64_t bytes = 0;
  };
  Device& device_;
  std::mutex mutex_;
  std::vector<Piece> free_;
};

// All rows of all views in device memory, [row][view][column].
class DeviceRowStore final : public RowKeeper {
public:
  DeviceRowStore(const RowStoreSize& size, Device& device, Queue& work)
      : device_(device),
        work_(work),
        down_(device.make_queue(QueueRank::beside)),
        memory_(device.allocate(size.floats() * value_bytes)) {
    all_ = {reinterpret_cast<float*>(memory_.get()), size.columns, size.views, {0, size.rows}, size.rows};
  }
  const SinogramBand* room_for(RowBand rows) override {
    room_ = part_of(all_, rows);
    return &room_;
  }
  void put(const SinogramBand& kept, RowBand rows) override {
    const SinogramBand from = part_of(kept, rows), to = part_of(all_, rows);
    if (from.data != to.data) device_.copy(to.data, from.data, from.floats() * value_bytes, work_);
  }
  void get(std::int64_t view, RowBand rows, float* out) const override {
    const std::lock_guard lock(downloading_);
    work_.wait();
    const std::int64_t width = all_.columns * value_bytes;
    device_.copy_rows(out, width, part_of(all_, rows).data + view * all_.columns, width * all_.views, width,
                      rows.size(), *down_);
    down_->wait();
  }
  const SinogramBand* on_device(const DeviceInfo& device) const override {
    if (device.kind != device_.info().kind || device.number != device_.info().number) return nullptr;
    work_.wait();
    return &all_;
  }
  std::int64_t memory_bytes() const override { return 0; }
  std::string place() const override { return "on the GPU"; }

private:
  Device& device_;
  Queue& work_;
  mutable std::mutex downloading_;
  std::unique_ptr<Queue> down_;
  Block memory_;
  SinogramBand all_, room_;
};

class DeviceEngine final : public BandEngine {
public:
  DeviceEngine(Device& device, ThreadPool& pool, std::int64_t memory_bytes)
      : device_(device),
        pool_(pool),
        limited_(memory_bytes > 0),
        memory_bytes_((limited_ ? memory_bytes : device.free_bytes()) / 2),
        host_(open_devices(compute_on("cpu"), pool)),
        helper_(host_.front()->make_queue()),
        host_memory_(std::make_shared<HostMemoryPool>(device)),
        up_(device.make_queue()),
        work_(device.make_queue(QueueRank::first)) {  // sums of slabs go on meanwhile, and wait for the next band
    for (Upload& upload : uploads_) {
      upload.arrived = device.make_event();
      upload.used = device.make_event();
    }
  }
  ~DeviceEngine() override {
    for (Queue* queue : {up_.get(), work_.get()}) try {  // looks wait for what is in it
        queue->wait();
      } catch (...) {  // a device that was lost has nothing more to do with them
      }
    for (auto& look : looks_) look.wait();
  }

  bool takes_recorded() const override { return true; }
  bool sends_from(const void* memory) const override { return device_.copies_fast(memory); }
  std::shared_ptr<unsigned char> host_memory(std::int64_t bytes) override { return host_memory_->take(bytes); }

  void send(RecordedBand&& band) override {
    Upload& upload = uploads_[static_cast<std::size_t>(sent_++ % 2)];
    upload.arrived->wait();    // the host's memory of what was here before may be used again
    up_->after(*upload.used);  // and what it became has been taken
    const std::int64_t view_bytes = band.shape.rows.size() * band.shape.columns * bytes_per_pixel(band.type);
    std::byte* pixels = upload.pixels.at_least(view_bytes * band.shape.views, device_);
    device_.copy_views(band.views, view_bytes, pixels, 1, *up_);
    upload.arrived->mark(*up_);
    upload.band = std::move(band);
  }

  void drop_sent() override { taken_ = sent_; }

  SinogramBand take_sent(const Normalisation* normalisation, Stage to, const SinogramBand* room) override {
    const Upload& upload = uploads_[static_cast<std::size_t>(taken_++ % 2)];
    SinogramBand kept = upload.band.shape;
    if (room && room->rows == kept.rows)
      kept = *room;
    else
      kept.data = reinterpret_cast<float*>(kept_.at_least(kept.floats() * value_bytes, device_));
    work_->after(*upload.arrived);
    device_.band_kernels().to_stage(upload.band.type, upload.pixels.get(), kept, staging_for(normalisation, to),
                                    *work_);
    upload.used->mark(*work_);
    return kept;
  }

  void take_log(const SinogramBand& kept, const Normalisation* normalisation) override {
    device_.band_kernels().logarithm(kept, staging_for(normalisation, Stage::line_integrals), lowest_grey_of_lines,
                                     *work_);
  }

  void apply(Correction& correction, const SinogramBand& kept, RowBand wanted) override {
    const ScratchScope scope(*work_);
    apply_correction(correction, kept, wanted, *work_, *helper_);
  }

  void bring_back(const SinogramBand& kept, RowBand rows, float* host) override {
    download(part_of(kept, rows), host);
    work_->wait();
  }

  std::shared_ptr<const float> look_at(const SinogramBand& kept, std::int64_t row) override {
    const SinogramBand part = part_of(kept, {row, row + 1});
    auto memory = host_memory(part.floats() * value_bytes);
    auto* seen = reinterpret_cast<float*>(memory.get());
    download(part, seen);
    return {std::move(memory), seen};
  }

  void later(std::function<void(ThreadPool&)> work) override {
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
    return limited_ ? memory_bytes_ : device_.free_bytes() * 9 / 10 - memory_bytes_ / 2;
  }
  std::unique_ptr<RowKeeper> make_store(const RowStoreSize& size) override {
    if (size.floats() * value_bytes <= memory_bytes_ / 2) try {
        return std::make_unique<DeviceRowStore>(size, device_, *work_);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::memory) throw;
      }
    return std::make_unique<DownloadedRows>(size, *this);
  }

  ThreadPool& pool() override { return pool_; }

private:
  struct Upload {  // one of two on the way up
    GrowingBlock pixels;
    RecordedBand band;
    std::unique_ptr<Event> arrived, used;
  };

  // Rows that do not fit on the device wait on the host.
  class DownloadedRows final : public RowKeeper {
  public:
    DownloadedRows(const RowStoreSize& size, DeviceEngine& engine) : store_(size), engine_(engine) {}
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
      dark_ = uploaded(normalisation->dark);
      log_i0_ = uploaded(normalisation->log_i0);
      held_ = normalisation;
    }
    return {.to = grey ? BandStage::counts_to_grey : BandStage::counts_to_line,
            .dark = reinterpret_cast<const float*>(dark_.get()),
            .log_i0 = reinterpret_cast<const float*>(log_i0_.get()),
            .log_i0_everywhere = normalisation->log_i0_everywhere,
            .clip = normalisation->clip};
  }
  Block uploaded(const Buffer<float>& map) {
    if (map.size() == 0) return nullptr;
    Block there = device_.allocate(map.bytes());
    device_.copy(there.get(), map.data(), map.bytes(), *work_);
    work_->wait();
    return there;
  }
  void download(const SinogramBand& from, float* to) {
    device_.copy(to, from.data, from.floats() * value_bytes, *work_);
  }

  Device& device_;
  ThreadPool& pool_;
  bool limited_;
  std::int64_t memory_bytes_;
  Devices host_;  // for what the device has no kernel for
  std::unique_ptr<Queue> helper_;
  std::shared_ptr<HostMemoryPool> host_memory_;
  std::unique_ptr<Queue> up_, work_;
  std::array<Upload, 2> uploads_;
  std::int64_t sent_ = 0, taken_ = 0;
  GrowingBlock kept_;
  Block dark_, log_i0_;
  const Normalisation* held_ = nullptr;
  std::deque<std::future<void>> looks_;
};

}  // namespace

std::unique_ptr<BandEngine> device_engine(Device& device, ThreadPool& pool, std::int64_t memory_bytes) {
  return std::make_unique<DeviceEngine>(device, pool, memory_bytes);
}

}  // namespace lepus
