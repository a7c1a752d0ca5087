// SPDX-License-Identifier: Apache-2.0
// Scans in HDF5 files: NXtomo, as Diamond and the ESRF write it (one dataset of frames, flats and darks with an
// image_key), and DXchange, as the APS does (/exchange). docs/scanners/hdf5.md has the tables.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/format.h"
#include "import/open_beam.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/number_file.h"
#include "io/stored_values.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

// The datasets of a file by their paths; whoever takes one says for what.
class StoredHeader {
public:
  explicit StoredHeader(const fs::path& file) : values_(list_stored_values(file)), file_(file) {}

  const fs::path& file() const { return file_; }
  const std::vector<StoredValue>& values() const { return values_; }
  const StoredValue* find(const std::string& path) const {
    const auto found = std::find_if(values_.begin(), values_.end(), [&](const auto& v) { return v.path == path; });
    return found == values_.end() ? nullptr : &*found;
  }
  const StoredValue* take(const std::string& path, const std::string& use) {
    const StoredValue* value = find(path);
    if (value) uses_[path] = use;
    return value;
  }
  // The first of these that holds a number above or below zero.
  const StoredValue* take_number(const std::vector<std::string>& paths, const std::string& use) {
    for (const std::string& path : paths)
      if (const StoredValue* value = find(path);
          value && !value->numbers.empty() && std::isfinite(value->numbers[0]) && value->numbers[0] != 0)
        return take(path, use);
    return nullptr;
  }
  std::vector<HeaderField> fields() const {
    std::vector<HeaderField> all;
    for (const StoredValue& value : values_) {
      const auto use = uses_.find(value.path);
      all.push_back({value.path, as_utf8(value.shown()), use == uses_.end() ? std::string() : use->second});
    }
    return all;
  }

private:
  std::vector<StoredValue> values_;
  fs::path file_;
  std::map<std::string, std::string> uses_;
};

// Lengths carry their unit in an attribute; where there is none, that of the layout holds.
double length_mm(const StoredValue& value, const char* usual_unit, const fs::path& file) {
  static const std::map<std::string, double> in_mm{
      {"m", 1e3},   {"metre", 1e3},   {"meter", 1e3},    {"cm", 10},           {"mm", 1},    {"millimeter", 1},
      {"um", 1e-3}, {"micron", 1e-3}, {"microns", 1e-3}, {"micrometer", 1e-3}, {"µm", 1e-3}, {"nm", 1e-6}};
  const std::string unit = value.unit.empty() ? usual_unit : lower_case(value.unit);
  const auto found = in_mm.find(unit);
  if (found == in_mm.end())
    throw Error(ErrorKind::input, {.what = format("a length in the unit {}", value.unit),
                                   .where = format("{}:{}", file.string(), value.path),
                                   .why = "this unit is not known",
                                   .hint = "give the number with --pixel, or in a scan file"});
  return std::abs(value.numbers.at(0)) * found->second;
}

void check_angle_count(const StoredValue& angles, std::int64_t views, std::int64_t images, const fs::path& file) {
  const std::int64_t count = angles.count();
  if (count == views || count == images) return;
  throw Error(ErrorKind::input, {.what = count < views ? "the angles stop early" : "there are other angles than views",
                                 .where = format("{}:{}", file.string(), angles.path),
                                 .why = format("{} angles for {} views of {} images", count, views, images),
                                 .hint = "is the file whole? Else write a scan file with the angles"});
}

ImportedScan begin(const StoredHeader& header, const char* scanner) {
  ImportedScan scan;
  scan.scanner = scanner;
  scan.header = header.file();
  scan.text.set_files("frames.files", {header.file()}, "this file");
  return scan;
}

// What a parallel beam's file need not say: its volume is then in pixels.
void set_pixel(ImportedScan& scan, const StoredValue* width, const StoredValue* height, const char* usual_unit) {
  if (width)
    scan.text.set("geometry.pixel_width_mm", length_mm(*width, usual_unit, scan.header), width->path);
  else {
    scan.text.set("geometry.pixel_width_mm", 1.0, "not in the file");
    scan.warnings.emplace_back("the file does not say the pixel size: 1 mm is taken; give --pixel");
  }
  if (width && height)
    scan.text.set("geometry.pixel_height_mm", length_mm(*height, usual_unit, scan.header), height->path);
}

void find_axis(ImportedScan& scan) {
  scan.text.set("geometry.center", std::string("auto"), "the file does not say where the axis is");
}

// ------------------------------------------------------------------------------------------------------ NXtomo

// "/entry/instrument/detector" of each scan in the file: the groups that hold data and image_key.
std::vector<std::string> detector_groups(const std::vector<StoredValue>& values) {
  std::vector<std::string> groups;
  for (const StoredValue& value : values) {
    if (!value.path.ends_with("/image_key")) continue;
    const std::string group = value.path.substr(0, value.path.size() - 10);
    const bool data = std::any_of(values.begin(), values.end(), [&](const StoredValue& v) {
      return v.path == group + "/data" && v.shape.size() == 3;
    });
    if (data && group.find("/instrument/") != std::string::npos) groups.push_back(group);
  }
  return groups;
}

