// SPDX-License-Identifier: Apache-2.0
#include "import/plain_frames.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/folder.h"
#include "core/format.h"
#include "import/frame_series.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/frames.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

enum class Set { frames, flats, darks };

// What images are called: the folder's or the file's name says it.
Set set_of(const std::string& name) {
  const std::string lower = lower_case(name);
  const auto has = [&](const auto& words) {
    return std::ranges::any_of(words, [&](const char* word) { return lower.find(word) != std::string::npos; });
  };
  if (has(std::array{"dark", "offset", "black"})) return Set::darks;
  if (has(std::array{"flat", "white", "bright", "gain", "open", "empty"})) return Set::flats;
  return Set::frames;
}

std::vector<fs::path> entries(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  for (const fs::path& entry : entries_of(folder)) {
    std::error_code ignored;
    if (fs::is_directory(entry, ignored) == folders && !entry.filename().string().starts_with('.'))
      found.push_back(entry);
  }
  return found;
}

struct PlainSeries {
  NamedSeries series;
  fs::path folder;
  Set set = Set::frames;
  bool numbered = true;  // else a single file, whose name has no number

  std::string name() const { return (folder.filename() / (series.prefix + "*" + series.ending)).string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const NumberedFile& file : series.files) all.push_back(file.file);
    return all;
  }
};

// TIFF files in the folder and in the folders in it.
std::vector<PlainSeries> tiff_series(const fs::path& folder) {
  std::vector<PlainSeries> all;
  std::vector<fs::path> folders = entries(folder, true);
  folders.insert(folders.begin(), folder);
  for (const fs::path& place : folders) {
    std::vector<fs::path> tiffs = entries(place, false);
    std::erase_if(tiffs, [](const fs::path& file) { return !is_tiff_name(file); });
    const auto add = [&](NamedSeries series, bool numbered) {
      const Set by_name = set_of(series.prefix);
      const Set set = by_name != Set::frames || place == folder ? by_name : set_of(place.filename().string());
      all.push_back({std::move(series), place, set, numbered});
    };
    std::set<fs::path> numbered;
    for (NamedSeries& series : named_series(tiffs)) {
      for (const NumberedFile& file : series.files) numbered.insert(file.file);
      add(std::move(series), true);
    }
    for (const fs::path& file : tiffs)
      if (!numbered.contains(file)) add({file.stem().string(), lower_extension(file), {{0, file}}}, false);
  }
  return all;
}

std::vector<PlainSeries> of_set(const std::vector<PlainSeries>& all, Set set) {
  std::vector<PlainSeries> some;
  std::ranges::copy_if(all, std::back_inserter(some), [&](const PlainSeries& s) { return s.set == set; });
  return some;
}

[[noreturn]] void refuse_folder(ErrorKind kind, const fs::path& folder, std::string what, std::string hint) {
  throw Error(
      kind,
      {.what = std::move(what), .where = folder.string(), .why = describe_folder(folder), .hint = std::move(hint)});
}

// A file without a number is a flat or a dark where there is no series of them: else it is their mean, or a photograph.
std::vector<PlainSeries> series_or_files(std::vector<PlainSeries> sets) {
  if (std::ranges::any_of(sets, &PlainSeries::numbered))
    std::erase_if(sets, [](const PlainSeries& set) { return !set.numbered; });
  return sets;
}

// A lost frame, or flats that are not called so: whoever reads it knows.
void warn_of_unused(const std::vector<PlainSeries>& all, const std::vector<PlainSeries>& used, const fs::path& folder,
                    std::vector<std::string>& warnings) {
  constexpr int maximum_names = 5;
  int count = 0;
  std::string names;
  const auto first = [](const PlainSeries& series) { return series.series.files.front().file; };
  for (const PlainSeries& series : all) {
    if (std::ranges::find(used, first(series), first) != used.end()) continue;
    for (const fs::path& file : series.files())
      if (++count <= maximum_names)
        names += format("{}{}", count > 1 ? ", " : "", file.lexically_relative(folder).string());
  }
  if (count > 0)
    warnings.push_back(format("{} TIFF file{} not used, as part of no series of frames, flats or darks: {}{}", count,
                              count == 1 ? " is" : "s are", names, count > maximum_names ? ", ..." : ""));
}

}  // namespace

