// SPDX-License-Identifier: Apache-2.0
// Corrected rows that are kept until they are filtered, [view][row][column]: in memory, or, where the scan is larger
// than its share of the memory, in a file that has no name and is gone when the program is.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/memory.h"
#include "correct/planes.h"

namespace lepus {

class RowStore {
public:
  // Takes memory where the rows need at most memory_bytes, else a file in `folder`. Throws Error(disk).
  RowStore(std::int64_t columns, std::int64_t rows, std::int64_t views, std::int64_t memory_bytes,
           const std::filesystem::path& folder);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  bool in_memory() const { return file_ < 0; }
  std::int64_t memory_bytes() const { return memory_.bytes(); }

  // sinograms: one per row of `rows`, columns wide, views high. One writer at a time; rows that are not being written
  // can be read.
  void put(RowBand rows, const Planes& sinograms);
  void get(std::int64_t view, RowBand rows, float* out) const;

private:
  std::int64_t offset(std::int64_t view, std::int64_t row) const { return (view * rows_ + row) * columns_; }

  std::int64_t columns_, rows_, views_;
  std::filesystem::path folder_;
  Buffer<float> memory_;
  int file_ = -1;
};

}  // namespace lepus
