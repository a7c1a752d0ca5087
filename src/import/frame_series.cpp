// SPDX-License-Identifier: Apache-2.0
#include "import/frame_series.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

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

// "scan_0012.tif" -> "scan_", 12, ".tif". Nothing where no number stands before the ending.
std::optional<SplitName> split_name(const fs::path& file) {
  const std::string stem = file.stem().string();
  std::size_t begin = stem.size();
  while (begin > 0 && stem[begin - 1] >= '0' && stem[begin - 1] <= '9') --begin;
  SplitName name{stem.substr(0, begin), lower_extension(file), 0};
  const auto [end, error] = std::from_chars(stem.data() + begin, stem.data() + stem.size(), name.number);
  if (begin == stem.size() || error != std::errc()) return std::nullopt;
  return name;
}

void sort_by_number(std::vector<NumberedFile>& files) {
  std::ranges::sort(files, [](const NumberedFile& a, const NumberedFile& b) {
    return std::pair(a.number, a.file.string()) < std::pair(b.number, b.file.string());
  });
}

// The name that the series would give this number: as the neighbour is written, with as many digits.
std::string name_of_number(const NumberedFile& like, std::int64_t number) {
  const std::string stem = like.file.stem().string();
  std::size_t begin = stem.size();
  while (begin > 0 && stem[begin - 1] >= '0' && stem[begin - 1] <= '9') --begin;
  return format("{}{:0{}}{}", stem.substr(0, begin), number, stem.size() - begin, like.file.extension().string());
}

[[noreturn]] void refuse_series(const ExpectedFrames& expected, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = expected.where, .why = std::move(why), .hint = std::move(hint)});
}

}  // namespace

std::vector<NumberedFile> numbered_files(const fs::path& folder, const std::string& prefix,
                                         const std::vector<std::string>& endings) {
  std::vector<NumberedFile> found;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const auto name = split_name(entry->path());
    if (!name || name->prefix != prefix || std::ranges::find(endings, name->ending) == endings.end()) continue;
    found.push_back({name->number, entry->path()});
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
      refuse_series(expected, format("the frame {} is missing", name_of_number(before, before.number + 1)),
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
  for (const NumberedFile& file : files) paths.push_back(file.file);
  return paths;
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
