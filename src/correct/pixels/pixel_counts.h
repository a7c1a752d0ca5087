// SPDX-License-Identifier: Apache-2.0
// How many pixels each row of the detector had replaced; -1 where it has not been seen yet. A row may come along in
// several bands: the last count stands, so that every pixel is counted once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include "correct/replaced_share.h"
#include "device/device.h"

namespace lepus::pixels {

class PixelCounts {
public:
  explicit PixelCounts(std::int64_t rows) : rows_(rows) {}

  // One number per row of the detector, which the device's kernels write.
  std::int64_t* on(Device& device) {
    const std::lock_guard lock(mutex_);
    Block& memory = counts_[&device];
    if (!memory) {
      memory = device.allocate(rows_ * static_cast<std::int64_t>(sizeof(std::int64_t)), Place::host);
      std::fill_n(numbers(memory), rows_, -1);
    }
    return numbers(memory);
  }

  // When the queues have been waited for.
  std::int64_t total() const { return replaced(1).pixels; }
  // Of the rows that have been seen, in which each could have so many.
  ReplacedPixels replaced(std::int64_t of_each_row) const {
    const std::lock_guard lock(mutex_);
    ReplacedPixels sum;
    for (std::int64_t row = 0; row < rows_; ++row) {
      std::int64_t count = -1;
      for (const auto& [device, memory] : counts_) count = std::max(count, numbers(memory)[row]);
      if (count < 0) continue;
      sum.pixels += count;
      sum.of += of_each_row;
    }
    return sum;
  }

private:
  static std::int64_t* numbers(const Block& memory) { return reinterpret_cast<std::int64_t*>(memory.get()); }

  std::int64_t rows_;
  std::map<const Device*, Block> counts_;
  mutable std::mutex mutex_;
};

}  // namespace lepus::pixels
