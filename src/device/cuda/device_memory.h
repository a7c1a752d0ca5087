// SPDX-License-Identifier: Apache-2.0
// Owners of what the CUDA runtime hands out: device and pinned host memory, arrays, textures, surfaces, streams,
// events. All can be moved, none copied; all belong to the device that was current when they were made.
// A failed allocation throws Error(memory) and leaves nothing behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_runtime_api.h>

namespace lepus::cuda {

// A handle that is given back once. `Free` is called with the handle, and only where there is one.
template <class Handle, auto Free>
class Owner {
public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, Handle{});
    }
    return *this;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { reset(); }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }
  void reset() {
    if (handle_ != Handle{}) Free(handle_);
    handle_ = Handle{};
  }

private:
  Handle handle_{};
};

using Array = Owner<cudaArray_t, cudaFreeArray>;
using Texture = Owner<cudaTextureObject_t, cudaDestroyTextureObject>;
using Surface = Owner<cudaSurfaceObject_t, cudaDestroySurfaceObject>;

void* allocate_device(std::int64_t bytes);
void* allocate_pinned(std::int64_t bytes);
void free_pinned(void* memory);
bool is_pinned(const void* memory);  // whoever made it so
bool reaches_pinned(int device);     // kernels of the device use it by the host's own addresses

// `size` elements, not initialised.
template <class T, void* (*Allocate)(std::int64_t), auto Free>
class Memory {
public:
  Memory() = default;
  explicit Memory(std::int64_t size)
      : memory_(size > 0 ? Allocate(size * static_cast<std::int64_t>(sizeof(T))) : nullptr), size_(size) {}
  T* data() const { return static_cast<T*>(memory_.get()); }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }

private:
  Owner<void*, Free> memory_;
  std::int64_t size_ = 0;
};
template <class T>
using DeviceBuffer = Memory<T, allocate_device, cudaFree>;
template <class T>
using PinnedBuffer = Memory<T, allocate_pinned, free_pinned>;

// Done when they return. CUDA's own return while a copy from ordinary memory, or a memset, is still under way on the
// default stream, which our streams do not wait for.
void copy_to_device(void* device, const void* host, std::size_t bytes, const char* doing);
void fill_device(void* device, int byte, std::size_t bytes, const char* doing);

template <class T>
DeviceBuffer<T> on_device(const T* host, std::int64_t size, const char* doing) {
  DeviceBuffer<T> copy(size);
  if (size > 0) copy_to_device(copy.data(), host, static_cast<std::size_t>(copy.bytes()), doing);
  return copy;
}

// A stream that does not wait for the default stream.
class Stream {
public:
  enum class Rank { usual, first };  // first: its work goes before what waits in other streams
  explicit Stream(Rank rank = Rank::usual);
  cudaStream_t get() const { return stream_.get(); }
  void wait_for(cudaEvent_t event) const;  // work given to this stream from now on starts after the event
  void synchronize() const;                // blocks the host

private:
  Owner<cudaStream_t, cudaStreamDestroy> stream_;
};

class Event {
public:
  enum class Timing { off, on };  // without timing it costs less
  explicit Event(Timing timing = Timing::off);
  cudaEvent_t get() const { return event_.get(); }
  void record(cudaStream_t stream) const;
  void synchronize() const;
  bool reached() const;
  static float milliseconds(const Event& from, const Event& to);  // both with timing, both reached

private:
  Owner<cudaEvent_t, cudaEventDestroy> event_;
};

struct MemoryInfo {
  std::int64_t free_bytes, total_bytes;
};
MemoryInfo memory_info();  // of the current device

}  // namespace lepus::cuda
