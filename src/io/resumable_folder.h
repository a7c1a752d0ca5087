// SPDX-License-Identifier: Apache-2.0
// A folder of files that is made over several runs: it lies beside its place as "out.unfinished", and "out.journal"
// records what of it is finished (core/journal.h), so that the same command goes on after a crash. Records: "work"
// {unit, all}, once; "piece" {name, count, details}, of each finished one. What a piece is, and how it is known to be
// as it was made, is the caller's business.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/journal.h"
#include "core/output_folder.h"
#include <lepus/error.h>

namespace lepus {

class ResumableFolder {
public:
  // Goes on with an unfinished folder of the same run, or begins anew where there is none, or where it is told to.
  // Throws Error(usage) that names what differs where it is that of another run, Error(input) where the journal is
  // damaged, Error(disk) where another process makes it.
  ResumableFolder(const std::filesystem::path& target, const JournalHeader& run, bool restart, Progress& progress);
  // Without commit() what was finished stays; where nothing was, nothing stays.
  ~ResumableFolder();
  ResumableFolder(const ResumableFolder&) = delete;
  ResumableFolder& operator=(const ResumableFolder&) = delete;

  const std::filesystem::path& path() const { return folder_->path(); }  // to be filled
  bool target_is_free() const { return folder_->target_is_free(); }
  const std::filesystem::path& target() const { return folder_->target(); }
  bool target_is_folder() const { return std::filesystem::is_directory(folder_->target()); }

  void expect(const std::string& unit, std::int64_t all);  // for `lepus status`
  // What was said of a piece that an earlier run finished; none: it did not.
  std::optional<std::string> finished(const std::string& piece) const;
  // `count` of the units are in it. Its files must be on the disk; it counts when this returns.
  void finish(const std::string& piece, std::int64_t count, const std::string& details);
  void keep() { worth_keeping_ = true; }  // something of a piece is there that can be gone on with

  void give_up() { worth_keeping_ = false; }  // the same command would end the same way: nothing stays

  // For a run that ends with this error: adds to the hint that the same command goes on, where something stays.
  Error ended_by(const Error& error) const;
  void commit(PartialFolder::Replace replace);  // renames, and the journal goes

private:
  OutputLock lock_;
  std::filesystem::path journal_file_;
  std::optional<Journal> journal_;
  std::optional<PartialFolder> folder_;
  std::map<std::string, std::string> pieces_;
  bool expected_ = false, worth_keeping_ = false, committed_ = false;
};

// How far such a run is; none where `target` has no unfinished folder with a journal.
struct FolderProgress {
  std::string command, lepus, unit;
  std::int64_t all = 0, done = 0;  // those of volumes in the folder that are not finished too
};
std::optional<FolderProgress> progress_of_folder(const std::filesystem::path& target);

}  // namespace lepus
