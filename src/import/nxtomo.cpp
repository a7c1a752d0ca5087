// SPDX-License-Identifier: Apache-2.0
// NXtomo, as Diamond and the ESRF write it: one HDF5 dataset of frames, flats and darks with an image_key.
// docs/scanners/hdf5.md has the table.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "import/hdf5_header.h"
#include "import/open_beam.h"
#include "io/file.h"
#include "io/number_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

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

  ImportedScan read(const fs::path& file, const GivenNumbers& given) const override {
    StoredHeader header(file);
    ImportedScan scan = begin_hdf5_scan(header, "NXtomo");
    const auto groups = detector_groups(header.values());
    const std::string& detector = groups.front();
    if (groups.size() > 1) {
      std::string others;
      for (std::size_t i = 1; i < groups.size(); ++i) others += (i > 1 ? ", " : "") + groups[i];
      scan.warnings.push_back(
          format("the file holds {} scans; that of {} is taken, not {}", groups.size(), detector, others));
    }
    const std::string entry = detector.substr(0, detector.find("/instrument/"));
    const std::vector<double> keys = read_keys(header, detector);
    read_images(header, detector, keys, scan);
    read_angles(header, entry, keys, scan);
    set_beam(header, entry, detector, given, scan);
    read_pixel(header, entry, detector, given, scan);
    read_flips(header, detector, scan);
    read_axis(header, detector, given, scan);
    scan.fields = header.fields();
    return scan;
  }

