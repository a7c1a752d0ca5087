// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/memory.h"
#include "run/row_loader.h"

namespace lepus {
namespace {

// Rows that were read together.
struct Chunk {
  std::vector<RowBlock> blocks;
  Buffer<std::byte> memory;
};

// Reads chunk after chunk on its own thread, within a bound on bytes, so that disk and arithmetic overlap; but no more
// batches than `ahead` before they are loaded: a slab whose rows are asked for is taken, and no other rank can make it.
class ChunkReader {
public:
  ChunkReader(const FrameSource& frames, Batches requests, std::int64_t ahead, std::int64_t capacity_bytes)
      : frames_(frames), capacity_(capacity_bytes), batches_(ahead) {
    reader_ = std::thread([this, requests = std::move(requests)] { read_all(requests); });
  }
  ~ChunkReader() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    space_.notify_all();
    reader_.join();
  }
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;

  void begin_batch() {
    const std::lock_guard lock(mutex_);
    ++batches_;
    space_.notify_one();
  }
  // Waits for the disk; rethrows what reading threw.
  Chunk next() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return !chunks_.empty() || failure_; });
    if (chunks_.empty()) std::rethrow_exception(failure_);
    Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return chunk;
  }
  void done_with(Chunk&& chunk) {
    const std::int64_t bytes = chunk.memory.bytes();
    { const Chunk gone = std::move(chunk); }
    const std::lock_guard lock(mutex_);
    held_ -= bytes;
    space_.notify_one();
  }

private:
  std::int64_t bytes_of(const RowRequest& request) const {
    return request.recorded.size() * frames_.columns() * bytes_per_pixel(frames_.pixel_type());
  }

  // A chunk larger than the whole capacity still goes through when nothing else is held.
  bool wait_for_memory(std::int64_t bytes) {
    std::unique_lock lock(mutex_);
    space_.wait(lock, [&] { return stopping_ || held_ == 0 || held_ + bytes <= capacity_; });
    held_ += bytes;
    return !stopping_;
  }

  bool wait_for_batch(std::int64_t batch) {
    std::unique_lock lock(mutex_);
    space_.wait(lock, [&] { return stopping_ || batch < batches_; });
    return !stopping_;
  }

  bool read(std::span<const RowRequest> requests, std::int64_t bytes) {
    if (!wait_for_memory(bytes)) return false;
    Chunk chunk{{}, Buffer<std::byte>(bytes)};
    std::byte* at = chunk.memory.data();
    for (const RowRequest& request : requests) {
      frames_.read_native(request.view, request.recorded.first, request.recorded.last, at);
      chunk.blocks.push_back({request, at});
      at += bytes_of(request);
    }
    const std::lock_guard lock(mutex_);
    chunks_.push_back(std::move(chunk));
    filled_.notify_one();
    return true;
  }

  void read_all(const Batches& requests_of) {
    try {
      // The first are small, so that filtering can begin; then large enough to keep many threads busy.
      std::int64_t size = std::int64_t{1} << 20;
      for (std::int64_t batch = 0; wait_for_batch(batch); ++batch) {
        const auto asked = requests_of(batch);
        if (!asked) return;
        const std::vector<RowRequest>& requests = *asked;
        for (std::size_t first = 0, last = 0; first < requests.size(); first = last) {
          std::int64_t bytes = 0;
          for (; last < requests.size() && (last == first || bytes + bytes_of(requests[last]) <= size); ++last)
            bytes += bytes_of(requests[last]);
          if (!read(std::span(requests).subspan(first, last - first), bytes)) return;
          size = std::min(2 * size, std::max(size, capacity_ / 3));
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      filled_.notify_all();
    }
  }

  const FrameSource& frames_;
  std::int64_t capacity_, held_ = 0;
  std::int64_t batches_;  // that may be read so far
  std::mutex mutex_;
  std::condition_variable space_, filled_;
  std::deque<Chunk> chunks_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread reader_;
};

class ReadAhead final : public RowLoader {
public:
  ReadAhead(const RowLoaderSetup& setup, Batches ahead, std::int64_t batches_ahead)
      : filter_(setup.device->make_row_filter(filter_setup(setup))),
        reader_(*setup.frames->source, std::move(ahead), batches_ahead, setup.plan->host.rows) {}

  void load(const std::vector<RowRequest>& requests, ViewStore& store, Queue& work, WorkTimes& filtering, Context&,
            bool) override {
    reader_.begin_batch();
    filtering.around(work, [&] {
      for (std::size_t done = 0; done < requests.size();) {
        Chunk chunk = reader_.next();
        filter_->filter(chunk.blocks, store, work);
        done += chunk.blocks.size();
        reader_.done_with(std::move(chunk));
      }
    });
  }
  void report_bad_pixels() override { filter_->report_bad_pixels(); }

private:
  std::unique_ptr<RowFilter> filter_;
  ChunkReader reader_;
};

}  // namespace

RowFilterSetup filter_setup(const RowLoaderSetup& setup) {
  const SweepJob& job = *setup.job;
  const SweepFrames& frames = *setup.frames;
  RowFilterSetup filter;
  filter.wide = job.wide;
  filter.weights = job.weights;
  filter.ramp = job.ramp;
  filter.columns = job.columns;
  filter.columns_before = job.columns_before;
  filter.view_order = &setup.projector->view_order();
  filter.recorded_columns = frames.source->columns();
  filter.type = frames.source->pixel_type();
  filter.normalisation = frames.normalisation;
  filter.dead_pixels = frames.dead_pixels;
  filter.resampler = job.resampler;
  filter.audit = frames.audit;
  return filter;
}

std::unique_ptr<RowLoader> read_ahead(const RowLoaderSetup& setup, Batches ahead, std::int64_t batches_ahead) {
  return std::make_unique<ReadAhead>(setup, std::move(ahead), batches_ahead);
}

}  // namespace lepus