class NxTomo final : public Scanner {
public:
  std::string_view name() const override { return "nxtomo"; }
  std::string_view title() const override { return "NXtomo (HDF5)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return hdf5_files(files, [](const std::vector<StoredValue>& values) { return !detector_groups(values).empty(); });
  }

  ImportedScan read(const fs::path& file) const override {
    StoredHeader header(file);
    ImportedScan scan = begin(header, "NXtomo");
    const auto groups = detector_groups(header.values());
    const std::string& detector = groups.front();
    if (groups.size() > 1) {
      std::string others;
      for (std::size_t i = 1; i < groups.size(); ++i) others += (i > 1 ? ", " : "") + groups[i];
      scan.warnings.push_back(
          format("the file holds {} scans; that of {} is taken, not {}", groups.size(), detector, others));
    }
    const std::string entry = detector.substr(0, detector.find("/instrument/"));
    read_images(header, detector, scan);
    read_geometry(header, entry, detector, scan);
    scan.fields = header.fields();
    return scan;
  }

  static std::vector<fs::path> hdf5_files(const std::vector<fs::path>& files,
                                          bool (*recognised)(const std::vector<StoredValue>&)) {
    std::vector<fs::path> found;
    for (const fs::path& file : files) try {
        if (kind_of_file(file) == FileKind::hdf5 && recognised(list_stored_values(file, StoredDetail::shapes)))
          found.push_back(file);
      } catch (const Error&) {  // damaged, or a build without HDF5: whoever opens it next says so
      }
    return found;
  }

private:
  static void read_images(StoredHeader& header, const std::string& detector, ImportedScan& scan) {
    const StoredValue& data = *header.take(detector + "/data", "frames.dataset");
    const StoredValue& key = *header.take(detector + "/image_key", "frames.image_key");
    const std::vector<double> keys = read_number_dataset(header.file(), key.path).values;
    if (static_cast<std::int64_t>(keys.size()) != data.shape[0])
      throw Error(ErrorKind::input, {.what = "image_key does not fit the images",
                                     .where = format("{}:{}", header.file().string(), key.path),
                                     .why = format("{} keys for {} images", keys.size(), data.shape[0]),
                                     .hint = "is the file whole?"});
    scan.text.set("frames.dataset", data.path, "NXdetector");
    scan.text.set("frames.image_key", key.path, "0 views, 1 flats, 2 darks, 3 invalid");
    const auto views = std::count(keys.begin(), keys.end(), 0.0);
    scan.text.set("frames.views", static_cast<std::int64_t>(views), "the zeros of image_key");
    if (std::count(keys.begin(), keys.end(), 1.0) == 0) {
      const auto first = std::find(keys.begin(), keys.end(), 0.0) - keys.begin();
      take_open_beam_from_view({.files = {header.file()}, .dataset = data.path, .raw = {}, .images = {first}}, scan);
    }
  }

  static void read_geometry(StoredHeader& header, const std::string& entry, const std::string& detector,
                            ImportedScan& scan) {
    const StoredValue* angles = nullptr;
    for (const char* place : {"/sample/rotation_angle", "/data/rotation_angle"})
      if (!angles) angles = header.take(entry + place, "geometry.angles_dataset");
    if (!angles)
      throw Error(ErrorKind::input, {.what = "the file holds no rotation angles",
                                     .where = header.file().string(),
                                     .why = format("there is no {}/sample/rotation_angle", entry),
                                     .hint = "write a scan file with the angles"});
    const std::vector<double> keys = read_number_dataset(header.file(), detector + "/image_key").values;
    check_angle_count(*angles, std::count(keys.begin(), keys.end(), 0.0), static_cast<std::int64_t>(keys.size()),
                      header.file());
    scan.text.set("geometry.angles_dataset", angles->path, angles->unit.empty() ? "degrees" : angles->unit);
    scan.text.set("geometry.direction", std::string("clockwise"), "rotation_angle turns the sample, not the source");

    const StoredValue* width = header.take_number({detector + "/x_pixel_size"}, "geometry.pixel_width_mm");
    const StoredValue* height = header.take_number({detector + "/y_pixel_size"}, "geometry.pixel_height_mm");
    set_pixel(scan, width, height, "m");
    set_beam(header, entry, detector, scan);
    const StoredValue* axis =
        header.take_number({detector + "/x_rotation_axis_pixel_position"}, "geometry.detector_shift_u_mm");
    const double columns = static_cast<double>(header.find(detector + "/data")->shape[2]);
    // Some writers count from the middle, others from the left edge. A position in the middle half of the detector that
    // was counted from the edge, and one near the middle, can be told apart; others cannot.
    const double position = axis ? axis->numbers[0] : 0;
    const bool from_edge = position > columns / 4 && position < 3 * columns / 4;
    if (axis && (from_edge || std::abs(position) < columns / 4)) {
      const double from_middle = from_edge ? position - (columns - 1) / 2 : position;
      const double pixel_mm = width ? length_mm(*width, "m", header.file()) : 1;
      scan.text.set("geometry.detector_shift_u_mm", -from_middle * pixel_mm,
                    format("{}, pixels from the {}", axis->path, from_edge ? "left edge" : "middle"));
    } else {
      if (axis)
        scan.warnings.push_back(
            format("{} = {:g} may be counted from the middle or from the edge: the axis is sought in the frames",
                   axis->path, position));
      find_axis(scan);
    }
    for (const auto& [field, key] :
         {std::pair{"/x_flipped", "geometry.mirror_columns"}, std::pair{"/y_flipped", "geometry.mirror_rows"}})
      if (const StoredValue* flipped = header.take_number({detector + field}, key))
        scan.text.set(key, true, flipped->path);
  }