private:
  static constexpr double alignment_key = -1;

  // What each image is; alignment_key for those that image_key calls views and image_key_control looks at the way back.
  static std::vector<double> read_keys(StoredHeader& header, const std::string& detector) {
    const StoredValue& key = *header.take(detector + "/image_key", "frames.image_key");
    const std::int64_t images = header.find(detector + "/data")->shape[0];
    std::vector<double> keys = read_number_dataset(header.file(), key.path).values;
    if (static_cast<std::int64_t>(keys.size()) != images)
      throw Error(ErrorKind::input, {.what = "image_key does not fit the images",
                                     .where = format("{}:{}", header.file().string(), key.path),
                                     .why = format("{} keys for {} images", keys.size(), images),
                                     .hint = "is the file whole?"});
    const StoredValue* control = header.find(detector + "/image_key_control");
    if (!control || control->count() != images) return keys;
    const std::vector<double> finer = read_number_dataset(header.file(), control->path).values;
    for (std::size_t i = 0; i < std::min(keys.size(), finer.size()); ++i)
      if (keys[i] == 0 && finer[i] == alignment_key) keys[i] = alignment_key;
    if (std::count(keys.begin(), keys.end(), alignment_key) > 0) header.take(control->path, "frames.images");
    return keys;
  }

  // "0..9, 12": those with this key.
  static std::string images_with(const std::vector<double>& keys, double key) {
    std::string ranges;
    for (std::size_t i = 0, next = 0; i < keys.size(); i = next + 1) {
      for (next = i; next < keys.size() && keys[next] == key; ++next) continue;
      if (next > i) ranges += format("{}{}..{}", ranges.empty() ? "" : ", ", i, next - 1);
    }
    return ranges;
  }

  static void read_images(StoredHeader& header, const std::string& detector, const std::vector<double>& keys,
                          ImportedScan& scan) {
    const StoredValue& data = *header.take(detector + "/data", "frames.dataset");
    scan.text.set("frames.dataset", data.path, "NXdetector");
    if (const auto looks = std::count(keys.begin(), keys.end(), alignment_key); looks == 0) {
      scan.text.set("frames.image_key", detector + "/image_key", "0 views, 1 flats, 2 darks, 3 invalid");
    } else {
      scan.warnings.push_back(format("{} images are looks at the way back (image_key_control is -1) and are left out",
                                     static_cast<std::int64_t>(looks)));
      scan.text.set("frames.images", images_with(keys, 0), "image_key 0, image_key_control not -1");
      for (const auto& [set, key] : {std::pair{"flats", 1.0}, std::pair{"darks", 2.0}})
        if (const std::string images = images_with(keys, key); !images.empty()) {
          scan.text.set_files(format("frames.{}", set), {header.file()}, "this file");
          scan.text.set(format("frames.{}_dataset", set), data.path, "NXdetector");
          scan.text.set(format("frames.{}_images", set), images, format("image_key {:g}", key));
        }
    }
    const auto views = std::count(keys.begin(), keys.end(), 0.0);
    scan.text.set("frames.views", static_cast<std::int64_t>(views), "the zeros of image_key");
    if (std::count(keys.begin(), keys.end(), 1.0) == 0) {
      const auto first = std::find(keys.begin(), keys.end(), 0.0) - keys.begin();
      take_open_beam_from_view({.files = {header.file()}, .dataset = data.path, .raw = {}, .images = {first}}, scan);
    }
  }

  static void read_angles(StoredHeader& header, const std::string& entry, const std::vector<double>& keys,
                          ImportedScan& scan) {
    const StoredValue* angles = nullptr;
    for (const char* place : {"/sample/rotation_angle", "/data/rotation_angle"})
      if (!angles) angles = header.take(entry + place, "geometry.angles_dataset");
    if (!angles)
      throw Error(ErrorKind::input, {.what = "the file holds no rotation angles",
                                     .where = header.file().string(),
                                     .why = format("there is no {}/sample/rotation_angle", entry),
                                     .hint = "write a scan file with the angles"});
    check_angle_count(*angles, std::count(keys.begin(), keys.end(), 0.0), static_cast<std::int64_t>(keys.size()),
                      header.file());
    scan.text.set("geometry.angles_dataset", angles->path, angles->unit.empty() ? "degrees" : angles->unit);
    scan.text.set("geometry.direction", std::string("clockwise"), "rotation_angle turns the sample, not the source");
  }

  // Of a parallel beam the pixel as the sample has it, where the file says so; a cone's is that of the detector.
  static void read_pixel(StoredHeader& header, const std::string& entry, const std::string& detector,
                         const GivenNumbers& given, ImportedScan& scan) {
    const bool parallel = std::get<std::string>(*scan.text.find("geometry.beam")) == "parallel";
    std::vector<std::string> widths{detector + "/x_pixel_size"};
    if (parallel) widths.insert(widths.begin(), entry + "/sample/x_pixel_size");
    const StoredValue* width = header.take_number(widths, "geometry.pixel_width_mm");
    const std::string group = width ? width->path.substr(0, width->path.rfind('/')) : detector;
    set_pixel(scan, given, width, header.take_number({group + "/y_pixel_size"}, "geometry.pixel_height_mm"));
    warn_of_optics(header, given, width, {detector + "/x_pixel_size"}, scan);
  }

  // After the flips: the position counts the columns as they are stored.
  static void read_axis(StoredHeader& header, const std::string& detector, const GivenNumbers& given,
                        ImportedScan& scan) {
    const StoredValue* axis =
        header.take_number({detector + "/x_rotation_axis_pixel_position"}, "geometry.detector_shift_u_mm");
    const double columns = static_cast<double>(header.find(detector + "/data")->shape[2]);
    // Some writers count from the middle, others from the left edge. A position in the middle half of the detector that
    // was counted from the edge, and one near the middle, can be told apart; others cannot.
    const double position = axis ? axis->numbers[0] : 0;
    const bool from_edge = position > columns / 4 && position < 3 * columns / 4;
    if (axis && (from_edge || std::abs(position) < columns / 4)) {
      const double from_middle = from_edge ? position - (columns - 1) / 2 : position;
      const double pixel_mm =
          given.pixel_mm ? *given.pixel_mm : std::get<double>(*scan.text.find("geometry.pixel_width_mm"));
      const double sign = scan.text.has("geometry.mirror_columns") ? 1 : -1;
      scan.text.set("geometry.detector_shift_u_mm", sign * from_middle * pixel_mm,
                    format("{}, pixels from the {}", axis->path, from_edge ? "left edge" : "middle"));
    } else {
      if (axis)
        scan.warnings.push_back(
            format("{} = {:g} may be counted from the middle or from the edge: the axis is sought in the frames",
                   axis->path, position));
      find_axis(scan);
    }
  }

  static void read_flips(StoredHeader& header, const std::string& detector, ImportedScan& scan) {
    bool said = false;
    for (const auto& [field, key] :
         {std::pair{"/x_flipped", "geometry.mirror_columns"}, std::pair{"/y_flipped", "geometry.mirror_rows"}}) {
      const StoredValue* flipped = header.take(detector + field, key);
      if (!flipped) continue;
      if (flipped->numbers.empty() || !std::isfinite(flipped->numbers[0]))
        throw Error(ErrorKind::input, {.what = "the file does not say whether the images are mirrored",
                                       .where = format("{}:{}", header.file().string(), flipped->path),
                                       .why = format("it holds {}", flipped->shown()),
                                       .hint = "store it as 0 or 1"});
      said = true;
      if (flipped->numbers[0] != 0) scan.text.set(key, true, flipped->path);
    }
    if (!said) read_turned_detector(header, detector + "/transformations/", scan);
  }

  // nxtomo stores flips as half turns of the detector: until its version 2 about y (rows) and the upright z (columns),
  // since then about x (rows) and the upright y (columns). It writes both, so that z or x tells which.
  static void read_turned_detector(StoredHeader& header, const std::string& group, ImportedScan& scan) {
    const bool old = header.find(group + "rz"), current = header.find(group + "rx");
    for (const StoredValue& turn : header.values()) {
      const std::string name = turn.path.starts_with(group) ? turn.path.substr(group.size()) : "";
      const bool angle = turn.unit.starts_with("deg") || turn.unit.starts_with("rad");
      if (name.empty() || !angle || turn.numbers.empty() || turn.numbers[0] == 0) continue;
      const bool columns = name == (old ? "rz" : "ry"), rows = name == (old ? "ry" : "rx");
      if (old != current && (columns || rows) && turn.unit.starts_with("deg") && std::abs(turn.numbers[0]) == 180) {
        const char* const key = columns ? "geometry.mirror_columns" : "geometry.mirror_rows";
        header.take(turn.path, key);
        scan.text.set(key, true, turn.path);
      } else {
        scan.warnings.push_back(
            format("{} = {:g} {} is not applied: where lepus finds the scan mirrored, or the volume is blurred, set "
                   "mirror_columns or mirror_rows",
                   turn.path, turn.numbers[0], turn.unit));
      }
    }
  }

  static void set_beam(StoredHeader& header, const std::string& entry, const std::string& detector,
                       const GivenNumbers& given, ImportedScan& scan) {
    const StoredValue* source = header.take_number({entry + "/instrument/source/distance"}, "geometry.source_axis_mm");
    const StoredValue* gap = header.take_number({detector + "/distance"}, "geometry.source_detector_mm");
    const StoredValue* type = header.take(entry + "/instrument/source/type", "geometry.beam");
    constexpr double farthest_tube_mm = 10'000;
    const bool synchrotron = type && lower_case(type->text).find("synchrotron") != std::string::npos;
    const double source_mm = given.source_axis_mm ? *given.source_axis_mm
                             : source             ? length_mm(*source, header.file())
                                                  : 0;
    if (given.parallel || source_mm == 0 || synchrotron || source_mm > farthest_tube_mm) {
      scan.text.set("geometry.beam", std::string("parallel"),
                    synchrotron ? type->path
                    : source    ? source->path + " is far away"
                                : "no distance of the source");
      return;
    }
    scan.text.set("geometry.beam", std::string("cone"), "the distance of the source is that of a tube");
    if (source) scan.text.set("geometry.source_axis_mm", source_mm, source->path);
    if (given.source_detector_mm) return;
    if (!source || !gap)
      throw Error(ErrorKind::input,
                  {.what = "the file does not say how far the detector is",
                   .where = header.file().string(),
                   .why = format("it needs {}/instrument/source/distance and {}/distance", entry, detector),
                   .hint = "give --source-detector"});
    scan.text.set("geometry.source_detector_mm", length_mm(*source, header.file()) + length_mm(*gap, header.file()),
                  format("{} and {}", source->path, gap->path));
  }
};

}  // namespace

const Scanner& nxtomo_scanner() {
  static const NxTomo nxtomo;
  return nxtomo;
}

}  // namespace lepus
