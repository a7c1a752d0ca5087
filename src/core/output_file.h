// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all: under a name of their own beside the final one, locked against other
// runs, and renamed into place at the end; without that they are removed, or kept for a run that goes on with them. An
// output that is a link is followed: the link stays.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/memory_file.h"
#include "core/output_lock.h"

namespace lepus {

// Throws Error(disk) where `target` exists (unless forced), is no file, or its folder is missing.
void check_target(const std::filesystem::path& target, bool force);
// Throws Error(disk) where the disk of `target` has less than `bytes` free.
void check_free_space(const std::filesystem::path& target, std::int64_t bytes);

// For an output that is written after long work: whatever can be said against it is said now, and it is locked until
// then. Leftovers of a run that was killed are removed, which `progress` is told. "": nothing is reserved.
[[nodiscard]] OutputLock reserve_output(const std::filesystem::path& target, bool force, Progress& progress,
                                        Sharing sharing = Sharing::alone);

// What becomes of partial output whose process ends, or fails, before commit().
enum class Unfinished {
  removed,  // it is called partial_name(target), and goes
  kept,     // it is made as unfinished_name(target), and stays
  joined    // what was kept is opened to be written on, by several processes where the lock is shared
};

// Partial output; commit() closes and renames it.
class PartialFile {
public:
  PartialFile(const std::filesystem::path& target, bool force, std::int64_t bytes_needed,
              Unfinished unfinished = Unfinished::removed, Sharing sharing = Sharing::alone);
  // One of many files under one lock.
  PartialFile(OutputLock held, const std::filesystem::path& target, bool force, std::int64_t bytes_needed,
              Unfinished unfinished = Unfinished::removed);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const std::filesystem::path& target() const { return target_; }
  const std::filesystem::path& partial() const { return partial_; }
  std::int64_t end() const { return end_; }
  void append(const void* data, std::int64_t bytes) { write(end_, data, bytes); }
  void append(const std::string& text) { append(text.data(), static_cast<std::int64_t>(text.size())); }
  // Anywhere, by any thread, each its own part; holes are no bytes on the disk until they are filled. Error(disk) on a
  // short write: the file loses its name at once, and its bytes when it is closed, unless it is kept.
  void write(std::int64_t offset, const void* data, std::int64_t bytes);
  void read(std::int64_t offset, void* out, std::int64_t bytes) const;  // zeros beyond the end
  void resize(std::int64_t bytes);                                      // what is added is a hole
  // Bytes that the file has will be written, all of them: what makes that faster is prepared. At most once.
  void will_fill(std::int64_t offset, std::int64_t bytes);
  bool is_filled_by_threads() const { return filling_.has_value(); }  // the more write at once, the better
  void sync();               // what was written so far is on the disk when it returns, or Error(disk); closed or not
  void close();              // reports what the system kept back until now
  void check_place() const;  // Error(disk) where the target appeared meanwhile, unless forced
  void commit();             // close, and rename into place; never over what appeared meanwhile, unless forced
  void discard() noexcept;

private:
  std::filesystem::path target_, final_, partial_;  // as given; where links lead
  OutputLock lock_;
  bool force_;
  std::int64_t needed_ = 0;
  std::atomic<std::int64_t> end_ = 0, written_ = 0;
  int descriptor_ = -1;
  std::optional<MemoryFilling> filling_;
  Unfinished unfinished_;
  std::atomic<bool> there_ = false;  // the partial file exists and is ours
  bool placed_ = false;              // a run that was killed while it finished had renamed it
  std::atomic<bool> name_synced_ = false;
  void make();
  void join();
  [[noreturn]] void fail(int code);
  void remove() noexcept;
};

// Files that belong together: none is renamed while the place of another is taken. Null ones are left out.
void commit_together(const std::vector<PartialFile*>& files);

// The names in the folder of `file` are on the disk when it returns; a file system that has no such call is left alone.
void sync_folder(const std::filesystem::path& file) noexcept;

// A small file at once.
void write_file(const std::filesystem::path& target, const std::string& text, bool force);

}  // namespace lepus
