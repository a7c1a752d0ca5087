// SPDX-License-Identifier: Apache-2.0
// For tests: the host as a device, with threads of its own and a queue.
#pragma once

#include <memory>

#include "core/threads.h"
#include "device/host/device.h"

namespace lepus {

class TestHost {
public:
  explicit TestHost(int count = 0) : threads(count), device_(host::make_device("cpu", threads)) {}
  Queue& queue() { return *queue_; }
  Device& device() { return *device_; }

  ThreadPool threads;

private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_ = device_->make_queue();
};

}  // namespace lepus
