// SPDX-License-Identifier: Apache-2.0
// Plain files with 64-bit offsets and errors that name them: positioned reads from any thread. Pipes and devices are
// refused: they have no size, and reading them may never end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

namespace lepus {

// What is read next: what follows, or places far from each other. Of those nothing around is read ahead, which the
// system would otherwise do for each of thousands of rows that somebody goes through side by side.
enum class ReadPattern { sequential, scattered };

class InputFile {
public:
  explicit InputFile(const std::filesystem::path& path);  // throws Error(input)
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }
  // Exactly `bytes` bytes from `offset`, or Error(input) that says where the file ends. Thread-safe.
  void read(std::int64_t offset, void* out, std::int64_t bytes, ReadPattern pattern = ReadPattern::sequential) const;
  // The first `bytes` bytes, fewer where the file is shorter.
  std::string head(std::int64_t bytes) const;

private:
  int scattered_descriptor() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  mutable std::once_flag opened_again_;
  mutable int scattered_ = -1;  // the same file once more, opened when it is first needed
  std::int64_t size_ = 0;
};

// Texts that people and scanners write: at most so large, so that a wrong file is refused rather than read for minutes.
inline constexpr std::int64_t largest_scan_file = std::int64_t{16} << 20;     // 100,000 names of frames and more
inline constexpr std::int64_t largest_number_file = std::int64_t{256} << 20;  // matrices of 1,000,000 views
// The whole of a text file. Error(input) where it is missing or larger than `limit` bytes.
std::string read_text_file(const std::filesystem::path& path, std::int64_t limit);

}  // namespace lepus
