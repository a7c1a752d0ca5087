// SPDX-License-Identifier: Apache-2.0
#include "core/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/format.h"
#include "core/io_threads.h"
#include "core/memory.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

// Of files in memory. Measured on 16 cores of an x86_64: write() 2.7 GB/s by any number of threads; mapped pages 7.4 by
// four, 15 by eight, 19 by sixteen.
constexpr std::int64_t worth_a_mapping = 1 << 20;  // bytes
constexpr int worth_threads = 4;
constexpr std::int64_t largest_write = std::int64_t{1} << 30;  // Linux moves at most 2^31-4096 bytes a call

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

[[noreturn]] void throw_appeared(const fs::path& target) {
  throw_disk("a file of this name has appeared", target, "it was not there when the run began",
             "choose another name or use --force");
}

// Found before the work, and before HDF5's library finds it: that ends in a crash.
void check_size_limit(const fs::path& target, std::int64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (static_cast<rlim_t>(bytes) > limit.rlim_cur)
    throw_disk(
        "files may not become so large here", target,
        format("{} needed, {} allowed", format_bytes(bytes), format_bytes(static_cast<std::int64_t>(limit.rlim_cur))),
        "raise the limit (ulimit -f)");
}

OutputLock checked_lock(const fs::path& target, bool force, Sharing sharing = Sharing::alone) {
  check_target(target, force);
  OutputLock lock(target, OutputLock::Folder::must_exist, sharing);
  check_target(target, force);  // another run may have finished it between
  return lock;
}

// 0, or why not. Unless it may replace, the last look and the renaming are one step of the system's.
int put_in_place(const fs::path& from, const fs::path& to, bool replace) {
  if (!replace) {
#ifdef RENAME_NOREPLACE
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
    // NFS cannot; a second name is never made over another file there, either. Its answer may get lost on the way and
    // the repeated request fail: the file's number of names tells.
    struct stat info {};
    const int why = ::link(from.c_str(), to.c_str()) == 0 ? 0 : errno;
    if (why == 0 || (::stat(from.c_str(), &info) == 0 && info.st_nlink == 2)) {
      ::unlink(from.c_str());
      return 0;
    }
    // Disks without second names (FAT): as good as it gets.
    if (why == EEXIST || ::lstat(to.c_str(), &info) == 0) return EEXIST;
  }
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

void check_target(const fs::path& target, bool force) {
  std::error_code code;
  const fs::file_status status = fs::status(target, code);
  if (fs::is_directory(status)) throw_disk("cannot write", target, "it is a folder", "give the name of a file");
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw_disk("cannot write", target, "it is a device or a pipe", "give the name of a file");
  if (fs::exists(status) && !force)
    throw_disk("file exists already", target, "nothing is overwritten unasked", "choose another name or use --force");
  const fs::path folder = folder_of(followed(target));
  if (!fs::is_directory(folder, code))
    throw_disk("cannot write", target, format("there is no folder {}", folder.string()), "make the folder first");
}

void check_free_space(const fs::path& target, std::int64_t bytes) {
  const std::int64_t free = free_bytes(folder_of(followed(target)));
  if (free >= 0 && bytes > free)
    throw_disk("not enough space on the disk", target,
               format("{} needed, {} free", format_bytes(bytes), format_bytes(free)),
               "free some space or write to another disk");
}

OutputLock reserve_output(const fs::path& target, bool force, Progress& progress, Sharing sharing) {
  if (target.empty()) return {};
  OutputLock lock = checked_lock(target, force, sharing);
  if (!lock.warning().empty()) progress.warning(lock.warning());
  return lock;
}

PartialFile::PartialFile(const fs::path& target, bool force, std::int64_t bytes_needed, Unfinished unfinished,
                         Sharing sharing)
    : PartialFile(unfinished == Unfinished::joined ? OutputLock(target, OutputLock::Folder::must_exist, sharing)
                                                   : checked_lock(target, force, sharing),
                  target, force, bytes_needed, unfinished) {}

PartialFile::PartialFile(OutputLock held, const fs::path& target, bool force, std::int64_t bytes_needed,
                         Unfinished unfinished)
    : target_(target),
      final_(followed(target)),
      partial_(unfinished == Unfinished::removed ? partial_name(final_) : unfinished_name(final_)),
      lock_(std::move(held)),
      force_(force),
      needed_(bytes_needed),
      unfinished_(unfinished) {
  check_size_limit(target, bytes_needed);
  if (unfinished == Unfinished::joined) {
    join();
  } else {
    make();
  }
}

void PartialFile::make() {
  check_target(target_, force_);
  check_free_space(target_, needed_);
  descriptor_ = ::open(partial_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && errno == EEXIST && unfinished_ == Unfinished::kept)
    throw_disk("an unfinished output is there already", partial_, "it was kept for a run that goes on with it",
               "go on with it, or remove it");
  if (descriptor_ < 0 && errno == EEXIST)
    throw_disk("this run is writing it already", target_, partial_.string(), "write to it once");
  if (descriptor_ < 0)
    throw_disk("cannot create file", partial_, std::strerror(errno),
               hint_for_errno(errno, "check the permissions of its folder"));
  there_ = true;
}

void PartialFile::join() {
  descriptor_ = ::open(partial_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0 && errno == ENOENT) {
    descriptor_ = ::open(final_.c_str(), O_RDWR | O_CLOEXEC);
    placed_ = descriptor_ >= 0;
  }
  struct stat info {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0)
    throw_disk("there is no unfinished output to go on with", partial_, std::strerror(errno), "begin anew");
  end_ = static_cast<std::int64_t>(info.st_size);
  if (placed_) return;
  there_ = true;
  check_target(target_, force_);
  check_free_space(target_, needed_ - static_cast<std::int64_t>(info.st_blocks) * 512);
}

PartialFile::~PartialFile() { discard(); }

void PartialFile::discard() noexcept {
  filling_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  remove();
}

void PartialFile::remove() noexcept {
  if (unfinished_ == Unfinished::removed && there_.exchange(false)) ::unlink(partial_.c_str());
}

void PartialFile::write(std::int64_t offset, const void* data, std::int64_t bytes) {
  const auto* from = static_cast<const char*>(data);
  std::int64_t done = 0;
  if (filling_ && bytes >= worth_a_mapping && filling_->copy(offset, data, bytes)) {
    done = bytes;
    written_ += bytes;
  }
  while (done < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes - done, largest_write));
    const ssize_t put = ::pwrite(descriptor_, from + done, wanted, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const int code = put < 0 ? errno : ENOSPC;
      const std::int64_t free = free_bytes(folder_of(final_));
      const std::string needed =
          needed_ > 0 ? format("{} needed", format_bytes(needed_)) : format("{} bytes at {}", bytes, offset);
      remove();  // not closed: its number could be another file's before the other threads are done writing
      throw_disk(code == ENOSPC || code == EDQUOT ? "the disk is full"
                 : code == EFBIG                  ? "files may not become so large here"
                                                  : "cannot write",
                 target_,
                 format("{}: {}, {} written, {} free", std::strerror(code), needed, format_bytes(written_),
                        free < 0 ? std::string("unknown") : format_bytes(free)),
                 hint_for_errno(code, "check the disk or the network"));
    }
    done += put;
    written_ += put;
  }
  std::int64_t end = end_;
  while (end < offset + bytes && !end_.compare_exchange_weak(end, offset + bytes)) {
  }
}

