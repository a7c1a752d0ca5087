// SPDX-License-Identifier: Apache-2.0
// The host as a device: its own memory, its threads; every call returns when its work is done.
#pragma once

#include <memory>
#include <string>

#include "core/threads.h"
#include "device/device.h"

namespace lepus::host {

// "cpu": SIMD kernels in single precision. "reference": plain loops in double precision. target: of the
// backprojection's kernels, which tests and benchmarks choose (backprojector.h).
std::unique_ptr<Device> make_device(const std::string& kind, ThreadPool& threads, const std::string& target = "");

// What work of this queue runs on.
class HostQueue final : public Queue {
public:
  // threads null: the caller's alone.
  HostQueue(Device& device, ThreadPool* threads) : Queue(device), alone_(1), threads_(threads ? *threads : alone_) {}
  ThreadPool& threads() const { return threads_; }
  void after(const Event&) override {}  // whatever was marked is done
  void wait() override {}

private:
  ThreadPool alone_;
  ThreadPool& threads_;
};
// Throws Error(internal) where the queue is another device's.
ThreadPool& threads_of(const Queue& queue);

}  // namespace lepus::host
