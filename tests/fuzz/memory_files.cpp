// SPDX-License-Identifier: Apache-2.0
// The calls by which lepus, libtiff and libhdf5 read files, for those in memory; all others go on to the system. A
// program's own definition of open comes before that of the C library, for shared libraries, too.
#include "memory_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lepus::fuzz {
namespace {

constexpr int first_descriptor = 1 << 20;  // above all that the system gives

struct MemoryFile {
  std::string bytes;
  ::ino_t number = 0;  // libhdf5 knows by it that a file is open twice
};

struct OpenFile {
  const MemoryFile* file = nullptr;
  ::off_t position = 0;
};

struct Files final : MemoryFiles {
  std::mutex mutex;
  std::unordered_map<std::string, MemoryFile> by_path;
  std::array<OpenFile, 64> opened;
  std::set<std::string, std::less<>> folders;  // those of the files
  std::string closed;                          // with a slash at its end; empty: none

  bool has(const std::string& path) const override { return by_path.contains(path); }
  void write(const std::string& path, std::string_view bytes) override {
    MemoryFile& file = by_path[path];
    file.bytes = bytes;
    if (file.number != 0) return;
    file.number = (::ino_t{1} << 40) + by_path.size();
    for (std::size_t at = path.rfind('/'); at != std::string::npos && at > 0; at = path.rfind('/', at - 1))
      folders.insert(path.substr(0, at));
  }
  void forget(const std::string& path) override { by_path.erase(path); }
  void closed_folder(const std::string& path, bool is_closed) override { closed = is_closed ? path + "/" : ""; }

  // Whether nothing but files and folders of ours can have that name; other spellings of theirs are left to the system.
  bool is_ours(std::string_view path) const {
    if (closed.empty() || !path.starts_with(closed) || path.ends_with('/') || path.ends_with('.')) return false;
    return path.find("/./") == path.npos && path.find("/../") == path.npos && path.find("//") == path.npos;
  }

  // A pattern of a scan file may name any folder of the machine: where ours is closed, no other is listed.
  bool may_be_listed(std::string_view path) const {
    return closed.empty() || ((std::string(path) + '/').starts_with(closed) && path.find("/..") == path.npos);
  }

  const MemoryFile* find(const char* path) const {
    const auto found = by_path.find(path);
    return found == by_path.end() ? nullptr : &found->second;
  }
  OpenFile* find(int descriptor) {
    if (descriptor < first_descriptor || descriptor >= first_descriptor + static_cast<int>(opened.size()))
      return nullptr;
    OpenFile& found = opened[static_cast<std::size_t>(descriptor - first_descriptor)];
    return found.file ? &found : nullptr;
  }
  int open(const MemoryFile& file) {
    const auto free = std::find_if(opened.begin(), opened.end(), [](const OpenFile& o) { return !o.file; });
    if (free == opened.end()) std::abort();  // a library that forgets to close files, or a target that tries nothing
    *free = {&file, 0};
    return first_descriptor + static_cast<int>(free - opened.begin());
  }
};

Files& files() {
  static Files* const all = new Files;  // never destroyed: libraries close files when the program ends
  return *all;
}

::ssize_t copy_from(const MemoryFile& file, void* out, std::size_t bytes, ::off_t offset) {
  if (offset < 0) {
    errno = EINVAL;
    return -1;
  }
  const auto start = std::min(static_cast<std::size_t>(offset), file.bytes.size());
  const std::size_t count = std::min(bytes, file.bytes.size() - start);
  if (count > 0) std::memcpy(out, file.bytes.data() + start, count);
  return static_cast<::ssize_t>(count);
}

int describe(const MemoryFile& file, ::mode_t mode, struct stat& info) {
  info = {};
  info.st_mode = mode;
  info.st_ino = file.number;
  info.st_nlink = 1;
  info.st_size = static_cast<::off_t>(file.bytes.size());
  info.st_blksize = 4096;
  info.st_blocks = (info.st_size + 511) / 512;
  return 0;
}

int open_file(const char* path, int flags, ::mode_t mode) {
  if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY)) {
    const std::scoped_lock lock(files().mutex);
    if (const MemoryFile* file = files().find(path)) return files().open(*file);
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int stat_file(const char* path, struct stat* info, int flags) {
  {
    const std::scoped_lock lock(files().mutex);
    if (const MemoryFile* file = files().find(path)) return describe(*file, S_IFREG | 0600, *info);
    if (files().is_ours(path)) {
      if (files().folders.contains(path)) return describe({.bytes = {}, .number = 1}, S_IFDIR | 0700, *info);
      errno = ENOENT;
      return -1;
    }
  }
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, info, flags));
}

}  // namespace

