// SPDX-License-Identifier: Apache-2.0
#include "io/volume_journals.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <sys/stat.h>

#include "core/folder.h"
#include "core/format.h"
#include "core/json.h"
#include "core/output_lock.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

// Its CRC was right, so that anything else in it was written by another lepus than the version says.
template <class Read>
auto read_record(const std::string& text, const Read& read) {
  try {
    return read(parse_json(text));
  } catch (const std::exception& error) {
    throw Error(ErrorKind::input, {.what = "the journal of an unfinished run cannot be understood",
                                   .where = text,
                                   .why = error.what(),
                                   .hint = "begin anew with --restart"});
  }
}

RecordedSlab slab_from(const nlohmann::json& json) {
  const auto [z0, z1] = json.at("slices").get<std::pair<std::int64_t, std::int64_t>>();
  if (z0 < 0 || z1 <= z0) throw std::runtime_error("there are no such slices");
  return {{z0, z1},
          std::stoull(json.at("checksum").get<std::string>(), nullptr, 16),
          json.at("seconds").get<double>(),
          json.at("cut_off").get<std::int64_t>()};
}

// "share-3-of-16"
bool is_part(std::string_view text) {
  const auto passed = [&](std::string_view word) {
    const bool there = text.starts_with(word);
    if (there) text.remove_prefix(word.size());
    return there;
  };
  const auto passed_number = [&] {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(digits);
    return digits > 0;
  };
  return (passed("share-") || passed("rank-")) && passed_number() && passed("-of-") && passed_number() && text.empty();
}

}  // namespace

std::optional<std::string> name_before_journal(std::string name) {
  constexpr std::string_view ending = ".journal";
  if (!name.ends_with(ending)) return std::nullopt;
  name.resize(name.size() - ending.size());
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos && is_part(name.substr(dot + 1)))
    name.resize(dot);
  return name;
}

fs::path journal_of_part(const fs::path& output, const std::string& part) {
  const fs::path whole = journal_name(output);
  return part.empty() ? whole : whole.parent_path() / format("{}.{}.journal", whole.stem().string(), part);
}

std::vector<fs::path> journals_of(const fs::path& output) {
  const fs::path whole = journal_name(output);
  const std::string stem = whole.stem().string();
  std::vector<fs::path> found;
  for (const fs::path& file : entries_of(whole.parent_path())) {
    const std::string name = file.filename().string();
    if (name.starts_with(stem) && name_before_journal(name.substr(stem.size())) == "")
      found.push_back(whole.parent_path() / name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string part_of_journal(const fs::path& journal, const fs::path& output) {
  const std::string name = journal.stem().string(), stem = journal_name(output).stem().string();
  return name.size() > stem.size() ? name.substr(stem.size() + 1) : "";
}

void remove_journals(const fs::path& output) {
  for (const fs::path& file : journals_of(output)) remove_journal_and_kept(file);
}

fs::path kept_beside(const fs::path& journal, const std::string& what) {
  return fs::path(journal).replace_extension(what);
}

void remove_kept(const fs::path& journal) {
  std::error_code code;
  for (const char* what : {kept_rows, kept_results}) fs::remove(kept_beside(journal, what), code);
}

void require_nothing_kept(const fs::path& journal) {
  for (const char* what : {kept_rows, kept_results}) {
    std::error_code code;
    const fs::path file = kept_beside(journal, what);
    if (fs::exists(fs::symlink_status(file, code)))
      throw Error(ErrorKind::disk, {.what = "a file of this name is in the way",
                                    .where = file.string(),
                                    .why = "the run keeps something there for the next start, and this is not lepus'",
                                    .hint = "remove it, or give the output another name"});
  }
}

// A journal alone says nothing: it goes last.
void remove_journal_and_kept(const fs::path& journal) {
  require_journal(journal);
  remove_kept(journal);
  remove_journal(journal);
  remove_dead_lock(journal);
}

fs::path volume_before_steps(const fs::path& output) {
  fs::path name = files_of_volume(output).front();
  name += ".before-post.mha";
  return name;
}

JournalRecord slab_record(const RecordedSlab& slab) {
  return {slab_kind, json_text(nlohmann::json{{"slices", {slab.slices.z0, slab.slices.z1}},
                                              {"checksum", format("{:016x}", slab.checksum)},
                                              {"seconds", slab.seconds},
                                              {"cut_off", slab.cut_off}})};
}

JournalRecord volume_record(std::int64_t slices) {
  return {volume_kind, json_text(nlohmann::json{{"slices", slices}})};
}

JournalRecord file_record(const fs::path& file) {
  struct stat info {};
  return {file_kind, ::stat(file.c_str(), &info) == 0 ? std::to_string(info.st_ino) : "not there"};
}

bool is_written_into(const JournalContents& journal, const fs::path& file) {
  const auto last =
      std::ranges::find(journal.records.rbegin(), journal.records.rend(), file_kind, &JournalRecord::kind);
  return last != journal.records.rend() && *last == file_record(file);
}

std::vector<RecordedSlab> recorded_slabs(const JournalContents& journal) {
  std::vector<RecordedSlab> slabs;
  for (const auto& [kind, text] : journal.records)
    if (kind == slab_kind) slabs.push_back(read_record(text, slab_from));
  return slabs;
}

std::int64_t volume_slices(const JournalContents& journal) {
  for (const auto& [kind, text] : journal.records)
    if (kind == volume_kind)
      return read_record(text, [](const nlohmann::json& json) { return json.at("slices").get<std::int64_t>(); });
  return 0;
}

std::vector<VolumeSlices> slices_without(VolumeSlices all, std::vector<VolumeSlices> others) {
  std::sort(others.begin(), others.end(), [](VolumeSlices a, VolumeSlices b) { return a.z0 < b.z0; });
  std::vector<VolumeSlices> left;
  std::int64_t z = all.z0;
  for (const VolumeSlices other : others) {
    if (other.z0 >= all.z1) break;
    if (other.z0 > z) left.push_back({z, other.z0});
    z = std::max(z, other.z1);
  }
  if (z < all.z1) left.push_back({z, all.z1});
  return left;
}

std::int64_t count_slices(const std::vector<VolumeSlices>& ranges) {
  return std::accumulate(ranges.begin(), ranges.end(), std::int64_t{0},
                         [](std::int64_t sum, VolumeSlices range) { return sum + range.z1 - range.z0; });
}

double slices_per_second(const std::vector<RecordedSlab>& recorded) {
  if (recorded.empty()) return 0;
  // The clock of each process begins anew.
  auto first = recorded.end() - 1;
  while (first != recorded.begin() && (first - 1)->seconds <= first->seconds) --first;
  double slices = 0;
  for (auto slab = first; slab != recorded.end(); ++slab)
    slices += static_cast<double>(slab->slices.z1 - slab->slices.z0);
  const double seconds = recorded.back().seconds;
  return seconds > 0 ? slices / seconds : 0;
}

}  // namespace lepus
