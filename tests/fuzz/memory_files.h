// SPDX-License-Identifier: Apache-2.0
// Files that exist in the memory of the process alone, so that an execution of a fuzzer needs no call of the system to
// write its input and none to read it: ten times as many executions in a second. The fuzzers define open, stat, pread
// and so on for the files named here (memory_files.cpp); programs without that file, such as the replay in CI, use the
// files of the system.
#pragma once

#include <string>
#include <string_view>

namespace lepus::fuzz {

struct MemoryFiles {
  virtual ~MemoryFiles() = default;
  virtual bool has(const std::string& path) const = 0;
  virtual void write(const std::string& path, std::string_view bytes) = 0;
  virtual void forget(const std::string& path) = 0;
  // Whether files appear in this folder by write() alone: what is not there need not be looked for on the disk.
  virtual void closed_folder(const std::string& path, bool closed) = 0;
};

// Null where the program was linked without memory_files.cpp.
[[gnu::weak]] MemoryFiles* memory_files();

}  // namespace lepus::fuzz
