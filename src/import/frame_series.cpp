// SPDX-License-Identifier: Apache-2.0
#include "import/frame_series.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "core/folder.h"
#include "core/format.h"
#include "io/file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

struct SplitName {
  std::string prefix, ending;
  std::int64_t number = 0;
};

// What stands between this prefix and the ending, where that is nothing but digits.
std::optional<std::int64_t> number_after(const std::string& prefix, const fs::path& file) {
  const std::string stem = file.stem().string();
  if (!stem.starts_with(prefix) || stem.size() == prefix.size()) return std::nullopt;
  if (stem.find_first_not_of("0123456789", prefix.size()) != std::string::npos) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(stem.data() + prefix.size(), stem.data() + stem.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// "scan_0012.tif" -> "scan_", 12, ".tif". Nothing where no number stands before the ending.
std::optional<SplitName> split_name(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::string prefix = stem.substr(0, stem.find_last_not_of("0123456789") + 1);  // npos + 1 is 0
  const auto number = number_after(prefix, file);
  if (!number) return std::nullopt;
  return SplitName{prefix, lower_extension(file), *number};
}

void sort_by_number(std::vector<NumberedFile>& files) {
  std::ranges::sort(files, [](const NumberedFile& a, const NumberedFile& b) {
    return std::pair(a.number, a.file.string()) < std::pair(b.number, b.file.string());
  });
}

// The name that the series would give the next number: as this one is written, with as many digits. The prefix may end
// in digits, which are counted with it.
std::string name_after(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::size_t begin = stem.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  const auto last = split_name(file);
  return format("{}{:0{}}{}", stem.substr(0, begin), last ? last->number + 1 : 0, stem.size() - begin,
                file.extension().string());
}

[[noreturn]] void refuse_series(const ExpectedFrames& expected, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = expected.where, .why = std::move(why), .hint = std::move(hint)});
}

}  // namespace

std::vector<NumberedFile> numbered_files(const fs::path& folder, const std::string& prefix,
                                         const std::vector<std::string>& endings) {
  std::vector<NumberedFile> found;
  for (const fs::path& file : entries_of(folder)) {
    const auto number = number_after(prefix, file);
    if (!number || std::ranges::find(endings, lower_extension(file)) == endings.end()) continue;
    found.push_back({*number, file});
  }
  sort_by_number(found);
  return found;
}

std::vector<fs::path> whole_series(const std::vector<NumberedFile>& files, const ExpectedFrames& expected,
                                   const fs::path& looked_for) {
  if (files.empty())
    refuse_series(expected, "the frames are not there", format("no file is named as {}", looked_for.string()),
                  "put the frames where the scanner wrote them, beside the header");
  for (std::size_t i = 1; i < files.size(); ++i) {
    const NumberedFile &before = files[i - 1], &file = files[i];
    if (file.number == before.number)
      refuse_series(expected, "two frames have the same number",
                    format("{} and {}", before.file.filename().string(), file.file.filename().string()),
                    "move the one that is not of this scan away");
    if (file.number != before.number + 1)
      refuse_series(expected, format("the frame {} is missing", name_after(before.file)),
                    format("{} is followed by {}", before.file.filename().string(), file.file.filename().string()),
                    "put the file back; without it every later view would have a wrong angle");
  }
  const auto found = static_cast<std::int64_t>(files.size());
  if (found != expected.count)
    refuse_series(expected,
                  found < expected.count ? "frames are missing" : "there are more frames than the header says",
                  format("{} = {}, there are {} frames, {} to {}", expected.field, expected.count, found,
                         files.front().file.filename().string(), files.back().file.filename().string()),
                  found < expected.count ? "did the scan stop early? Put the frames back, or correct the header"
                                         : "are two scans mixed? Move those away that are not of this one");
  std::vector<fs::path> paths;
  paths.reserve(files.size());
  for (const NumberedFile& file : files) paths.push_back(file.file);
  return paths;
}

std::vector<fs::path> find_series(const fs::path& folder, const std::vector<std::string>& prefixes,
                                  const std::vector<std::string>& endings, const ExpectedFrames& expected,
                                  std::vector<std::string>& warnings) {
  for (const std::string& prefix : prefixes)
    if (const auto files = numbered_files(folder, prefix, endings); !files.empty())
      return whole_series(files, expected, folder);
  std::vector<fs::path> candidates;
  for (const fs::path& file : entries_of(folder))
    if (std::ranges::find(endings, lower_extension(file)) != endings.end()) candidates.push_back(file);
  const auto series = named_series(candidates);
  const std::string wanted = format("{}0001{}", prefixes.empty() ? "" : prefixes.front(), endings.front());
  if (series.size() > 1)
    refuse_series(expected, "the frames are not known among several series",
                  format("none is named as {}; there are {}* and {}*", wanted, series[0].prefix, series[1].prefix),
                  "leave only this scan's frames in the folder");
  if (series.size() == 1 && !prefixes.empty())
    warnings.push_back(format("the header's frames would be named {}, they are called {}", wanted,
                              series[0].files.front().file.filename().string()));
  return whole_series(series.empty() ? std::vector<NumberedFile>() : series[0].files, expected, folder / wanted);
}

std::vector<NamedSeries> named_series(const std::vector<fs::path>& files) {
  std::map<std::pair<std::string, std::string>, NamedSeries> series;
  for (const fs::path& file : files) {
    const auto name = split_name(file);
    if (!name) continue;
    NamedSeries& s = series[{name->prefix, name->ending}];
    s.prefix = name->prefix;
    s.ending = name->ending;
    s.files.push_back({name->number, file});
  }
  std::vector<NamedSeries> all;
  for (auto& [name, s] : series) {
    sort_by_number(s.files);
    all.push_back(std::move(s));
  }
  std::ranges::stable_sort(all,
                           [](const NamedSeries& a, const NamedSeries& b) { return a.files.size() > b.files.size(); });
  return all;
}

}  // namespace lepus
