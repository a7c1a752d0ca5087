// SPDX-License-Identifier: Apache-2.0
// A CUDA card as a device: streams are its queues, page-locked memory is what it copies from fastest.
#pragma once

#include <memory>

#include "device/cuda/device_memory.h"
#include "device/device.h"

namespace lepus::cuda {

// Throws Error(unsupported) where it cannot be used. memory_bytes: the limit; 0: 90 % of what is free.
std::unique_ptr<Device> make_device(int number, Precision precision, std::int64_t memory_bytes);

cudaStream_t stream_of(const Queue& queue);  // throws Error(internal) where the queue is another device's
cudaEvent_t event_of(const lepus::Event& event);

}  // namespace lepus::cuda
