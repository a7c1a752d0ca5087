// SPDX-License-Identifier: Apache-2.0
// Corrected rows that are kept until they are filtered. On the host, [view][row][column]: in memory, or, where the scan
// is larger than its share of the memory, in a scratch file that belongs to the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/memory.h"
#include "core/scratch_file.h"
#include "project/planes.h"
#include "run/float_bytes.h"
#include <lepus/compute.h>

namespace lepus {

struct RowStoreSize {
  std::int64_t columns = 0, rows = 0, views = 0;
  std::int64_t host_bytes = 0;  // at most, in the host's memory
  // The run's output: what does not fit is kept beside it, in "OUTPUT.rows-..."; "": in a file without a name.
  std::filesystem::path output;
  // Instead: a file that stays, and is taken where it is there, even if the rows would fit into memory.
  std::filesystem::path kept = {};

  std::int64_t floats() const { return columns * rows * views; }
  std::int64_t offset(std::int64_t view, std::int64_t row) const { return (view * rows + row) * columns; }
};

class RowKeeper {
public:
  virtual ~RowKeeper() = default;
  // Where an engine may work on these rows, so that nothing is left to be put; null: nowhere. Valid until the next
  // call.
  virtual const SinogramBand* place_for(RowBand /*rows*/) { return nullptr; }
  // Rows of a band as the engine keeps it. One writer at a time; rows that are not being written can be read.
  virtual void put(const SinogramBand& kept, RowBand rows) = 0;
  virtual void get(std::int64_t view, RowBand rows, float* out) const = 0;
  // All rows of all views on that card; null where they are elsewhere. What was put is there.
  virtual const SinogramBand* on_device(const DeviceInfo& /*device*/) const { return nullptr; }
  virtual std::int64_t memory_bytes() const = 0;             // on the host
  virtual std::string place() const = 0;                     // "in memory"
  virtual std::filesystem::path file() const { return {}; }  // "": in none that has a name
};

class RowStore final : public RowKeeper {
public:
  // Takes memory where the rows need at most so much, else a file. Throws Error(disk).
  explicit RowStore(const RowStoreSize& size);

  void put(const SinogramBand& kept, RowBand rows) override;
  void get(std::int64_t view, RowBand rows, float* out) const override;
  std::int64_t memory_bytes() const override { return memory_.bytes(); }
  std::string place() const override { return in_memory() ? "in memory" : "in a scratch file"; }
  std::filesystem::path file() const override { return in_memory() ? std::filesystem::path() : file_->name(); }

private:
  bool in_memory() const { return !file_; }

  RowStoreSize size_;
  Buffer<float> memory_;
  std::optional<ScratchFile> file_;
};

}  // namespace lepus
