// SPDX-License-Identifier: Apache-2.0
// Which files an unfinished volume consists of. The one that is renamed last says that there is one.
#include <chrono>
#include <thread>

#include <sys/stat.h>

#include "core/journal.h"
#include "io/file.h"
#include "io/slab_writer.h"
#include "io/stack.h"
#include "io/volume_file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

fs::path locked_name(const fs::path& path) { return unfinished_name(followed(files_of_volume(path).front())); }

fs::path voxels_in(const fs::path& folder) { return unfinished_name(folder / kept_voxels); }

FileNumber number_of(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  return std::pair<std::uint64_t, std::uint64_t>{info.st_dev, info.st_ino};
}

// One that a run left beside its journal is an output of its own, whatever its name.
bool is_slice_of(const fs::path& unfinished, const NumberPlace& place) {
  const fs::path slice = fs::path(unfinished).replace_extension();
  std::error_code code;
  return unfinished.extension() == ".unfinished" && is_numbered(slice.filename().string(), place) &&
         !fs::exists(journal_name(slice), code);
}

}  // namespace

fs::path marking_file(const fs::path& path) {
  const fs::path target = followed(files_of_volume(path).front());
  return is_zarr_name(path) ? voxels_in(unfinished_name(target)) : unfinished_name(target);
}

OutputLock lock_unfinished(const fs::path& path, Sharing sharing) {
  return OutputLock(locked_name(path), OutputLock::Folder::must_exist, sharing);
}

bool unfinished_is_held(const fs::path& path) { return !holder_of_output(locked_name(path)).empty(); }

FileNumber number_of_unfinished(const fs::path& path) { return number_of(locked_name(path)); }
FileNumber number_of_finished(const fs::path& path) { return number_of(followed(files_of_volume(path).front())); }

void throw_unfinished_gone(const fs::path& path) {
  throw Error(ErrorKind::disk, {.what = "the unfinished output is gone",
                                .where = marking_file(path).string(),
                                .why = "it was removed or renamed while the run was writing it: what was made is lost",
                                .hint = "run the command again, and leave this file alone until it has ended"});
}

bool unfinished_exists(const fs::path& path) {
  std::error_code code;
  return fs::exists(marking_file(path), code);
}

bool unfinished_appears(const fs::path& path, std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  const fs::path folder = marking_file(path).parent_path();
  std::error_code code;
  while (!unfinished_exists(path)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    fs::directory_iterator(folder.empty() ? "." : folder, code);  // to open a folder asks the server what is in it
  }
  return true;
}

bool rename_to_unfinished(const fs::path& path) {
  const std::vector<fs::path> files = files_of_volume(path);
  if (files.size() != 1 || is_zarr_name(path) || find_number(slice_pattern(path, 1)))
    throw Error(ErrorKind::internal,
                {.what = "a volume of several files is not taken back", .where = path.string(), .why = {}, .hint = {}});
  std::error_code code;
  const fs::path target = followed(files.front());
  if (!fs::exists(target, code)) return false;
  fs::rename(target, unfinished_name(target));
  return true;
}

void remove_half_made(const fs::path& path) {
  if (!unfinished_exists(path)) remove_unfinished(path);
}

void remove_unfinished(const fs::path& path) {
  std::error_code code;
  const fs::path front = files_of_volume(path).front();
  if (!fs::is_directory(fs::absolute(followed(front)).parent_path(), code)) return;
  const OutputLock alone = lock_unfinished(path, Sharing::alone);
  if (is_zarr_name(path)) {
    fs::remove_all(unfinished_name(followed(front)), code);
    if (!code) fs::remove(voxels_in(followed(front)), code);  // of a run that was killed when it had finished
  } else if (const auto place = find_number(slice_pattern(path, 1))) {
    for (const auto& entry : fs::directory_iterator(fs::absolute(front).parent_path(), code))
      if (is_slice_of(entry.path(), *place)) fs::remove(entry.path(), code);
  }
  // The one that says so goes last: a run that is killed here finds the rest again.
  std::vector<fs::path> files = files_of_volume(path);
  for (auto file = files.rbegin(); file != files.rend() && !code; ++file)
    fs::remove(unfinished_name(followed(*file)), code);
  if (code)
    throw Error(ErrorKind::disk, {.what = "the unfinished volume cannot be removed",
                                  .where = path.string(),
                                  .why = code.message(),
                                  .hint = "check the permissions of its folder"});
}

}  // namespace lepus
