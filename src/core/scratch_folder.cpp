// SPDX-License-Identifier: Apache-2.0
// Each folder holds a file that its run keeps locked (flock: the system gives it back however the run ends). The folder
// gets the name that others look for when it is locked already: nobody can take a new one for one that was left.
#include "core/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format.h"
#include "core/memory.h"
#include "core/output_lock.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

const std::string scratch_name = "lepus-scratch-", scratch_lock = ".lepus-lock";

[[noreturn]] void refuse_scratch(const fs::path& parent, int code) {
  throw Error(ErrorKind::disk, {.what = "cannot make a folder for scratch files",
                                .where = parent.string(),
                                .why = std::strerror(code),
                                .hint = hint_for_errno(code, "name another folder in the variable TMPDIR")});
}

bool is_left_behind(const fs::path& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) return false;
  const int lock = ::open((folder / scratch_lock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) return false;  // somebody else's folder of that name, or one that is being removed
  const bool free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  ::close(lock);
  return free;
}

void remove_left_scratch(const fs::path& parent, Progress& progress) {
  std::error_code code;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(parent, code), end; !code && entry != end; entry.increment(code))
    if (entry->path().filename().string().starts_with(scratch_name) && is_left_behind(entry->path()))
      left.push_back(entry->path());
  for (const fs::path& folder : left) {
    const std::int64_t bytes = bytes_below(folder);
    if (fs::remove_all(folder, code) > 0 && !code)
      progress.warning(format("removed {} ({}), scratch that a run that was ended left behind", folder.string(),
                              format_bytes(bytes)));
  }
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& parent, Progress& progress) {
  remove_left_scratch(parent, progress);
  std::string fresh = (parent / ".lepus-scratch-XXXXXX").string();
  if (::mkdtemp(fresh.data()) == nullptr) refuse_scratch(parent, errno);
  const std::string letters = fresh.substr(fresh.size() - 6);
  path_ = fresh;
  lock_ = ::open((path_ / scratch_lock).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool locked = lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
  // Where the file system knows no locks it keeps its hidden name, and nobody removes it.
  const fs::path known = parent / format("{}{}-{}", scratch_name, ::getpid(), letters);
  if (locked && ::rename(path_.c_str(), known.c_str()) == 0) path_ = known;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace lepus
