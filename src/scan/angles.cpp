// SPDX-License-Identifier: Apache-2.0
// The angle of every recorded frame from whichever of the five forms the scan file uses.
#include "core/format.h"
#include "io/frame_sources.h"
#include "scan/frame_numbers.h"
#include "scan/number_file.h"
#include "scan/sections.h"

namespace lepus {
namespace {

[[noreturn]] void wrong_number(const ScanDocument& document, const std::string& key, std::size_t found,
                               std::int64_t frames, const std::string& hint) {
  document.fail(key, "the angles do not match the frames",
                format("{} gives {} angles, there are {} frames", key, found, frames), hint);
}

// A list from a file or dataset may also hold the angles of flats and darks.
std::vector<double> part_of_list(const ScanDocument& document, const std::string& key, std::vector<double> list,
                                 std::int64_t frames) {
  const auto first = document.find<std::int64_t>("geometry.first_angle_index");
  const auto found = static_cast<std::int64_t>(list.size());
  if (!first && found != frames)
    wrong_number(document, key, list.size(), frames,
                 found > frames ? "if the list also holds flats or darks, say where the frames begin with "
                                  "first_angle_index"
                                : "check that no angle is missing and that frames.files matches nothing else");
  if (first && *first > found - frames)
    wrong_number(document, "geometry.first_angle_index", list.size(), frames,
                 format("counted from entry {}, only {} remain", *first, std::max<std::int64_t>(0, found - *first)));
  list.erase(list.begin(), list.begin() + first.value_or(0));
  list.resize(static_cast<std::size_t>(frames));
  return list;
}

}  // namespace

std::vector<double> recorded_angles_rad(const ScanDocument& document, const Scan& scan, Resolution& resolution) {
  const std::int64_t frames = scan.recorded.frames;
  std::string form;
  for (const std::string key : {"geometry.arc_deg", "geometry.angle_step_deg", "geometry.angles_deg",
                                "geometry.angles_file", "geometry.angles_dataset"}) {
    if (!document.given(key)) continue;
    if (!form.empty())
      document.fail(key, "the angles are given twice", format("{} and {}", form, key), "keep one of them");
    form = key;
  }
  const bool regular = form.empty() || form == "geometry.arc_deg" || form == "geometry.angle_step_deg";
  if (!regular && document.given("geometry.first_angle_deg"))
    document.fail("geometry.first_angle_deg", "the angles are given twice",
                  format("geometry.first_angle_deg and {}", form),
                  "keep one of them; a list says the angle of frame 0 itself");
  if (document.given("geometry.first_angle_index") && form != "geometry.angles_file" &&
      form != "geometry.angles_dataset")
    document.fail("geometry.first_angle_index", "geometry.first_angle_index has no use here",
                  "it says where the frames begin in angles_file or angles_dataset", "leave it out");

  std::vector<double> angles_deg;
  if (regular) {
    if (const std::string missing = missing_in_series(scan.frames.files); !missing.empty())
      throw Error(
          ErrorKind::input,
          {.what = "a frame is missing from the series",
           .where = document.where("frames.files") + ", " + missing,
           .why = "the angles are equally spaced, so that every later view would get a wrong one",
           .hint = "put the file back, or give the angle of each frame with geometry.angles_deg or angles_file"});
    const double first = document.get<double>("geometry.first_angle_deg");
    if (form == "geometry.angle_step_deg") {
      resolution.inactive.insert("geometry.arc_deg");
      const double step = document.get<double>(form);
      for (std::int64_t i = 0; i < frames; ++i) angles_deg.push_back(first + static_cast<double>(i) * step);
    } else {
      const double arc = document.get<double>("geometry.arc_deg");
      for (std::int64_t i = 0; i < frames; ++i)
        angles_deg.push_back(first + static_cast<double>(i) * arc / static_cast<double>(frames));
    }
  } else {
    resolution.inactive.insert({"geometry.arc_deg", "geometry.first_angle_deg"});
    if (form == "geometry.angles_deg") {
      angles_deg = document.get<std::vector<double>>(form);
      if (static_cast<std::int64_t>(angles_deg.size()) != frames)
        wrong_number(document, form, angles_deg.size(), frames, "give one angle for each frame");
    } else if (form == "geometry.angles_file") {
      const auto numbers = located(document, form, [&] { return read_number_file(document.path_of(form)); });
      angles_deg = part_of_list(document, form, numbers.values, frames);
    } else {
      const auto& file = scan.frames.files.front();
      if (!is_hdf5_name(file))
        document.fail(form, "geometry.angles_dataset needs frames in an HDF5 file",
                      format("frames.files names {}", file.filename().string()), "use angles_file or angles_deg");
      const auto dataset = document.get<std::string>(form);
      angles_deg = part_of_list(document, form,
                                located(document, form, [&] { return read_number_dataset(file, dataset); }), frames);
    }
  }
  const double sign = document.get<std::string>("geometry.direction") == "clockwise" ? -1 : 1;
  std::vector<double> angles_rad;
  angles_rad.reserve(angles_deg.size());
  for (const double angle : angles_deg) {
    check_angle_deg(angle, document.where(form.empty() ? "geometry.arc_deg" : form));
    angles_rad.push_back(sign * radians(angle));
  }
  return angles_rad;
}

}  // namespace lepus