MemoryFiles* memory_files() { return &files(); }

}  // namespace lepus::fuzz

using namespace lepus::fuzz;

#pragma GCC visibility push(default)  // or else libtiff and libhdf5 would find the C library's
extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const ::mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, ::mode_t) : 0;
  va_end(more);
  return open_file(path, flags, mode);
}

// Folders are opened by it (libstdc++'s directory_iterator).
int openat(int folder, const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const ::mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, ::mode_t) : 0;
  va_end(more);
  const std::scoped_lock lock(files().mutex);
  if (flags & O_DIRECTORY && folder == AT_FDCWD && !files().may_be_listed(path)) {
    errno = ENOENT;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

int close(int descriptor) {
  const std::scoped_lock lock(files().mutex);
  if (OpenFile* opened = files().find(descriptor)) {
    opened->file = nullptr;
    return 0;
  }
  return static_cast<int>(::syscall(SYS_close, descriptor));
}

::ssize_t pread(int descriptor, void* out, std::size_t bytes, ::off_t offset) {
  if (const OpenFile* opened = files().find(descriptor)) return copy_from(*opened->file, out, bytes, offset);
  return ::syscall(SYS_pread64, descriptor, out, bytes, offset);
}

::ssize_t read(int descriptor, void* out, std::size_t bytes) {
  OpenFile* opened = files().find(descriptor);
  if (!opened) return ::syscall(SYS_read, descriptor, out, bytes);
  const ::ssize_t got = copy_from(*opened->file, out, bytes, opened->position);
  if (got > 0) opened->position += got;
  return got;
}

::off_t lseek(int descriptor, ::off_t offset, int whence) noexcept {
  OpenFile* opened = files().find(descriptor);
  if (!opened) return ::syscall(SYS_lseek, descriptor, offset, whence);
  const ::off_t base = whence == SEEK_SET   ? 0
                       : whence == SEEK_CUR ? opened->position
                                            : static_cast<::off_t>(opened->file->bytes.size());
  ::off_t position = 0;
  if (__builtin_add_overflow(base, offset, &position) || position < 0) {
    errno = EINVAL;
    return -1;
  }
  return opened->position = position;
}

int fstat(int descriptor, struct stat* info) noexcept {
  if (const OpenFile* opened = files().find(descriptor)) return describe(*opened->file, S_IFREG | 0600, *info);
  return static_cast<int>(::syscall(SYS_fstat, descriptor, info));
}

int stat(const char* path, struct stat* info) noexcept { return stat_file(path, info, 0); }
int lstat(const char* path, struct stat* info) noexcept { return stat_file(path, info, AT_SYMLINK_NOFOLLOW); }

// The same by the names that programs built for large files use; struct stat64 is struct stat on these machines.
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));
::ssize_t pread64(int, void*, std::size_t, ::off_t) __attribute__((alias("pread")));
::off_t lseek64(int, ::off_t, int) noexcept __attribute__((alias("lseek")));
int fstat64(int, struct stat64*) noexcept __attribute__((alias("fstat")));
int stat64(const char*, struct stat64*) noexcept __attribute__((alias("stat")));
int lstat64(const char*, struct stat64*) noexcept __attribute__((alias("lstat")));
}
#pragma GCC visibility pop
