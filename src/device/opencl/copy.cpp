// SPDX-License-Identifier: Apache-2.0
// Copies between host and device, and memory set to zero.
#include <cstring>

#include "device/opencl/device.h"
#include "device/opencl/queue.h"

namespace lepus::opencl {

bool OpenclDevice::copies_fast(const void* host_memory) const {
  return context_->device().shares_memory || context_->resolve(host_memory).kind == Context::Kind::host;
}

void OpenclDevice::copy(void* to, const void* from, std::int64_t bytes, Queue& queue) {
  if (bytes <= 0) return;
  const Context& c = *context_;
  const cl_command_queue q = opencl_queue(queue).get();
  const auto size = static_cast<std::size_t>(bytes);
  const auto offset = [](const Context::Resolved& place) { return static_cast<std::size_t>(place.offset); };
  Context::Resolved target = c.resolve(to), source = c.resolve(from);
  // Who copies from or to memory that is not ours may do as it likes with it afterwards.
  const auto blocking = [](const Context::Resolved& host) {
    return static_cast<cl_bool>(host.kind == Context::Kind::plain ? CL_TRUE : CL_FALSE);
  };
  if (target.kind == Context::Kind::device && source.kind == Context::Kind::device) {
    c.resolve_device(to, bytes), c.resolve_device(from, bytes);
    c.check(c.cl().EnqueueCopyBuffer(q, source.memory, target.memory, offset(source), offset(target), size, 0, nullptr,
                                     nullptr),
            "copy on the device");
  } else if (target.kind == Context::Kind::device) {
    c.resolve_device(to, bytes);
    c.check(
        c.cl().EnqueueWriteBuffer(q, target.memory, blocking(source), offset(target), size, from, 0, nullptr, nullptr),
        "copy to the device");
  } else if (source.kind == Context::Kind::device) {
    c.resolve_device(from, bytes);
    c.check(c.cl().EnqueueReadBuffer(q, source.memory, blocking(target), offset(source), size, to, 0, nullptr, nullptr),
            "copy from the device");
  } else {
    queue.wait();  // in its turn
    std::memmove(to, from, size);
    return;
  }
  c.check(c.cl().Flush(q), "start a copy");
}

void OpenclDevice::clear(void* memory, std::int64_t bytes, Queue& queue) {
  if (bytes <= 0) return;
  const Context& c = *context_;
  const Context::Resolved place = c.resolve(memory);
  if (place.kind != Context::Kind::device) {
    queue.wait();
    std::memset(memory, 0, static_cast<std::size_t>(bytes));
    return;
  }
  c.resolve_device(memory, bytes);
  constexpr cl_int zeros[4] = {};
  const std::size_t pattern = (place.offset | bytes) % 16 == 0 ? 16 : (place.offset | bytes) % 4 == 0 ? 4 : 1;
  c.check(c.cl().EnqueueFillBuffer(opencl_queue(queue).get(), place.memory, zeros, pattern,
                                   static_cast<std::size_t>(place.offset), static_cast<std::size_t>(bytes), 0, nullptr,
                                   nullptr),
          "clear memory of the device");
}

}  // namespace lepus::opencl
