// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library (LD_PRELOAD): calls on chosen files fail, or end the program, as a full disk, a broken
// one or a queue would do it. LEPUS_FAULT is "CALL:WHAT:NUMBER:PATTERN": from the NUMBERth call on (1: the first) of
//   write  write, pwrite, writev, pwritev      sync  fsync, fdatasync, syncfs
//   reserve  fallocate                         lock  flock
//   read   read, pread                         open  open, openat      rename  rename, renameat2, link
// on files whose path matches the shell pattern, WHAT happens: an error (ENOSPC, EDQUOT, EIO, ENOENT, ENOMEM, ENOSYS),
// every time; or a signal (TERM, KILL), once. LEPUS_FAULT_LOG names a file that then gets a line, so that a test knows
// it happened.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

struct Fault {
  char call[16] = "", what[16] = "", pattern[256] = "";
  long number = 0;
  int code = 0, signal = 0;
  std::atomic<long> calls{0};

  Fault() {
    const char* text = std::getenv("LEPUS_FAULT");
    if (!text || std::sscanf(text, "%15[^:]:%15[^:]:%ld:%255s", call, what, &number, pattern) != 4) return;
    const struct {
      const char* name;
      int code;
    } codes[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO},
                 {"ENOENT", ENOENT}, {"ENOMEM", ENOMEM}, {"ENOSYS", ENOSYS}};
    for (const auto& entry : codes)
      if (std::strcmp(what, entry.name) == 0) code = entry.code;
    signal = std::strcmp(what, "TERM") == 0 ? SIGTERM : std::strcmp(what, "KILL") == 0 ? SIGKILL : 0;
  }
};

Fault& fault() {
  static Fault the_fault;
  return the_fault;
}

// By the kernel itself: what the C library offers under these names is this file.
void log_once(const char* path) {
  static std::atomic<bool> logged{false};
  const char* file = std::getenv("LEPUS_FAULT_LOG");
  if (!file || logged.exchange(true)) return;
  const long descriptor = ::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0666);
  ::syscall(SYS_write, descriptor, path, std::strlen(path));
  ::syscall(SYS_write, descriptor, "\n", 1);
  ::syscall(SYS_close, descriptor);
}

// Whether the call is to fail; errno is then set.
bool strikes(const char* call, const char* path) {
  Fault& f = fault();
  if (std::strcmp(call, f.call) != 0 || ::fnmatch(f.pattern, path, 0) != 0) return false;
  const long number = ++f.calls;
  if (number < f.number) return false;
  if (f.signal != 0) {
    if (number != f.number) return false;
    log_once(path);
    ::kill(::getpid(), f.signal);
    return false;
  }
  log_once(path);
  errno = f.code;
  return true;
}

bool strikes(const char* call, int descriptor) {
  if (std::strcmp(call, fault().call) != 0) return false;
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return strikes(call, path);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

#pragma GCC visibility push(default)  // the project hides what it does not export
extern "C" {

#define LEPUS_ON_DESCRIPTOR(result, name, call, parameters, arguments) \
  result name parameters {                                             \
    static auto* const real = next<result parameters>(#name);          \
    return strikes(call, descriptor) ? -1 : real arguments;            \
  }

LEPUS_ON_DESCRIPTOR(ssize_t, write, "write", (int descriptor, const void* from, size_t bytes),
                    (descriptor, from, bytes))
LEPUS_ON_DESCRIPTOR(ssize_t, pwrite, "write", (int descriptor, const void* from, size_t bytes, off_t at),
                    (descriptor, from, bytes, at))
LEPUS_ON_DESCRIPTOR(ssize_t, pwrite64, "write", (int descriptor, const void* from, size_t bytes, off_t at),
                    (descriptor, from, bytes, at))
LEPUS_ON_DESCRIPTOR(ssize_t, writev, "write", (int descriptor, const iovec* from, int parts), (descriptor, from, parts))
LEPUS_ON_DESCRIPTOR(ssize_t, pwritev, "write", (int descriptor, const iovec* from, int parts, off_t at),
                    (descriptor, from, parts, at))
LEPUS_ON_DESCRIPTOR(int, fallocate, "reserve", (int descriptor, int mode, off_t at, off_t bytes),
                    (descriptor, mode, at, bytes))
LEPUS_ON_DESCRIPTOR(int, fallocate64, "reserve", (int descriptor, int mode, off_t at, off_t bytes),
                    (descriptor, mode, at, bytes))
LEPUS_ON_DESCRIPTOR(int, flock, "lock", (int descriptor, int operation), (descriptor, operation))
LEPUS_ON_DESCRIPTOR(int, fsync, "sync", (int descriptor), (descriptor))
LEPUS_ON_DESCRIPTOR(int, fdatasync, "sync", (int descriptor), (descriptor))
LEPUS_ON_DESCRIPTOR(int, syncfs, "sync", (int descriptor), (descriptor))
LEPUS_ON_DESCRIPTOR(ssize_t, read, "read", (int descriptor, void* into, size_t bytes), (descriptor, into, bytes))
LEPUS_ON_DESCRIPTOR(ssize_t, pread, "read", (int descriptor, void* into, size_t bytes, off_t at),
                    (descriptor, into, bytes, at))
LEPUS_ON_DESCRIPTOR(ssize_t, pread64, "read", (int descriptor, void* into, size_t bytes, off_t at),
                    (descriptor, into, bytes, at))

#define LEPUS_OPEN(name)                                               \
  int name(const char* path, int flags, ...) {                         \
    static auto* const real = next<int(const char*, int, ...)>(#name); \
    va_list arguments;                                                 \
    va_start(arguments, flags);                                        \
    const mode_t mode = mode_of(flags, arguments);                     \
    va_end(arguments);                                                 \
    return strikes("open", path) ? -1 : real(path, flags, mode);       \
  }

LEPUS_OPEN(open)
LEPUS_OPEN(open64)

int openat(int folder, const char* path, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return strikes("open", path) ? -1 : real(folder, path, flags, mode);
}

int rename(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return strikes("rename", to) ? -1 : real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  static auto* const real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return strikes("rename", to) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int link(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("link");
  return strikes("rename", to) ? -1 : real(from, to);
}

}  // extern "C"
#pragma GCC visibility pop
