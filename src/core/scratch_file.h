// SPDX-License-Identifier: Apache-2.0
// Room on a disk for what is needed again in the same run: a file without a name. No other run can meet it, and it is
// gone when the program is, however that ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lepus {

class ScratchFile {
public:
  // `holds` ("corrected rows") and `hint` are for messages. Throws Error(disk) where there is no such room.
  ScratchFile(std::filesystem::path folder, std::int64_t bytes, std::string holds, std::string hint);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // All bytes, or Error(disk). Any thread may, each its own part.
  void write(std::int64_t offset, const void* data, std::int64_t bytes);
  void read(std::int64_t offset, void* out, std::int64_t bytes) const;

private:
  [[noreturn]] void fail(const char* what, int code) const;

  std::filesystem::path folder_;
  std::string holds_, hint_;
  int descriptor_ = -1;
};

}  // namespace lepus
