// SPDX-License-Identifier: Apache-2.0
// One device's share of the sweep: takes slabs from a queue until none is left.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/cuda/backproject.h"
#include "backend/cuda/device_memory.h"
#include "backend/cuda/row_filter.h"
#include "pipeline/device_sweep.h"

namespace lepus {

// The slabs that are still to be made, in order; a faster device comes back for more sooner.
class SlabTickets {
public:
  explicit SlabTickets(std::int64_t slabs) : slabs_(slabs) {}
  std::optional<std::int64_t> next() {
    const std::int64_t slab = next_++;
    return slab < slabs_ ? std::optional(slab) : std::nullopt;
  }
  void stop() { next_ = slabs_; }

private:
  std::int64_t slabs_;
  std::atomic<std::int64_t> next_{0};
};

// Writers take slices in order; slabs of several devices wait here for their turn.
class OrderedWriter {
public:
  explicit OrderedWriter(VolumeWriter& writer) : writer_(writer) {}
  float* in_memory(std::int64_t z0) { return writer_.in_memory(z0); }
  void write(std::int64_t z0, std::int64_t z1, const float* slices);
  void stop();  // whoever waits throws

private:
  VolumeWriter& writer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_ = 0;
  bool stopped_ = false;
};

// The largest line integral that counts can give: one count where the flat is brightest.
float largest_line_integral(const Normalisation& normalisation);

class DeviceWorker {
public:
  DeviceWorker(const DeviceJob& job, const DevicePlan& plan, const cuda::Backprojection& backprojection, int device);
  ~DeviceWorker();

  // What the frames need on the device. Before any worker runs: taking memory makes the whole card wait.
  void prepare(const DeviceSweep::Frames& frames, float largest_value);
  // threads_are_free: frames may be read with the context's threads (one worker only).
  SweepTimes run(SlabTickets& tickets, OrderedWriter& writer, Context& context, bool threads_are_free);

private:
  struct Wedge {
    std::int64_t first, views;
    RowBand rows;     // to be filtered and held
    RowBand counted;  // among them, those that no earlier slab has had
  };
  struct Upload {  // one of two buffers on the way up
    cuda::PinnedBuffer<unsigned char> staged;
    cuda::DeviceBuffer<unsigned char> pixels;
    cuda::Event arrived, used;
  };
  struct Slab {  // one of two; while one comes down, in a thread of its own, the other is summed
    cuda::DeviceBuffer<float> voxels;
    cuda::Stream down;
    std::vector<cuda::PinnedBuffer<float>> landing;  // pieces on their way to the writer
    cuda::Event summed;
    std::future<void> coming_down;
  };
  struct Spans;  // what the events measured

  void make_row_filter();
  Wedge wedge(std::int64_t slab, std::int64_t index) const;
  void load(const Wedge& wedge);
  void send_up(const Wedge& wedge, Upload& upload);
  const void* stage(const Wedge& wedge, std::int64_t slot, Upload& upload);
  void record(std::int64_t view, RowBand rows, const unsigned char* pixels) const;
  void prepare_on_host(const Wedge& wedge, std::int64_t slot, unsigned char* out);
  void sum(std::int64_t first_slot, std::int64_t first_view, std::int64_t views, std::int64_t slab, const Slab& into);
  void bring_down(std::int64_t slab, Slab& from, OrderedWriter& writer);
  void report_bad_pixels();

  const DeviceJob& job_;
  const DevicePlan& plan_;
  const cuda::Backprojection& backprojection_;
  int device_;
  const DeviceSweep::Frames* frames_ = nullptr;
  Context* context_ = nullptr;
  bool threads_are_free_ = false;

  cuda::Stream up_, work_;
  std::vector<Upload> uploads_;
  std::vector<Slab> slabs_;
  cuda::DeviceBuffer<float> filtered_;
  std::unique_ptr<cuda::ViewTextures> store_;
  std::unique_ptr<cuda::RowFilter> filter_;
  std::int64_t loads_ = 0;
  std::unique_ptr<Spans> spans_;
};

}  // namespace lepus
