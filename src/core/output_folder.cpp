// SPDX-License-Identifier: Apache-2.0
#include "core/output_folder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

fs::path folder_target(const fs::path& wanted) {
  const fs::path path = fs::absolute(wanted).lexically_normal();
  return followed(path.has_filename() ? path : path.parent_path());
}

namespace {

[[noreturn]] void throw_folder(const fs::path& folder, const char* what, std::string why, const char* hint) {
  throw Error(ErrorKind::disk, {.what = what, .where = folder.string(), .why = std::move(why), .hint = hint});
}

// The old folder is there until the new one is. False: the file system cannot, and nothing happened.
bool exchange([[maybe_unused]] const fs::path& a, [[maybe_unused]] const fs::path& b) {
#ifdef RENAME_EXCHANGE
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

}  // namespace

PartialFolder::PartialFolder(const fs::path& target, Progress& progress, Unfinished unfinished, Sharing sharing)
    : target_(folder_target(target)),
      partial_(unfinished == Unfinished::removed ? partial_name(target_) : unfinished_name(target_)),
      lock_(target_, OutputLock::Folder::is_made, sharing),
      unfinished_(unfinished) {
  if (!lock_.warning().empty()) progress.warning(lock_.warning());
  std::error_code code;
  if (unfinished == Unfinished::joined) {
    if (fs::is_directory(partial_, code)) return;
    throw_folder(partial_, "there is no unfinished output to go on with", "No such file or directory", "begin anew");
  }
  if (!fs::create_directory(partial_, code))
    throw_folder(partial_, "folder cannot be made", code ? code.message() : "it exists already",
                 "check the name and your rights there");
}

PartialFolder::~PartialFolder() {
  if (unfinished_ != Unfinished::removed) return;
  std::error_code failed;
  fs::remove_all(partial_, failed);
  if (!failed) return;
  lock_ = {};  // perhaps no file can be opened any more: the lock is one of those that are
  fs::remove_all(partial_, failed);
}

bool PartialFolder::target_is_free() const {
  std::error_code code;
  if (!fs::exists(fs::symlink_status(target_, code))) return true;
  return fs::is_directory(target_, code) && fs::is_empty(target_, code);
}

void PartialFolder::commit(Replace replace) {
  // The system replaces an empty folder, and only that.
  if (::rename(partial_.c_str(), target_.c_str()) == 0) return;
  if (errno != ENOTEMPTY && errno != EEXIST)
    throw_folder(target_, "the finished folder cannot be renamed into place", std::strerror(errno),
                 "check your rights there");
  if (replace == Replace::nothing)
    throw_folder(target_, "files have appeared in this folder", "it was empty when the run began",
                 "give another name or use --force");
  try {
    if (replace == Replace::whole) {
      if (!exchange(partial_, target_)) {
        fs::remove_all(target_);
        fs::rename(partial_, target_);
      }
    } else {
      for (const auto& entry : fs::directory_iterator(partial_)) {
        const fs::path place = target_ / entry.path().filename();
        fs::remove_all(place);
        fs::rename(entry.path(), place);
      }
    }
    unfinished_ = Unfinished::removed;  // what was there before, or an empty folder: the destructor removes it
  } catch (const fs::filesystem_error& e) {
    throw_folder(target_, "the finished folder cannot be renamed into place", e.code().message(),
                 "check your rights there");
  }
}

}  // namespace lepus
