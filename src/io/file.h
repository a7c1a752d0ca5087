// SPDX-License-Identifier: Apache-2.0
// The files of a scan and their names. core/input_file.h has single files that are read, core/output_file.h those that
// are written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/input_file.h"

namespace lepus {

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

// path + suffix: "volume.raw" + ".json".
std::filesystem::path with_suffix(const std::filesystem::path& path, const std::string& suffix);

// ".MHA" -> ".mha"
std::string lower_case(std::string text);
std::string lower_extension(const std::filesystem::path& path);

// Error(unsupported) that names Debian's package.
[[noreturn]] void throw_missing_library(const std::string& format_name, const std::string& package,
                                        const std::string& where);

}  // namespace lepus
