// SPDX-License-Identifier: Apache-2.0
#include "live/frame_series.h"

#include <algorithm>

#include <fnmatch.h>

#include "core/format.h"
#include "io/frame_sources.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

bool with_wildcard(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

[[noreturn]] void refuse_series(const fs::path& where, const std::string& why, const std::string& hint) {
  throw Error(ErrorKind::unsupported,
              {.what = "these frames cannot be watched", .where = where.string(), .why = why, .hint = hint});
}

bool names_a_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) || !path.has_extension();
}

void refuse_stacks(const fs::path& file, std::int64_t frames) {
  const std::string later = "let the scanner write one file per view, or run lepus reconstruct when the file is whole";
  if (is_hdf5_name(file)) refuse_series(file, "an HDF5 file cannot be read while another program writes it", later);
  if (frames > 1) refuse_series(file, "one file that grows does not say which of its views are whole", later);
}

}  // namespace

std::optional<FrameNumber> frame_number(const std::string& file_name) {
  constexpr const char* digits = "0123456789";
  const std::size_t last = fs::path(file_name).stem().string().find_last_of(digits);
  if (last == std::string::npos) return std::nullopt;
  const std::size_t other = file_name.find_last_not_of(digits, last);
  const std::size_t first = other == std::string::npos ? 0 : other + 1, count = last + 1 - first;
  if (count > 15) return std::nullopt;  // a time stamp, perhaps; no counter is that long
  return FrameNumber{file_name.substr(0, first), file_name.substr(last + 1), std::stoll(file_name.substr(first, count)),
                     count};
}

std::int64_t listed_files(const fs::path& folder, const std::vector<std::string>& names) {
  const bool any = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return with_wildcard(name) || names_a_folder(folder / name);
  });
  return any ? 0 : static_cast<std::int64_t>(names.size());
}

FrameSeries::FrameSeries(const fs::path& folder, const std::vector<std::string>& names, std::int64_t frames,
                         std::optional<std::int64_t> first_number)
    : frames_(frames), first_number_(first_number) {
  if (listed_files(folder, names) > 0) {
    for (const std::string& name : names) listed_.push_back(folder / name);
    refuse_stacks(listed_.front(), listed_.size() == 1 ? frames : 1);
    folder_ = listed_.front().parent_path();
    return;
  }
  const fs::path whole = folder / names.front();
  if (names.size() > 1)
    refuse_series(whole, "which of several patterns a view belongs to is only known when all files are there",
                  "give one pattern, or list every file");
  if (with_wildcard(fs::path(names.front()).parent_path().string()))
    refuse_series(whole, "the folder's name has a wildcard, so that a folder may yet be missing", "name one folder");
  any_tiff_ = !with_wildcard(names.front());
  folder_ = any_tiff_ ? whole : whole.parent_path();
  pattern_ = any_tiff_ ? "*" : whole.filename().string();
  if (is_hdf5_name(pattern_)) refuse_stacks(whole, frames);
}

void FrameSeries::place_first(const std::vector<std::pair<std::int64_t, fs::path>>& numbered) {
  const std::int64_t least = numbered.front().first;
  // Counters start at 0 or 1. Another start is only sure when all files are there.
  if (least > 1 && static_cast<std::int64_t>(numbered.size()) < frames_) {
    unplaced_ = format(
        "the lowest number so far is {} ({}), and 0 or 1 is waited for; if the series begins elsewhere, "
        "say so with --first-number",
        least, numbered.front().second.filename().string());
    return;
  }
  unplaced_.clear();
  first_number_ = least;
  guessed_ = least == 1;
}

std::vector<std::pair<std::int64_t, fs::path>> FrameSeries::present() {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code code;
  if (!listed_.empty()) {
    for (std::size_t i = 0; i < listed_.size(); ++i)
      if (fs::exists(listed_[i], code)) found.emplace_back(static_cast<std::int64_t>(i), listed_[i]);
    return found;
  }
  for (fs::directory_iterator entry(folder_.empty() ? fs::path(".") : folder_, code), end; !code && entry != end;
       entry.increment(code)) {
    const std::string file = entry->path().filename().string();
    if (::fnmatch(pattern_.c_str(), file.c_str(), FNM_PERIOD) != 0 || (any_tiff_ && !is_tiff_name(file))) continue;
    const auto number = frame_number(file);
    const bool fits = number && (!usual_ || (number->before == usual_->before && number->after == usual_->after));
    if (!fits)
      throw Error(ErrorKind::input,
                  {.what = "a file does not fit the series of frames",
                   .where = entry->path().string(),
                   .why = number ? format("others are called {}...{}", usual_->before, usual_->after)
                                 : std::string("its name has no number that says which view it is"),
                   .hint = "put it elsewhere, or make frames.files a pattern that does not match it"});
    if (!usual_) usual_ = number;
    usual_->digits = std::min(usual_->digits, number->digits);  // 9 and 10, or 09 and 10
    found.emplace_back(number->number, entry->path());
  }
  std::sort(found.begin(), found.end());
  if (!first_number_ && !found.empty()) place_first(found);
  if (guessed_ && !found.empty() && found.front().first == 0 && found.back().first < frames_) {
    first_number_ = 0;
    guessed_ = false;
  }
  if (!first_number_) return {};
  for (auto& [number, file] : found) {
    const std::int64_t frame = number - *first_number_;
    if (frame < 0 || frame >= frames_)
      throw Error(ErrorKind::input,
                  {.what = frame < 0 ? "a frame comes before the first one" : "there are more frames than views",
                   .where = file.string(),
                   .why = format("numbers {} to {} were expected for {} views", *first_number_,
                                 *first_number_ + frames_ - 1, frames_),
                   .hint = "say --first-number and --views as they are, and start again"});
    number = frame;
  }
  const auto twice =
      std::adjacent_find(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != found.end())
    throw Error(ErrorKind::input, {.what = "two files have the same number",
                                   .where = (twice + 1)->second.string(),
                                   .why = format("{} has it, too", twice->second.filename().string()),
                                   .hint = "keep one of them"});
  return found;
}

std::string FrameSeries::name(std::int64_t frame) const {
  if (!listed_.empty()) return listed_[static_cast<std::size_t>(frame)].string();
  if (!usual_ || !first_number_) return (folder_ / pattern_).string();
  const std::string file = format("{}{:0{}}{}", usual_->before, frame + *first_number_, usual_->digits, usual_->after);
  return (folder_ / file).string();
}

}  // namespace lepus
