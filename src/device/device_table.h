// SPDX-License-Identifier: Apache-2.0
// A table of the host as devices see it: a copy in the memory of each that asks for it, made once; on the host the
// table itself, which outlives this.
#pragma once

#include <map>
#include <mutex>
#include <span>

#include "device/device.h"

namespace lepus {

template <class T>
class DeviceTable {
public:
  explicit DeviceTable(std::span<const T> table) : table_(table) {}

  const T* on(Queue& queue) {
    Device& device = queue.device();
    if (device.info().host) return table_.data();
    const std::lock_guard lock(mutex_);
    Block& copy = copies_[&device];
    if (!copy) {
      const auto bytes = static_cast<std::int64_t>(table_.size_bytes());
      copy = device.allocate(bytes);
      device.copy(copy.get(), table_.data(), bytes, queue);
      queue.wait();  // other queues of the device use it, too
    }
    return reinterpret_cast<const T*>(copy.get());
  }

private:
  std::span<const T> table_;
  std::map<const Device*, Block> copies_;
  std::mutex mutex_;
};

}  // namespace lepus
