// SPDX-License-Identifier: Apache-2.0
// Space on a disk for what is needed again in the same run. A file without a name: no other run can meet it, and it is
// gone when the program is, however that ends. Or a file that belongs to the run's output, under the output's lock: its
// name can be handed on, and where the run is killed the next one that writes the output removes it. Or one that stays
// until whoever owns it removes it: a journal says what is in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/output_lock.h"

namespace lepus {

class ScratchFile {
public:
  struct Words {        // for messages
    std::string holds;  // "corrected rows"
    std::string hint;
  };
  // Without a name. Both throw Error(disk) where there is not so much space.
  ScratchFile(std::filesystem::path folder, std::int64_t bytes, Words words);
  // "OUTPUT.rows-4711-0a1b2c3d" for `what` = "rows". Throws Error(disk), too, where another run writes the output or
  // this one has such a file already.
  ScratchFile(const std::filesystem::path& output, const std::string& what, std::int64_t bytes, Words words);
  // Made where it is not there; it stays.
  struct Kept {
    std::filesystem::path file;
  };
  ScratchFile(const Kept& kept, std::int64_t bytes, Words words);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // All bytes, or Error(disk). Any thread may, each its own part.
  void write(std::int64_t offset, const void* data, std::int64_t bytes);
  void read(std::int64_t offset, void* out, std::int64_t bytes) const;

  void grow(std::int64_t bytes);  // to so many in all

  const std::filesystem::path& name() const { return name_; }  // "": it has none

private:
  void reserve(std::int64_t bytes);
  int allocate(std::int64_t bytes) const;  // 0, or why there is no space
  void close() noexcept;
  [[noreturn]] void fail(const char* what, int code) const;

  OutputLock lock_;  // of the output it belongs to
  std::filesystem::path folder_, name_;
  Words words_;
  bool stays_ = false;
  int descriptor_ = -1;
};

}  // namespace lepus
