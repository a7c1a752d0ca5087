// SPDX-License-Identifier: Apache-2.0
#include "import/import_scan.h"

#include <algorithm>

#include "core/folder.h"
#include "core/format.h"
#include "import/plain_frames.h"
#include <lepus/error.h>
#include <lepus/version.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

// "scan.txrm" -> "./scan.txrm": what lies beside it is then in its parent_path().
fs::path with_folder(const fs::path& place) { return place.has_parent_path() ? place : "." / place; }

fs::path folder_of(const fs::path& place) {
  std::error_code code;
  return fs::is_directory(place, code) ? place : with_folder(place).parent_path();
}

struct GivenKey {
  const char *option, *key;
  std::optional<double> value;
};
std::vector<GivenKey> given_keys(const GivenNumbers& given) {
  return {{"--pixel", "geometry.pixel_width_mm", given.pixel_mm},
          {"--source-axis", "geometry.source_axis_mm", given.source_axis_mm},
          {"--source-detector", "geometry.source_detector_mm", given.source_detector_mm},
          {"--arc", "geometry.arc_deg", given.arc_deg}};
}

// A file with the geometry of every view, which one number cannot replace.
void refuse_beside_geometry_file(const GivenNumbers& given, const ImportedScan& scan) {
  if (!scan.text.has("geometry.import_file")) return;
  const auto refuse = [&](const char* option) {
    throw Error(ErrorKind::usage, {.what = format("{} cannot be given here", option),
                                   .where = scan.header.string(),
                                   .why = "this file says where source and detector are in every view",
                                   .hint = "leave the option out; or write a scan file: docs/scan-file.md"});
  };
  for (const GivenKey& one : given_keys(given))
    if (one.value && !scan.text.has(one.key)) refuse(one.option);
  if (given.parallel) refuse("--parallel");
}

void apply(const GivenNumbers& given, ImportedScan& scan) {
  refuse_beside_geometry_file(given, scan);
  ScanFileText& text = scan.text;
  const auto remove = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) text.remove(key);
  };
  if (given.pixel_mm) remove({"geometry.pixel_height_mm"});  // square
  if (given.arc_deg) remove({"geometry.angles_deg", "geometry.angle_step_deg", "geometry.angles_dataset"});
  if ((given.pixel_mm || given.source_axis_mm || given.source_detector_mm) &&
      (text.has("volume.voxel_mm") || text.has("volume.size"))) {
    remove({"volume.voxel_mm", "volume.size"});
    scan.warnings.emplace_back("the header's voxels belong to its own pixels and distances: lepus chooses others");
  }
  for (const GivenKey& one : given_keys(given))
    if (one.value) text.set(one.key, *one.value, format("given with {}", one.option));
  if (given.parallel) {
    text.set("geometry.beam", std::string("parallel"), "given with --parallel");
    remove({"geometry.source_axis_mm", "geometry.source_detector_mm"});
  }
}

}  // namespace

std::vector<FoundHeader> find_headers(const fs::path& place) {
  std::error_code code;
  std::vector<fs::path> files;
  if (fs::is_directory(place, code)) {
    for (const fs::path& file : entries_of(place))
      if (fs::is_regular_file(file, code)) files.push_back(file);
  } else if (fs::is_regular_file(place, code)) {
    files.push_back(with_folder(place));
  }
  std::vector<FoundHeader> found;
  for (const Scanner* scanner : scanners())
    for (const fs::path& header : scanner->headers(files)) found.push_back({scanner, header});
  return found;
}

std::vector<std::string> missing_numbers(const GivenNumbers& given) {
  std::vector<std::string> missing;
  if (!given.pixel_mm) missing.emplace_back("--pixel");
  if (!given.parallel && !given.source_axis_mm) missing.emplace_back("--source-axis");
  if (!given.parallel && !given.source_detector_mm) missing.emplace_back("--source-detector");
  return missing;
}

ImportedScan import_place(const fs::path& place, const GivenNumbers& given) {
  std::error_code code;
  if (!fs::exists(place, code))
    throw Error(ErrorKind::input, {.what = "there is no such file or folder",
                                   .where = place.string(),
                                   .why = {},
                                   .hint = "give the folder of a scan, or its header"});
  const auto found = find_headers(place);
  if (found.size() > 1) {
    std::string names;
    for (const FoundHeader& header : found)
      names += format("{}{} ({})", names.empty() ? "" : ", ", header.file.filename().string(), header.scanner->title());
    throw Error(ErrorKind::input, {.what = format("{} scans lie in this folder", found.size()),
                                   .where = place.string(),
                                   .why = names,
                                   .hint = format("name the one: {}", found.front().file.string())});
  }
  if (found.empty() && !fs::is_directory(place, code))
    throw Error(ErrorKind::input, {.what = "the file is no header of a scanner that lepus knows",
                                   .where = place.string(),
                                   .why = {},
                                   .hint = "give the folder of the scan; docs/scanners lists what is recognised"});
  ImportedScan scan =
      found.empty() ? import_plain_frames(place, given) : found.front().scanner->read(found.front().file, given);
  apply(given, scan);
  if (!scan.text.has("output.file"))
    scan.text.set("output.file", format("{}.mha", found.empty() ? "volume" : scan.header.stem().string()),
                  "beside this file; its ending chooses the format");
  return scan;
}

std::string scan_file_text(const ImportedScan& imported, const fs::path& folder) {
  std::string heading = format("Written by lepus {} from {} ({}); the comments say where each value came from.",
                               version, imported.header.filename().string(), imported.scanner);
  std::string text = imported.text.text(folder, heading);
  std::string warnings;
  for (const std::string& warning : imported.warnings) warnings += format("# Warning: {}\n", warning);
  return text.insert(text.find('\n') + 1, warnings);
}

Scan read_imported(const fs::path& place) {
  const fs::path folder = folder_of(place);
  std::error_code code;
  if (fs::is_directory(place, code) && fs::exists(folder / "scan.toml", code)) return read_scan(folder / "scan.toml");
  const ImportedScan imported = import_place(place, {});
  Scan scan = read_scan_text(scan_file_text(imported, folder), folder / "scan.toml");
  scan.warnings.insert(scan.warnings.begin(), imported.warnings.begin(), imported.warnings.end());
  return scan;
}

Scan read_scan_at(const fs::path& place) {
  std::error_code code;
  const bool importable = fs::is_directory(place, code) || !find_headers(place).empty();
  return importable ? read_imported(place) : read_scan(place);
}

}  // namespace lepus
