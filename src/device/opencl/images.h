// SPDX-License-Identifier: Apache-2.0
// Layers of pictures for the sampler: an image2d_array_t of one channel.
#pragma once

#include <cstdint>
#include <utility>

#include "device/opencl/queue.h"

namespace lepus::opencl {

class Layers {
public:
  Layers() = default;
  // All zero. type: CL_FLOAT or CL_HALF_FLOAT. Throws Error(memory).
  Layers(const Context& context, cl_channel_type type, std::int64_t width, std::int64_t height, std::int64_t layers,
         cl_command_queue queue);
  Layers(Layers&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)), image_(std::exchange(other.image_, nullptr)) {}
  Layers& operator=(Layers&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(image_, other.image_);
    return *this;
  }
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;
  ~Layers();

  cl_mem get() const { return image_; }
  static std::int64_t bytes(cl_channel_type type, std::int64_t width, std::int64_t height, std::int64_t layers);

private:
  const Context* context_ = nullptr;
  cl_mem image_ = nullptr;
};

}  // namespace lepus::opencl
