// SPDX-License-Identifier: Apache-2.0
// Memory of a device, and host memory that it copies from fastest, that is kept from band to band: both are slow to
// take.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/device.h"

namespace lepus {

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

// What is given back is handed out again.
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

}  // namespace lepus
