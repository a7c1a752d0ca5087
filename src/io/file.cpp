// SPDX-License-Identifier: Apache-2.0
// POSIX files: pread and pwrite, so that threads share a descriptor without sharing a position.
#include "io/file.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t largest_transfer = std::int64_t{1} << 30;  // Linux moves at most 2^31-4096 bytes a call

fs::path folder_of(const fs::path& file) {
  const fs::path parent = file.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

// Bytes that an ordinary user may still write, or -1 where the file system does not say.
std::int64_t free_bytes(const fs::path& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0 || info.f_blocks == 0) return -1;
  const auto blocks = std::min<std::uint64_t>(info.f_bavail, std::uint64_t{1} << 62);
  const auto size = static_cast<std::uint64_t>(info.f_frsize);
  return static_cast<std::int64_t>(blocks > (std::uint64_t{1} << 62) / size ? std::uint64_t{1} << 62 : blocks * size);
}

[[noreturn]] void throw_disk(const std::string& what, const fs::path& path, std::string why, std::string hint) {
  throw Error(ErrorKind::disk, {.what = what, .where = path.string(), .why = std::move(why), .hint = std::move(hint)});
}

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

void check_target(const fs::path& target, bool force) {
  std::error_code code;
  const fs::file_status status = fs::status(target, code);
  if (fs::is_directory(status)) throw_disk("cannot write", target, "it is a folder", "give the name of a file");
  if (fs::exists(status) && !force)
    throw_disk("file exists already", target, "nothing is overwritten unasked", "choose another name or use --force");
  if (!fs::is_directory(folder_of(target), code))
    throw_disk("cannot write", target, format("there is no folder {}", folder_of(target).string()),
               "make the folder first");
}

void check_free_space(const fs::path& target, std::int64_t bytes) {
  const std::int64_t free = free_bytes(folder_of(target));
  if (free >= 0 && bytes > free)
    throw_disk("not enough space on the disk", target,
               format("{} needed, {} free", format_bytes(bytes), format_bytes(free)),
               "free some space or write to another disk");
}

PartialFile::PartialFile(const fs::path& target, bool force, std::int64_t bytes_needed)
    : target_(target), partial_(with_suffix(target, ".partial")), needed_(bytes_needed) {
  check_target(target, force);
  check_free_space(target, bytes_needed);
  descriptor_ = ::open(partial_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw_disk("cannot create file", partial_, std::strerror(errno), "check the permissions of its folder");
  there_ = true;
}

PartialFile::~PartialFile() { discard(); }

void PartialFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (there_) ::unlink(partial_.c_str());
  there_ = false;
}

void PartialFile::write(std::int64_t offset, const void* data, std::int64_t bytes) {
  const auto* from = static_cast<const char*>(data);
  std::int64_t done = 0;
  while (done < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes - done, largest_transfer));
    const ssize_t put = ::pwrite(descriptor_, from + done, wanted, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const int code = put < 0 ? errno : ENOSPC;
      const std::int64_t free = free_bytes(folder_of(target_));
      const std::string needed =
          needed_ > 0 ? format("{} needed", format_bytes(needed_)) : format("{} bytes at {}", bytes, offset);
      discard();
      throw_disk(code == ENOSPC || code == EDQUOT ? "the disk is full" : "cannot write", target_,
                 format("{}: {}, {} written, {} free", std::strerror(code), needed, format_bytes(offset + done),
                        free < 0 ? std::string("unknown") : format_bytes(free)),
                 "free some space or write to another disk");
    }
    done += put;
  }
  end_ = std::max(end_, offset + bytes);
}

void PartialFile::close() {
  if (descriptor_ < 0) return;
  const int status = ::close(descriptor_);
  descriptor_ = -1;
  if (status != 0 && errno != EINTR) {
    const int code = errno;
    discard();
    throw_disk("cannot write", target_, std::strerror(code), "free some space or write to another disk");
  }
}

void PartialFile::commit() {
  close();
  if (::rename(partial_.c_str(), target_.c_str()) != 0) {
    const int code = errno;
    discard();
    throw_disk("cannot rename the finished file", target_, std::strerror(code), "check the permissions of its folder");
  }
  there_ = false;
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
