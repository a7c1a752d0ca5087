// SPDX-License-Identifier: Apache-2.0
#include "core/memory_file.h"

#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace lepus {

namespace {

bool is_tmpfs(const struct statfs& info) { return static_cast<std::int64_t>(info.f_type) == 0x01021994; }

}  // namespace

bool lies_in_memory(int descriptor) {
  struct statfs info {};
  return ::fstatfs(descriptor, &info) == 0 && is_tmpfs(info);
}

bool lies_in_memory(const std::filesystem::path& folder) {
  struct statfs info {};
  return ::statfs(folder.c_str(), &info) == 0 && is_tmpfs(info);
}

bool copy_into_mapping(int descriptor, std::int64_t offset, const void* data, std::int64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || info.st_size < offset + bytes) return false;
  const std::int64_t before = offset % ::sysconf(_SC_PAGESIZE);  // a mapping begins with a page
  const auto length = static_cast<std::size_t>(before + bytes);
  void* const pages =
      ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(offset - before));
  if (pages == MAP_FAILED) return false;
  // Pages that there is no memory for are an error here, and would be a signal in memcpy().
  const bool there = ::madvise(pages, length, MADV_POPULATE_WRITE) == 0;
  if (there) std::memcpy(static_cast<char*>(pages) + before, data, static_cast<std::size_t>(bytes));
  ::munmap(pages, length);
  return there;
#else
  (void)descriptor, (void)offset, (void)data, (void)bytes;
  return false;
#endif
}

}  // namespace lepus
