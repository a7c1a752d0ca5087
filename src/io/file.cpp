// SPDX-License-Identifier: Apache-2.0
// POSIX files: pread, so that threads share a descriptor without sharing a position.
#include "io/file.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t largest_transfer = std::int64_t{1} << 30;  // Linux moves at most 2^31-4096 bytes a call

}  // namespace

InputFile::InputFile(const fs::path& path) : path_(path) {
  // Not blocking: a named pipe in a folder of frames must not hang the program.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    const int code = errno;
    throw Error(ErrorKind::input, {.what = code == ENOENT ? "file not found" : "cannot open file",
                                   .where = path.string(),
                                   .why = std::strerror(code),
                                   .hint = code == ENOENT ? "check the name and the folder" : "check its permissions"});
  }
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    throw Error(ErrorKind::input, {.what = "not a regular file",
                                   .where = path.string(),
                                   .why = S_ISDIR(info.st_mode) ? "it is a folder" : "it is a device or a pipe",
                                   .hint = "name a file"});
  }
  size_ = info.st_size;
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::int64_t offset, void* out, std::int64_t bytes) const {
  auto* to = static_cast<char*>(out);
  std::int64_t done = 0;
  while (done < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes - done, largest_transfer));
    const ssize_t got = ::pread(descriptor_, to + done, wanted, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ErrorKind::input, {.what = "cannot read file",
                                     .where = path_.string(),
                                     .why = std::strerror(errno),
                                     .hint = "check the disk or the network"});
    if (got == 0)
      throw Error(ErrorKind::input,
                  {.what = "file is truncated",
                   .where = path_.string(),
                   .why = format("expected bytes {} to {}, the file ends at {}", offset, offset + bytes, offset + done),
                   .hint = "copy the file again"});
    done += got;
  }
}

std::string InputFile::head(std::int64_t bytes) const {
  std::string text(static_cast<std::size_t>(std::min(bytes, size_)), '\0');
  read(0, text.data(), static_cast<std::int64_t>(text.size()));
  return text;
}

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

std::string read_text_file(const fs::path& path, std::int64_t limit) {
  const InputFile file(path);
  if (file.size() > limit)
    throw Error(ErrorKind::input, {.what = "file is too large",
                                   .where = path.string(),
                                   .why = format("a text of at most {} was expected, found {}", format_bytes(limit),
                                                 format_bytes(file.size())),
                                   .hint = "check the name"});
  return file.head(limit);
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