void PartialFile::read(std::int64_t offset, void* out, std::int64_t bytes) const {
  auto* to = static_cast<char*>(out);
  for (std::int64_t done = 0; done < bytes;) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes - done, largest_write));
    const ssize_t got = ::pread(descriptor_, to + done, wanted, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw_disk("cannot read back what was written", partial_, std::strerror(errno), "check the disk or the network");
    if (got == 0) {
      std::memset(to + done, 0, static_cast<std::size_t>(bytes - done));
      return;
    }
    done += got;
  }
}

void PartialFile::resize(std::int64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail(errno);
  end_ = bytes;
}

void PartialFile::sync() {
  const int file = descriptor_ >= 0 ? descriptor_ : ::open((placed_ ? final_ : partial_).c_str(), O_RDWR | O_CLOEXEC);
  int status = file < 0 ? -1 : ::fdatasync(file);
  while (file >= 0 && status != 0 && errno == EINTR) status = ::fdatasync(file);
  const int code = status == 0 ? 0 : errno;
  if (file >= 0 && file != descriptor_) ::close(file);
  if (code != 0) fail(code);
  if (!name_synced_.exchange(true)) sync_folder(final_);
}

void PartialFile::fail(int code) {
  remove();  // not closed, as in write()
  throw_disk("cannot write", target_, std::strerror(code), hint_for_errno(code, "check the disk or the network"));
}

void PartialFile::will_fill(std::int64_t offset, std::int64_t bytes) {
  if (io_threads() >= worth_threads && lies_in_memory(descriptor_))
    filling_.emplace(descriptor_, offset, offset + bytes);
}

void PartialFile::close() {
  if (descriptor_ < 0) return;
  filling_.reset();
  // Its name is not this run's alone, and locks may reach no further than this machine, or not be there.
  if (unfinished_ != Unfinished::removed && !is_same_file(descriptor_, placed_ ? final_ : partial_))
    throw_disk("another run has replaced the unfinished output", partial_, "what this one wrote is lost",
               "give each run an output of its own; the same command, once, makes what is missing");
  const int status = ::close(descriptor_);
  descriptor_ = -1;
  if (status != 0 && errno != EINTR) fail(errno);
}

void PartialFile::check_place() const {
  std::error_code code;
  if (!force_ && !placed_ && fs::exists(fs::symlink_status(final_, code))) throw_appeared(target_);
}

void PartialFile::commit() {
  if (unfinished_ != Unfinished::removed) sync();  // whoever kept it forgets it after this
  close();
  if (placed_) {
    lock_ = {};
    return;
  }
  if (const int code = put_in_place(partial_, final_, force_); code != 0) {
    discard();
    if (code == EEXIST && !force_) throw_appeared(target_);
    throw_disk("cannot rename the finished file", target_, std::strerror(code),
               hint_for_errno(code, "check the permissions of its folder"));
  }
  there_ = false;
  lock_ = {};
}

void commit_together(const std::vector<PartialFile*>& files) {
  for (PartialFile* file : files)
    if (file) file->close();
  for (const PartialFile* file : files)
    if (file) file->check_place();
  for (PartialFile* file : files)
    if (file) file->commit();
}

void sync_folder(const fs::path& file) noexcept {
  const int folder = ::open(folder_of(followed(file)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

void write_file(const fs::path& target, const std::string& text, bool force) {
  PartialFile file(target, force, static_cast<std::int64_t>(text.size()));
  file.append(text);
  file.commit();
}

}  // namespace lepus
