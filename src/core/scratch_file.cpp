// SPDX-License-Identifier: Apache-2.0
#include "core/scratch_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

int open_without_name(const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  if (const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600); file >= 0) return file;
#endif
  std::string name = (folder / ".lepus-scratch-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

// pread and pwrite move less than they were asked to, at times.
template <class Transfer>
int transfer_all(std::int64_t bytes, const Transfer& transfer) {
  for (std::int64_t done = 0; done < bytes;) {
    const ssize_t n = transfer(done, static_cast<std::size_t>(bytes - done));
    if (n > 0)
      done += n;
    else if (n == 0 || errno != EINTR)
      return n == 0 ? ENOSPC : errno;
  }
  return 0;
}

}  // namespace

ScratchFile::ScratchFile(std::filesystem::path folder, std::int64_t bytes, Words words)
    : folder_(folder.empty() ? "." : std::move(folder)), words_(std::move(words)) {
  descriptor_ = open_without_name(folder_);
  if (descriptor_ < 0) fail("make", errno);
  reserve(bytes);
}

ScratchFile::ScratchFile(const std::filesystem::path& output, const std::string& what, std::int64_t bytes, Words words)
    : lock_(output),
      folder_(std::filesystem::absolute(followed(output)).parent_path()),
      name_(name_of_this_run(followed(output), what)),
      words_(std::move(words)) {
  descriptor_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail("make", errno);
  reserve(bytes);
}

ScratchFile::ScratchFile(const Kept& kept, std::int64_t bytes, Words words)
    : folder_(std::filesystem::absolute(kept.file).parent_path()),
      name_(kept.file),
      words_(std::move(words)),
      stays_(true) {
  descriptor_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) fail("make", errno);
  if (bytes > 0) reserve(bytes);
}

ScratchFile::~ScratchFile() { close(); }

int ScratchFile::allocate(std::int64_t bytes) const {
  const int failure = ::posix_fallocate(descriptor_, 0, bytes);
  return failure == ENOSPC || failure == EFBIG || failure == EDQUOT ? failure : 0;
}

void ScratchFile::reserve(std::int64_t bytes) {
  const int failure = allocate(bytes);
  if (failure == 0) return;
  close();
  fail("make space for", failure);
}

void ScratchFile::grow(std::int64_t bytes) {
  if (const int failure = allocate(bytes); failure != 0) fail("make space for", failure);
}

void ScratchFile::close() noexcept {
  if (!name_.empty() && !stays_) ::unlink(name_.c_str());
  ::close(descriptor_);
}

void ScratchFile::write(std::int64_t offset, const void* data, std::int64_t bytes) {
  const auto* from = static_cast<const char*>(data);
  if (const int code = transfer_all(bytes, [&](std::int64_t done, std::size_t n) {
        return ::pwrite(descriptor_, from + done, n, static_cast<off_t>(offset + done));
      }))
    fail("write", code);
}

void ScratchFile::read(std::int64_t offset, void* out, std::int64_t bytes) const {
  auto* to = static_cast<char*>(out);
  if (const int code = transfer_all(bytes, [&](std::int64_t done, std::size_t n) {
        return ::pread(descriptor_, to + done, n, static_cast<off_t>(offset + done));
      }))
    fail("read", code);
}

void ScratchFile::fail(const char* what, int code) const {
  throw Error(ErrorKind::disk, {.what = format("cannot {} the scratch file for {}", what, words_.holds),
                                .where = (name_.empty() ? folder_ : name_).string(),
                                .why = std::strerror(code),
                                .hint = words_.hint});
}

}  // namespace lepus
