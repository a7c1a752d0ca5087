// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <algorithm>
#include <cctype>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

InputFiles::InputFiles(std::vector<fs::path> paths, std::size_t open_at_once)
    : paths_(std::move(paths)), open_at_once_(open_at_once) {}

std::shared_ptr<const InputFile> InputFiles::open(std::size_t index) const {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(recent_.begin(), recent_.end(), [&](const auto& e) { return e.first == index; });
    if (found != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, found);
      return recent_.front().second;
    }
  }
  // Opened without the lock: on a network disk this takes milliseconds, and other threads have other files to read.
  auto file = std::make_shared<const InputFile>(paths_[index]);
  const std::scoped_lock lock(mutex_);
  recent_.emplace_front(index, file);
  if (recent_.size() > open_at_once_) recent_.pop_back();
  return file;
}

fs::path with_suffix(const fs::path& path, const std::string& suffix) {
  fs::path result = path;
  result += suffix;
  return result;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string lower_extension(const fs::path& path) { return lower_case(path.extension().string()); }

void throw_missing_library(const std::string& format_name, const std::string& package, const std::string& where) {
  throw Error(ErrorKind::unsupported, {.what = format("this lepus was built without {}", format_name),
                                       .where = where,
                                       .why = format("{} was not there when lepus was configured", package),
                                       .hint = format("install {} and build again, or use another format", package)});
}

}  // namespace lepus
