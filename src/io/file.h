// SPDX-License-Identifier: Apache-2.0
// Plain files with 64-bit offsets and errors that name them: positioned reads from any thread. core/output_file.h has
// those that are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace lepus {

class InputFile {
public:
  explicit InputFile(const std::filesystem::path& path);  // throws Error(input)
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }
  // Exactly `bytes` bytes from `offset`, or Error(input) that says where the file ends. Thread-safe.
  void read(std::int64_t offset, void* out, std::int64_t bytes) const;
  // The first `bytes` bytes, fewer where the file is shorter.
  std::string head(std::int64_t bytes) const;

private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

// The files of a scan, of which only the last few stay open.
class InputFiles {
public:
  explicit InputFiles(std::vector<std::filesystem::path> paths, std::size_t open_at_once = 32);
  std::shared_ptr<const InputFile> open(std::size_t index) const;
  const std::filesystem::path& path(std::size_t index) const { return paths_[index]; }
  std::size_t size() const { return paths_.size(); }

private:
  std::vector<std::filesystem::path> paths_;
  std::size_t open_at_once_;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<std::size_t, std::shared_ptr<const InputFile>>> recent_;
};

// Reads a whole small text file, at most `limit` bytes. Error(input) where it is missing or larger.
std::string read_text_file(const std::filesystem::path& path, std::int64_t limit);

// path + suffix: "volume.raw" + ".json".
std::filesystem::path with_suffix(const std::filesystem::path& path, const std::string& suffix);

// ".MHA" -> ".mha"
std::string lower_case(std::string text);
std::string lower_extension(const std::filesystem::path& path);

// Error(unsupported) that names Debian's package.
[[noreturn]] void throw_missing_library(const std::string& format_name, const std::string& package,
                                        const std::string& where);

}  // namespace lepus
