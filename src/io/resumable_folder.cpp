// SPDX-License-Identifier: Apache-2.0
#include "io/resumable_folder.h"

#include "core/json.h"
#include "io/volume_journals.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr const char *work_kind = "work", *piece_kind = "piece";

fs::path journal_of_folder(const fs::path& target) { return journal_name(folder_target(target)); }

// Its CRC was right, so that anything else in it was written by another lepus than the version says.
nlohmann::json parsed(const JournalRecord& record, const fs::path& journal) {
  try {
    return parse_json(record.text);
  } catch (const std::exception& error) {
    throw Error(ErrorKind::input, {.what = "the journal of an unfinished run cannot be understood",
                                   .where = journal.string(),
                                   .why = error.what(),
                                   .hint = "begin anew with --restart"});
  }
}

// Of an unfinished volume in the folder.
std::int64_t recorded_slices(const fs::path& journal) try {
  const JournalContents volume = read_journal(journal);
  std::vector<VolumeSlices> slabs;
  for (const RecordedSlab& slab : recorded_slabs(volume)) slabs.push_back(slab.slices);
  const std::int64_t all = volume_slices(volume);
  return all - count_slices(slices_without({0, all}, slabs));
} catch (const Error&) {
  std::error_code code;
  if (fs::exists(journal, code)) throw;
  return 0;  // it was finished meanwhile
}

}  // namespace

// The journal comes before the folder: one without a journal is none of ours, and stays.
ResumableFolder::ResumableFolder(const fs::path& target, const JournalHeader& run, bool restart, Progress& progress)
    : lock_(folder_target(target), OutputLock::Folder::is_made), journal_file_(journal_of_folder(target)) {
  const fs::path partial = unfinished_name(folder_target(target));
  std::error_code code;
  const bool has_journal = fs::exists(journal_file_, code);
  if (has_journal && restart) {
    require_journal(journal_file_);
    fs::remove_all(partial);
  }
  const bool goes_on = has_journal && fs::is_directory(partial, code);
  if (!goes_on) {
    if (has_journal) remove_journal(journal_file_);  // it was finished, or killed before there was a folder
    journal_.emplace(journal_file_, run);
    try {
      folder_.emplace(target, progress, Unfinished::kept);
    } catch (...) {
      remove_journal(journal_file_);
      throw;
    }
    return;
  }
  const JournalContents begun = read_journal(journal_file_);
  require_same_run(begun, run, target);
  worth_keeping_ = true;
  for (const JournalRecord& record : begun.records) {
    expected_ |= record.kind == work_kind;
    if (record.kind != piece_kind) continue;
    const nlohmann::json piece = parsed(record, journal_file_);
    pieces_[piece.at("name")] = piece.at("details");
  }
  journal_.emplace(journal_file_, begun);
  folder_.emplace(target, progress, Unfinished::joined);
}

ResumableFolder::~ResumableFolder() {
  if (committed_ || worth_keeping_) return;
  std::error_code code;
  fs::remove_all(folder_->path(), code);
  if (!code) fs::remove(journal_file_, code);
}

void ResumableFolder::expect(const std::string& unit, std::int64_t all) {
  if (!expected_) journal_->append({work_kind, json_text(nlohmann::json{{"unit", unit}, {"all", all}})});
  expected_ = true;
}

std::optional<std::string> ResumableFolder::finished(const std::string& piece) const {
  const auto found = pieces_.find(piece);
  return found == pieces_.end() ? std::nullopt : std::optional(found->second);
}

void ResumableFolder::finish(const std::string& piece, std::int64_t count, const std::string& details) {
  journal_->append({piece_kind, json_text(nlohmann::json{{"name", piece}, {"count", count}, {"details", details}})});
  journal_->flush();
  pieces_[piece] = details;
  worth_keeping_ = true;
}

Error ResumableFolder::ended_by(const Error& error) const {
  constexpr const char* hint = "the same command goes on from there";
  ErrorParts parts = error.parts();
  if (!worth_keeping_ || parts.hint.find(hint) != std::string::npos) return error;
  parts.hint += parts.hint.empty() ? "" : "; ";
  parts.hint +=
      "what is finished is kept beside the output: the same command goes on from there, with --restart it "
      "begins anew";
  return Error(error.kind(), parts);
}

void ResumableFolder::commit(PartialFolder::Replace replace) {
  folder_->commit(replace);
  committed_ = true;
  remove_journal(journal_file_);
}

std::optional<FolderProgress> progress_of_folder(const fs::path& target) {
  const fs::path journal = journal_of_folder(target), partial = unfinished_name(folder_target(target));
  std::error_code code;
  if (!fs::is_directory(partial, code) || !fs::exists(journal, code)) return std::nullopt;
  const JournalContents begun = read_journal(journal);
  FolderProgress progress{.command = begun.header.command, .lepus = begun.lepus, .unit = "pieces"};
  std::map<std::string, std::int64_t> counts;  // a piece that was made again counts once
  bool of_folder = false;
  for (const JournalRecord& record : begun.records) {
    if (record.kind != work_kind && record.kind != piece_kind) continue;
    const nlohmann::json json = parsed(record, journal);
    if (record.kind == piece_kind) {
      counts[json.at("name")] = json.at("count");
      continue;
    }
    of_folder = true;
    progress.unit = json.at("unit");
    progress.all = json.at("all");
  }
  if (!of_folder) return std::nullopt;  // a volume that is a folder
  for (const auto& [name, count] : counts) progress.done += count;
  for (fs::recursive_directory_iterator entry(partial, code), end; !code && entry != end; entry.increment(code))
    if (entry->path().extension() == ".journal") progress.done += recorded_slices(entry->path());
  return progress;
}

}  // namespace lepus
