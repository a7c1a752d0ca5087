// SPDX-License-Identifier: Apache-2.0
#include "run/row_queue.h"

#include <utility>

namespace lepus {

RowQueue::RowQueue(const FrameSource& frames, std::int64_t batches,
                   std::function<std::vector<RowRequest>(std::int64_t)> requests, std::int64_t capacity_bytes)
    : frames_(frames), capacity_(capacity_bytes) {
  reader_ = std::thread([this, batches, requests = std::move(requests)] { read_all(batches, requests); });
}

RowQueue::~RowQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  reader_.join();
}

// A block larger than the whole capacity still goes through when the queue is empty.
bool RowQueue::wait_for_room(std::int64_t bytes) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return stopping_ || held_ == 0 || held_ + bytes <= capacity_; });
  held_ += bytes;
  return !stopping_;
}

void RowQueue::read_all(std::int64_t batches, const std::function<std::vector<RowRequest>(std::int64_t)>& requests) {
  try {
    const std::int64_t row_bytes = frames_.columns() * bytes_per_pixel(frames_.pixel_type());
    for (std::int64_t batch = 0; batch < batches; ++batch)
      for (const RowRequest& request : requests(batch)) {
        const std::int64_t bytes = request.recorded.size() * row_bytes;
        if (!wait_for_room(bytes)) return;
        RowBlock block{request, Buffer<unsigned char>(bytes)};
        frames_.read_native(request.view, request.recorded.first, request.recorded.last, block.pixels.data());
        const std::lock_guard lock(mutex_);
        blocks_.push_back(std::move(block));
        filled_.notify_one();
      }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    filled_.notify_all();
  }
}

RowBlock RowQueue::take() {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [&] { return !blocks_.empty() || failure_; });
  if (blocks_.empty()) std::rethrow_exception(failure_);
  RowBlock block = std::move(blocks_.front());
  blocks_.pop_front();
  held_ -= block.pixels.size();
  room_.notify_one();
  return block;
}

}  // namespace lepus