  static void set_beam(StoredHeader& header, const std::string& entry, const std::string& detector,
                       ImportedScan& scan) {
    const StoredValue* source = header.take_number({entry + "/instrument/source/distance"}, "geometry.source_axis_mm");
    const StoredValue* gap = header.take_number({detector + "/distance"}, "geometry.source_detector_mm");
    const StoredValue* type = header.take(entry + "/instrument/source/type", "geometry.beam");
    constexpr double farthest_tube_mm = 10'000;
    const bool synchrotron = type && lower_case(type->text).find("synchrotron") != std::string::npos;
    const double source_mm = source ? length_mm(*source, "m", header.file()) : 0;
    if (!source || synchrotron || source_mm > farthest_tube_mm) {
      scan.text.set("geometry.beam", std::string("parallel"),
                    synchrotron ? type->path
                    : source    ? source->path + " is far away"
                                : "no distance of the source");
      return;
    }
    scan.text.set("geometry.beam", std::string("cone"), source->path + " is that of a tube");
    scan.text.set("geometry.source_axis_mm", source_mm, source->path);
    if (!gap)
      throw Error(ErrorKind::input, {.what = "the file does not say how far the detector is",
                                     .where = header.file().string(),
                                     .why = format("there is {}, but no {}/distance", source->path, detector),
                                     .hint = "write a scan file"});
    scan.text.set("geometry.source_detector_mm", source_mm + length_mm(*gap, "m", header.file()),
                  format("{} and {}", source->path, gap->path));
  }
};

// ---------------------------------------------------------------------------------------------------- DXchange

class DxChange final : public Scanner {
public:
  std::string_view name() const override { return "dxchange"; }
  std::string_view title() const override { return "DXchange (HDF5)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return NxTomo::hdf5_files(files, [](const std::vector<StoredValue>& values) {
      const auto has = [&](std::string_view path) {
        return std::any_of(values.begin(), values.end(), [&](const StoredValue& v) { return v.path == path; });
      };
      return has("/exchange/data") && (has("/exchange/theta") || has("/exchange/data_white") || has("/implements"));
    });
  }

  ImportedScan read(const fs::path& file) const override {
    StoredHeader header(file);
    ImportedScan scan = begin(header, "DXchange");
    const StoredValue& data = *header.take("/exchange/data", "frames.dataset");
    if (data.shape.size() != 3)
      throw Error(ErrorKind::input, {.what = "/exchange/data is no stack of images",
                                     .where = file.string(),
                                     .why = format("it has {} dimensions", data.shape.size()),
                                     .hint = "write a scan file that names the frames"});
    const std::int64_t views = data.shape[0];
    scan.text.set("frames.dataset", data.path, "DXchange");
    scan.text.set("frames.views", views, "the images of /exchange/data");
    if (header.take("/exchange/data_white", "frames.flats"))
      scan.text.set_files("frames.flats", {file}, "/exchange/data_white");
    else
      take_open_beam_from_view({.files = {file}, .dataset = data.path, .raw = {}}, scan);
    if (header.take("/exchange/data_dark", "frames.darks"))
      scan.text.set_files("frames.darks", {file}, "/exchange/data_dark");

    scan.text.set("geometry.beam", std::string("parallel"), "DXchange is a format of synchrotrons");
    if (const StoredValue* theta = header.take("/exchange/theta", "geometry.angles_dataset")) {
      check_angle_count(*theta, views, views, file);
      scan.text.set("geometry.angles_dataset", theta->path, theta->unit.empty() ? "degrees" : theta->unit);
    } else {
      scan.text.set("geometry.arc_deg", 180.0, "not in the file");
      scan.warnings.emplace_back("the file holds no angles (/exchange/theta): 180 degrees in equal steps are taken");
    }
    const std::string detector = "/measurement/instrument/detector/";
    const StoredValue* width =
        header.take_number({detector + "actual_pixel_size_x", detector + "x_actual_pixel_size",
                            detector + "pixel_size_x", detector + "x_pixel_size", detector + "pixel_size"},
                           "geometry.pixel_width_mm");
    set_pixel(scan, width, nullptr, "m");
    find_axis(scan);
    scan.fields = header.fields();
    return scan;
  }
};

}  // namespace

const Scanner& nxtomo_scanner() {
  static const NxTomo nxtomo;
  return nxtomo;
}

const Scanner& dxchange_scanner() {
  static const DxChange dxchange;
  return dxchange;
}

}  // namespace lepus
