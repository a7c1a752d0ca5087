// SPDX-License-Identifier: Apache-2.0
// Device memory for the steps of a correction, on one stream: taken piece by piece, given back all at once and used
// again by the next, since asking the driver for memory makes the whole card wait.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda/device_memory.h"

namespace lepus::cuda {

class Workspace {
public:
  explicit Workspace(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream() const { return stream_; }

  // n elements, not initialised, aligned to 256 bytes; valid until the enclosing Scope ends.
  template <class T>
  T* take(std::int64_t n) {
    return static_cast<T*>(take_bytes(n * static_cast<std::int64_t>(sizeof(T))));
  }

  // What is taken during its life is given back at its end. Work on the stream that still uses it is safe: whoever
  // takes the memory next works on the same stream.
  class Scope {
  public:
    explicit Scope(Workspace& workspace) : workspace_(workspace), used_(workspace.used_) {}
    ~Scope() { workspace_.used_ = used_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    Workspace& workspace_;
    std::size_t used_;
  };

private:
  void* take_bytes(std::int64_t bytes);

  cudaStream_t stream_;
  std::vector<DeviceBuffer<unsigned char>> pieces_;  // the first used_ of them are taken
  std::size_t used_ = 0;
};

}  // namespace lepus::cuda
