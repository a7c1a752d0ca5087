// SPDX-License-Identifier: Apache-2.0
#include "core/reserve_space.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format.h"
#include "core/memory.h"
#include "core/memory_file.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// 0, or why there is no space. Not posix_fallocate: where a file system cannot, that writes to every block. Memory is
// taken by whoever fills it (MemoryFilling).
int allocate(int descriptor, std::int64_t offset, std::int64_t bytes) {
  if (descriptor < 0 || lies_in_memory(descriptor)) return 0;
  int status = 0;
  do status = ::fallocate(descriptor, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  while (status != 0 && errno == EINTR);
  const bool refused = status != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO);
  return refused ? errno : 0;
}

}  // namespace

void reserve_space(PartialFile& file, std::int64_t offset, std::int64_t bytes) {
  const int descriptor = ::open(file.partial().c_str(), O_RDWR | O_CLOEXEC);
  const int code = allocate(descriptor, offset, bytes);
  struct stat info {};
  if (descriptor >= 0 && ::fstat(descriptor, &info) != 0) info.st_size = 0;
  if (descriptor >= 0) ::close(descriptor);
  if (code != 0)
    throw Error(ErrorKind::disk, {.what = "the disk has no space for this file",
                                  .where = file.target().string(),
                                  .why = format("{}: {} needed", std::strerror(code), format_bytes(bytes)),
                                  .hint = hint_for_errno(code, "check the disk or the network")});
  if (static_cast<std::int64_t>(info.st_size) < offset + bytes || file.end() < offset + bytes)
    file.resize(std::max<std::int64_t>(static_cast<std::int64_t>(info.st_size), offset + bytes));
}

}  // namespace lepus
