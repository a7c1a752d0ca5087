// SPDX-License-Identifier: Apache-2.0
// Aligned buffers whose failure says how much was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <lepus/memory.h>

namespace lepus {

// So many floats or more, an odd number of cache lines: arrays so long that lie side by side spread over the cache's
// sets.
constexpr std::int64_t odd_cache_lines(std::int64_t floats) { return ((floats + 15) / 16 | 1) * 16; }

namespace detail {
void* allocate_aligned(std::size_t bytes);  // 64-byte aligned; throws Error(memory)
void free_aligned(void*) noexcept;
struct FreeAligned {
  void operator()(void* p) const noexcept { free_aligned(p); }
};
}  // namespace detail

// An uninitialised array of n trivially copyable elements, aligned to a cache line.
template <class T>
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::int64_t n)
      : data_(static_cast<T*>(detail::allocate_aligned(static_cast<std::size_t>(n) * sizeof(T)))), size_(n) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }
  T& operator[](std::int64_t i) { return data_.get()[i]; }
  const T& operator[](std::int64_t i) const { return data_.get()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

private:
  std::unique_ptr<T[], detail::FreeAligned> data_;
  std::int64_t size_ = 0;
};

}  // namespace lepus
