// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/files.h"

#include <algorithm>

#include "core/format.h"
#include "core/output_file.h"
#include "bench/measure/limits_parts.h"

namespace lepus::measure {

PlainFiles::PlainFiles(const FilePattern& pattern, const std::filesystem::path& folder, ThreadPool& threads)
    : pattern_(pattern),
      pieces_((pattern.file_bytes + pattern.piece_bytes - 1) / pattern.piece_bytes),
      out_((pattern.files * pattern.file_bytes + 7) / 8),
      in_(out_.size()),
      threads_(threads) {
  fill_pattern(out_, threads);
  std::fill(in_.begin(), in_.end(), 0);
  paths_.reserve(static_cast<std::size_t>(pattern.files));
  for (std::int64_t i = 0; i < pattern.files; ++i) paths_.push_back(folder / format("plain-{}.tmp", i));
}

PlainFiles::~PlainFiles() {
  std::error_code ignored;
  for (const auto& path : paths_) std::filesystem::remove(path, ignored);
}

std::int64_t PlainFiles::piece_size(std::int64_t at) const {
  return std::min(pattern_.piece_bytes, pattern_.file_bytes - at);
}

void PlainFiles::write() const {
  const auto* from = reinterpret_cast<const char*>(out_.data());
  for (const auto& path : paths_) {
    PartialFile file(path, true, pattern_.file_bytes);
    for (std::int64_t at = 0; at < pattern_.file_bytes; at += pattern_.piece_bytes)
      file.append(from + at, piece_size(at));
    file.commit();
    from += pattern_.file_bytes;
  }
}

void PlainFiles::read_pieces(const InputFiles& files, std::int64_t first, std::int64_t last) {
  auto* to = reinterpret_cast<char*>(in_.data());
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t file = i / pieces_, at = i % pieces_ * pattern_.piece_bytes;
    files.open(static_cast<std::size_t>(file))->read(at, to + file * pattern_.file_bytes + at, piece_size(at));
  }
}

void PlainFiles::read() { read_pieces(InputFiles(paths_), 0, pattern_.files * pieces_); }

void PlainFiles::read_by_all() {
  const InputFiles files(paths_);
  threads_.parallel_for(0, pattern_.files * pieces_, 1,
                        [&](std::int64_t first, std::int64_t last, int) { read_pieces(files, first, last); });
}

double PlainFiles::take_wrong_bytes() {
  const double wrong = differing_bytes(out_.data(), in_.data(), pattern_.files * pattern_.file_bytes, threads_);
  std::fill(in_.begin(), in_.end(), 0);
  return wrong;
}

}  // namespace lepus::measure
