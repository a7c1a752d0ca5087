// SPDX-License-Identifier: Apache-2.0
// How many pixels each row of the detector had replaced; -1 where it has not been seen yet. A row may come along in
// several bands: the last count stands, so that every pixel is counted once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "correct/replaced_share.h"

#ifdef LEPUS_HAVE_CUDA
#include "device/cuda/device_memory.h"
#endif

namespace lepus::pixels {

class PixelCounts {
public:
  explicit PixelCounts(std::int64_t rows) : host_(static_cast<std::size_t>(rows), -1) {}

  std::int64_t& operator[](std::int64_t row) { return host_[static_cast<std::size_t>(row)]; }

#ifdef LEPUS_HAVE_CUDA
  // One number per row of the detector in pinned memory, into which kernels write directly: no copy, no waiting.
  std::int64_t* for_device() {
    const std::lock_guard lock(mutex_);
    if (device_.size() == 0) {
      device_ = cuda::PinnedBuffer<std::int64_t>(static_cast<std::int64_t>(host_.size()));
      std::fill(device_.data(), device_.data() + device_.size(), -1);
    }
    return device_.data();
  }
#endif

  // After the device's stream has been waited for.
  std::int64_t total() const { return replaced(1).pixels; }
  // Of the rows that have been seen, in which each could have so many.
  ReplacedPixels replaced(std::int64_t of_each_row) const {
    ReplacedPixels sum;
    for (std::size_t row = 0; row < host_.size(); ++row) {
      std::int64_t count = host_[row];
#ifdef LEPUS_HAVE_CUDA
      if (device_.size() > 0) count = std::max(count, device_.data()[row]);
#endif
      if (count < 0) continue;
      sum.pixels += count;
      sum.of += of_each_row;
    }
    return sum;
  }

private:
  std::vector<std::int64_t> host_;
#ifdef LEPUS_HAVE_CUDA
  cuda::PinnedBuffer<std::int64_t> device_;
  std::mutex mutex_;
#endif
};

}  // namespace lepus::pixels
