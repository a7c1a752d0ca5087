// SPDX-License-Identifier: Apache-2.0
// What an analysis may take: a limit on memory that all its parts share, and a folder for what does not fit.
// SliceStore: slices of one kind, in memory where the limit allows it, else in a scratch file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/memory.h"
#include "core/scratch_file.h"

namespace lepus::analysis {

class WorkMemory {
public:
  WorkMemory(std::int64_t limit_bytes, std::filesystem::path folder) : left_(limit_bytes), folder_(std::move(folder)) {}

  std::int64_t left_bytes() const { return left_; }
  const std::filesystem::path& folder() const { return folder_; }

  // A part of the limit, given back when it goes.
  class Share {
  public:
    Share() = default;
    Share(WorkMemory& from, std::int64_t bytes) : from_(&from), bytes_(bytes) { from.left_ -= bytes; }
    Share(Share&& other) noexcept : from_(std::exchange(other.from_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(from_, other.from_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() {
      if (from_) from_->left_ += bytes_;
    }

  private:
    WorkMemory* from_ = nullptr;
    std::int64_t bytes_ = 0;
  };
  // Throws Error(memory) where less is left; `what` ("the distances of one slice") and `hint` are for the message.
  Share take(std::int64_t bytes, const std::string& what, const std::string& hint);

private:
  std::int64_t left_;
  std::filesystem::path folder_;
};

template <class T>
class SliceStore {
public:
  // At most half of what is left goes into one store: the passes over it need their share, too.
  SliceStore(WorkMemory& memory, std::int64_t slice, std::int64_t slices, const std::string& holds) : slice_(slice) {
    const std::int64_t bytes = slice * slices * static_cast<std::int64_t>(sizeof(T));
    if (bytes <= memory.left_bytes() / 2) {
      share_ = memory.take(bytes, holds, {});
      data_ = Buffer<T>(slice * slices);
    } else {
      file_ = std::make_unique<ScratchFile>(
          memory.folder(), bytes,
          ScratchFile::Words{holds, "free some space, allow more with --memory or write to another disk"});
    }
  }

  std::int64_t slice_size() const { return slice_; }
  bool on_disk() const { return file_ != nullptr; }

  // `count` elements from element `first` of slice z on. Any thread may, each its own part.
  void read(std::int64_t z, std::int64_t first, std::int64_t count, T* out) const {
    const std::int64_t at = z * slice_ + first;
    if (file_)
      file_->read(at * size, out, count * size);
    else
      std::copy_n(data_.data() + at, count, out);
  }
  void write(std::int64_t z, std::int64_t first, std::int64_t count, const T* values) {
    const std::int64_t at = z * slice_ + first;
    if (file_)
      file_->write(at * size, values, count * size);
    else
      std::copy_n(values, count, data_.data() + at);
  }
  // Slice z where it lies, or read into `buffer`, which has room for it.
  const T* slice(std::int64_t z, T* buffer) const {
    if (!file_) return data_.data() + z * slice_;
    read(z, 0, slice_, buffer);
    return buffer;
  }
  T* in_memory(std::int64_t z) { return file_ ? nullptr : data_.data() + z * slice_; }

private:
  static constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  std::int64_t slice_;
  WorkMemory::Share share_;
  Buffer<T> data_;
  std::unique_ptr<ScratchFile> file_;
};

}  // namespace lepus::analysis
