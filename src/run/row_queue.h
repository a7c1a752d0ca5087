// SPDX-License-Identifier: Apache-2.0
// Reads row blocks ahead of their use, on its own thread, within a bound on bytes, so that disk and arithmetic overlap.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/memory.h"
#include "geometry/row_band.h"
#include "io/frames.h"

namespace lepus {

// Rows of one view, wanted in one slot of the band store.
struct RowRequest {
  std::int64_t view = 0;
  std::int64_t slot = 0;
  RowBand rows;      // as they are filtered
  RowBand recorded;  // of the frame, the same unless rows are resampled
};

struct RowBlock {
  RowRequest request;
  Buffer<unsigned char> pixels;  // recorded rows in the frames' own type
};

class RowQueue {
public:
  // requests(i) lists what batch i needs, i = 0 ... batches-1; called on the reading thread.
  RowQueue(const FrameSource& frames, std::int64_t batches,
           std::function<std::vector<RowRequest>(std::int64_t)> requests, std::int64_t capacity_bytes);
  ~RowQueue();
  RowQueue(const RowQueue&) = delete;
  RowQueue& operator=(const RowQueue&) = delete;

  // The next block, in no particular order within a batch. Waits for the disk; rethrows what reading threw.
  // Thread-safe.
  RowBlock take();

private:
  void read_all(std::int64_t batches, const std::function<std::vector<RowRequest>(std::int64_t)>& requests);
  bool wait_for_room(std::int64_t bytes);

  const FrameSource& frames_;
  std::int64_t capacity_, held_ = 0;
  std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::deque<RowBlock> blocks_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread reader_;
};

}  // namespace lepus
