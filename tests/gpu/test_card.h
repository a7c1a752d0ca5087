// SPDX-License-Identifier: Apache-2.0
// For tests: the first card, a queue of it, and floats in its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "device/band_kernels.h"
#include "device/cuda/device.h"

namespace lepus {

class TestCard {
public:
  Queue& queue() { return *queue_; }
  Device& device() { return *device_; }
  BandKernels& kernels() { return device_->band_kernels(); }

  Block upload(std::span<const float> values) {
    const auto bytes = static_cast<std::int64_t>(values.size_bytes());
    Block memory = device_->allocate(bytes);
    device_->copy(memory.get(), values.data(), bytes, *queue_);
    return memory;
  }
  void download(const void* from, std::span<float> to) {
    device_->copy(to.data(), from, static_cast<std::int64_t>(to.size_bytes()), *queue_);
    queue_->wait();
  }
  static float* floats(const Block& memory) { return reinterpret_cast<float*>(memory.get()); }

private:
  std::unique_ptr<Device> device_ = cuda::make_device(0, Precision::half, 0);
  std::unique_ptr<Queue> queue_ = device_->make_queue();
};

}  // namespace lepus