std::string describe_folder(const fs::path& folder) {
  std::string text;
  std::set<fs::path> named;
  for (const PlainSeries& series : tiff_series(folder)) {
    if (series.series.files.size() < 2) continue;
    const auto files = series.files();
    named.insert(files.begin(), files.end());
    text += format("{}{} files {}", text.empty() ? "" : ", ", files.size(), series.name());
    try {
      const auto source = open_frames({.files = {files.front()}, .dataset = {}, .raw = {}});
      text += format(" of {} x {} pixels", source->columns(), source->rows());
    } catch (const Error&) {
      text += " that cannot be read";
    }
  }
  std::map<std::string, int> others;
  for (const fs::path& file : entries(folder, false))
    if (!named.contains(file)) ++others[file.has_extension() ? lower_extension(file) : "without an ending"];
  std::string rest;
  for (const auto& [ending, count] : others) rest += format("{}{} {}", rest.empty() ? "" : ", ", count, ending);
  if (!rest.empty()) text += format("{}other files: {}", text.empty() ? "" : "; ", rest);
  return text.empty() ? "there are no files in it" : "there are " + text;
}

ImportedScan import_plain_frames(const fs::path& folder, const GivenNumbers& given) {
  const auto all = tiff_series(folder);
  const auto flats = series_or_files(of_set(all, Set::flats)), darks = series_or_files(of_set(all, Set::darks));
  std::vector<PlainSeries> frames = of_set(all, Set::frames);
  std::erase_if(frames, [](const PlainSeries& s) { return !s.numbered; });
  std::string known;
  for (const Scanner* scanner : scanners()) known += format("{}{}", known.empty() ? "" : ", ", scanner->title());
  if (frames.empty())
    refuse_folder(
        ErrorKind::input, folder, "no scan is recognised in this folder",
        format("lepus knows {}, and series of TIFF frames; for others write a scan file: docs/scan-file.md", known));
  std::vector<PlainSeries> long_ones = frames;
  std::erase_if(long_ones, [](const PlainSeries& s) { return s.series.files.size() < 2; });
  if (long_ones.size() > 1)
    refuse_folder(
        ErrorKind::input, folder,
        format("several series of frames lie in this folder: {} and {}", long_ones[0].name(), long_ones[1].name()),
        "name the folder of one scan; call flats and darks so (flat, dark in the name of file or folder)");
  const PlainSeries& series = long_ones.empty() ? frames.front() : long_ones.front();
  std::string missing;
  for (const std::string& option : missing_numbers(given)) missing += (missing.empty() ? "" : " ") + option + " MM";
  if (!missing.empty())
    refuse_folder(
        ErrorKind::usage, folder, "no scanner is recognised in this folder, so that numbers are missing",
        format("say {}{}; lepus knows {}", missing, given.parallel ? "" : " (or --parallel --pixel MM)", known));

  ImportedScan scan;
  scan.scanner = "plain frames";
  scan.header = series.files().front();
  const auto count = static_cast<std::int64_t>(series.series.files.size());
  const ExpectedFrames expected{count, "files", folder.string()};
  scan.text.set_files("frames.files", whole_series(series.series.files, expected, folder),
                      "the series of TIFF files in the folder");
  scan.text.set("frames.views", count, "as many as there are");
  std::vector<PlainSeries> used{series};
  for (const auto& sets : {flats, darks}) used.insert(used.end(), sets.begin(), sets.end());
  warn_of_unused(all, used, folder, scan.warnings);
  const auto add = [&](const std::vector<PlainSeries>& sets, const char* key, const char* word) {
    std::vector<fs::path> files;
    for (const PlainSeries& set : sets)
      for (const fs::path& file : set.files()) files.push_back(file);
    if (!files.empty()) scan.text.set_files(key, std::move(files), format("files named as {}", word));
  };
  add(flats, "frames.flats", "flats");
  add(darks, "frames.darks", "darks");
  if (flats.empty()) {
    scan.text.set("intensity.from", std::string("detector-maximum"), "no flats are in the folder");
    scan.warnings.emplace_back(
        "no flats are in the folder: I0 is taken as the largest count of the detector, which is hardly right");
  }
  scan.text.set("geometry.beam", std::string(given.parallel ? "parallel" : "cone"),
                given.parallel ? "given" : "assumed: most laboratory scanners");
  if (!given.arc_deg) {
    scan.text.set("geometry.arc_deg", 360.0, "assumed: nothing says how far the scan went");
    scan.warnings.emplace_back("a full turn in equal steps is assumed; --arc says otherwise");
  }
  scan.warnings.emplace_back(
      "which way the object turned is not known: where the volume is blurred, set direction = \"clockwise\"");
  return scan;
}

}  // namespace lepus
