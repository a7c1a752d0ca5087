// SPDX-License-Identifier: Apache-2.0
// What plain files cost: bytes written and read as they are, through the system's cache, so that a format's time is
// held against files of the same number and size, written in the same pieces and read by as many threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/memory.h"
#include "core/threads.h"
#include "io/file.h"

namespace lepus::measure {

struct FilePattern {
  std::int64_t files = 1, file_bytes = 0;
  std::int64_t piece_bytes = 0;  // that a write or read moves at once
};

// Made in `folder` by write(), removed by the destructor.
class PlainFiles {
public:
  PlainFiles(const FilePattern& pattern, const std::filesystem::path& folder, ThreadPool& threads);
  ~PlainFiles();
  PlainFiles(const PlainFiles&) = delete;
  PlainFiles& operator=(const PlainFiles&) = delete;

  void write() const;         // one thread, file after file
  void read();                // one thread
  void read_by_all();         // pieces shared out among all threads
  double take_wrong_bytes();  // of what was read last, which is forgotten: what the next reading leaves out shows

private:
  void read_pieces(const InputFiles& files, std::int64_t first, std::int64_t last);
  std::int64_t piece_size(std::int64_t at) const;

  FilePattern pattern_;
  std::int64_t pieces_;  // of a file
  std::vector<std::filesystem::path> paths_;
  Buffer<std::uint64_t> out_, in_;
  ThreadPool& threads_;
};

}  // namespace lepus::measure
