// SPDX-License-Identifier: Apache-2.0
#include "core/memory_file.h"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace lepus {

namespace {

bool is_tmpfs(const struct statfs& info) { return static_cast<std::int64_t>(info.f_type) == 0x01021994; }

#ifdef MADV_POPULATE_WRITE
// Emulators of a system may say that they took pages and take none. Of pages that nobody may write to, that is a lie.
bool takes_pages() {
  static const bool takes = [] {
    const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const page = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    const bool refused = ::madvise(page, size, MADV_POPULATE_WRITE) != 0;
    ::munmap(page, size);
    return refused;
  }();
  return takes;
}
#endif

}  // namespace

bool lies_in_memory(int descriptor) {
  struct statfs info {};
  return ::fstatfs(descriptor, &info) == 0 && is_tmpfs(info);
}

bool lies_in_memory(const std::filesystem::path& folder) {
  struct statfs info {};
  return ::statfs(folder.c_str(), &info) == 0 && is_tmpfs(info);
}

MemoryFilling::MemoryFilling(int descriptor, std::int64_t begin, std::int64_t end)
    : page_(::sysconf(_SC_PAGESIZE)), begin_(begin / page_ * page_), end_(end) {
#ifdef MADV_POPULATE_WRITE
  if (!takes_pages()) return;
  void* const mapped = ::mmap(nullptr, static_cast<std::size_t>(end_ - begin_), PROT_READ | PROT_WRITE, MAP_SHARED,
                              descriptor, static_cast<off_t>(begin_));
  if (mapped == MAP_FAILED) return;
  pages_ = static_cast<char*>(mapped);
  // Where no memory is left it stops, and whoever fills the next page says so.
  ahead_ = std::jthread([=, this](const std::stop_token& stop) {
    constexpr std::int64_t at_once = std::int64_t{64} << 20;
    for (std::int64_t at = begin_; at < end_ && !stop.stop_requested(); at += at_once)
      if (::fallocate(descriptor, 0, static_cast<off_t>(at), static_cast<off_t>(std::min(at_once, end_ - at))) != 0)
        return;
  });
#else
  (void)descriptor;
#endif
}

MemoryFilling::~MemoryFilling() {
  if (pages_) ::munmap(pages_, static_cast<std::size_t>(end_ - begin_));
}

bool MemoryFilling::copy(std::int64_t offset, const void* data, std::int64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (!pages_ || offset < begin_ || offset + bytes > end_) return false;
  const std::int64_t before = (offset - begin_) % page_;
  char* const first = pages_ + (offset - begin_ - before);
  const auto length = static_cast<std::size_t>(before + bytes);
  // Pages that there is no memory for are an error here, and would be a signal in memcpy().
  if (::madvise(first, length, MADV_POPULATE_WRITE) != 0) return false;
  std::memcpy(first + before, data, static_cast<std::size_t>(bytes));
  (void)::madvise(first, length, MADV_DONTNEED);  // they stay in the file, and are no longer this process's memory
  return true;
#else
  (void)offset, (void)data, (void)bytes;
  return false;
#endif
}

}  // namespace lepus
