// SPDX-License-Identifier: Apache-2.0
#include "import/hdf5_header.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/header_text.h"
#include <lepus/error.h>

namespace lepus {

namespace fs = std::filesystem;

const StoredValue* StoredHeader::find(const std::string& path) const {
  const auto found = std::find_if(values_.begin(), values_.end(), [&](const auto& v) { return v.path == path; });
  return found == values_.end() ? nullptr : &*found;
}

const StoredValue* StoredHeader::take(const std::string& path, const std::string& use) {
  const StoredValue* value = find(path);
  if (value) uses_[path] = use;
  return value;
}

const StoredValue* StoredHeader::take_number(const std::vector<std::string>& paths, const std::string& use) {
  for (const std::string& path : paths)
    if (const StoredValue* value = find(path);
        value && !value->numbers.empty() && std::isfinite(value->numbers[0]) && value->numbers[0] != 0)
      return take(path, use);
  return nullptr;
}

std::vector<HeaderField> StoredHeader::fields() const {
  std::vector<HeaderField> all;
  for (const StoredValue& value : values_) {
    const auto use = uses_.find(value.path);
    all.push_back({value.path, as_utf8(value.shown()), use == uses_.end() ? std::string() : use->second});
  }
  return all;
}

std::vector<fs::path> hdf5_files(const std::vector<fs::path>& files,
                                 bool (*recognised)(const std::vector<StoredValue>&)) {
  std::vector<fs::path> found;
  for (const fs::path& file : files) try {
      if (kind_of_file(file) == FileKind::hdf5 && recognised(list_stored_values(file, StoredDetail::shapes)))
        found.push_back(file);
    } catch (const Error&) {  // damaged, or a build without HDF5: whoever opens it next says so
    }
  return found;
}

double length_mm(const StoredValue& value, const fs::path& file) {
  const auto mm = millimetres_in(value.unit.empty() ? "m" : as_utf8(value.unit));
  if (!mm)
    throw Error(ErrorKind::input, {.what = format("a length in the unit {}", value.unit),
                                   .where = format("{}:{}", file.string(), value.path),
                                   .why = "this unit is not known",
                                   .hint = "give it with --pixel, --source-axis or --source-detector"});
  return std::abs(value.numbers.at(0)) * *mm;
}

void check_angle_count(const StoredValue& angles, std::int64_t views, std::int64_t images, const fs::path& file) {
  const std::int64_t count = angles.count();
  if (count == views || count == images) return;
  throw Error(ErrorKind::input, {.what = count < views ? "the angles stop early" : "there are other angles than views",
                                 .where = format("{}:{}", file.string(), angles.path),
                                 .why = format("{} angles for {} views of {} images", count, views, images),
                                 .hint = "is the file whole? Else write a scan file with the angles"});
}

ImportedScan begin_hdf5_scan(const StoredHeader& header, const char* scanner) {
  ImportedScan scan;
  scan.scanner = scanner;
  scan.header = header.file();
  scan.text.set_files("frames.files", {header.file()}, "this file");
  return scan;
}

void set_pixel(ImportedScan& scan, const GivenNumbers& given, const StoredValue* width, const StoredValue* height) {
  if (given.pixel_mm) return;
  if (width)
    scan.text.set("geometry.pixel_width_mm", length_mm(*width, scan.header), width->path);
  else {
    scan.text.set("geometry.pixel_width_mm", 1.0, "not in the file");
    scan.warnings.emplace_back("the file does not say the pixel size: 1 mm is taken; give --pixel");
  }
  if (width && height) scan.text.set("geometry.pixel_height_mm", length_mm(*height, scan.header), height->path);
}

void warn_of_optics(const StoredHeader& header, const GivenNumbers& given, const StoredValue* seen,
                    const std::vector<std::string>& detector_paths, ImportedScan& scan) {
  if (!seen || given.pixel_mm) return;
  for (const std::string& path : detector_paths) {
    const StoredValue* own = header.find(path);
    if (!own || own == seen || own->numbers.empty()) continue;
    const double seen_mm = length_mm(*seen, header.file()), own_mm = length_mm(*own, header.file());
    if (!(std::abs(seen_mm - own_mm) > 1e-3 * seen_mm)) continue;
    scan.warnings.push_back(
        format("the pixel is taken as {:g} mm, by {}; {} is {:g} mm, which is that of the detector behind its optics",
               seen_mm, seen->path, own->path, own_mm));
    return;
  }
}

void find_axis(ImportedScan& scan) {
  scan.text.set("geometry.center", std::string("auto"), "the file does not say where the axis is");
}

}  // namespace lepus
