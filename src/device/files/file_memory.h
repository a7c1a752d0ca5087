// SPDX-License-Identifier: Apache-2.0
// Memory by address of which the first part is the host's and the rest lies in a scratch file without a name: reserved
// addresses that nobody can read through, which name bytes of that file. All space is reserved when it is made, so that
// a disk that is too small says so before the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "core/scratch_file.h"
#include "core/threads.h"
#include "device/device.h"

namespace lepus::files {

class FileMemory : public std::enable_shared_from_this<FileMemory> {
public:
  // bytes: of all blocks together; memory_bytes of them in the host's memory. Throws Error(disk).
  FileMemory(const std::filesystem::path& folder, std::int64_t bytes, std::int64_t memory_bytes);
  ~FileMemory();
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  // The file grows where blocks of different sizes leave no room for one more.
  Block allocate(std::int64_t bytes);
  bool in_file(const void* address, std::int64_t bytes) const;  // some of them; else they are plain memory
  // Between any memory; any thread may, each its own part.
  void copy(void* to, const void* from, std::int64_t bytes, ThreadPool& threads);

private:
  std::int64_t offset_of(const void* address) const { return static_cast<const std::byte*>(address) - base_; }
  void grow(std::int64_t bytes);
  void release(std::int64_t offset, std::int64_t bytes) noexcept;
  void read(void* to, const void* from, std::int64_t bytes) const;
  void write(void* to, const void* from, std::int64_t bytes);

  std::int64_t memory_bytes_, reserved_bytes_, end_;  // end_: up to where there is memory or file
  std::unique_ptr<ScratchFile> file_;
  std::byte* base_ = nullptr;
  std::mutex mutex_;
  std::map<std::int64_t, std::int64_t> holes_;  // offset, bytes
};

}  // namespace lepus::files
