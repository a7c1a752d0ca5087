// SPDX-License-Identifier: Apache-2.0
// Files that lie in memory (tmpfs). The system lets one thread at a time write() to a file, so that several are no
// faster than one; pages that are mapped are filled by as many threads as there are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <thread>

namespace lepus {

bool lies_in_memory(int descriptor);
bool lies_in_memory(const std::filesystem::path& folder);

// Bytes [begin, end) of such a file, which is as long and stays open, to be filled once. Mapped as a whole: threads
// that map and unmap what each of them fills wait for each other (4 GiB by 16 threads of a Xeon: 1.5 s, through one
// mapping 0.22 s). A thread takes the pages ahead, many at a time, while other work is prepared: that is faster than
// to take each when it is filled (0.85 s).
class MemoryFilling {
public:
  MemoryFilling(int descriptor, std::int64_t begin, std::int64_t end);
  ~MemoryFilling();
  MemoryFilling(const MemoryFilling&) = delete;
  MemoryFilling& operator=(const MemoryFilling&) = delete;

  // Any thread, each its own bytes. False where that cannot be done, such as beyond the end or where no memory is left,
  // with some or none of it copied: write() does it then, or says why not. No signal in either case.
  bool copy(std::int64_t offset, const void* data, std::int64_t bytes);

private:
  std::int64_t page_, begin_, end_;  // begin of a page
  char* pages_ = nullptr;            // null: cannot be mapped
  std::jthread ahead_;               // asked to stop and waited for at the end, a few milliseconds
};

}  // namespace lepus
