// SPDX-License-Identifier: Apache-2.0
// POSIX files: pread, so that threads share a descriptor without sharing a position.
#include "core/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format.h"
#include "core/memory.h"
#include "core/text.h"
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
                                   .hint = hint_for_errno(code, code == ENOENT ? "check the name and the folder"
                                                                               : "check its permissions")});
  }
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    throw Error(ErrorKind::input,
                {.what = "not a regular file",
                 .where = path.string(),
                 .why = S_ISDIR(info.st_mode) ? "it is a folder" : "it is a device or a pipe",
                 .hint = S_ISDIR(info.st_mode) ? "name a file in it" : "write it into a file first, and name that"});
  }
  size_ = info.st_size;
}

InputFile::~InputFile() {
  ::close(descriptor_);
  if (scattered_ >= 0) ::close(scattered_);
}

// By the descriptor, and not by the name: another file may have it by now. Where that is not possible the first
// descriptor serves, too.
int InputFile::scattered_descriptor() const {
  std::call_once(opened_again_, [&] {
    scattered_ = ::open(format("/proc/self/fd/{}", descriptor_).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (scattered_ >= 0) ::posix_fadvise(scattered_, 0, 0, POSIX_FADV_RANDOM);
  });
  return scattered_ >= 0 ? scattered_ : descriptor_;
}

void InputFile::read(std::int64_t offset, void* out, std::int64_t bytes, ReadPattern pattern) const {
  const int descriptor = pattern == ReadPattern::scattered ? scattered_descriptor() : descriptor_;
  auto* to = static_cast<char*>(out);
  std::int64_t done = 0;
  while (done < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes - done, largest_transfer));
    const ssize_t got = ::pread(descriptor, to + done, wanted, static_cast<off_t>(offset + done));
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

std::string read_text_file(const fs::path& path, std::int64_t limit) {
  const InputFile file(path);
  if (file.size() > limit)
    throw Error(ErrorKind::input, {.what = "file is too large",
                                   .where = path.string(),
                                   .why = format("lepus reads at most {} of such a text, this has {}",
                                                 format_bytes(limit), format_bytes(file.size())),
                                   .hint = "check that this is the right file"});
  return file.head(limit);
}

}  // namespace lepus
