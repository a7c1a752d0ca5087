// SPDX-License-Identifier: Apache-2.0
// The angle of every recorded frame from whichever of the five forms the scan file uses.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/number_file.h"
#include "io/stored_array.h"
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
                                 const Scan& scan, const Resolution& resolution) {
  const std::int64_t frames = scan.recorded.frames;
  const auto first = document.find<std::int64_t>("geometry.first_angle_index");
  const auto found = static_cast<std::int64_t>(list.size());
  if (!first && found == resolution.images && !scan.frames.images.empty()) {
    std::vector<double> chosen;
    for (const std::int64_t image : scan.frames.images) chosen.push_back(list[static_cast<std::size_t>(image)]);
    return chosen;
  }
  if (!first && found != frames) {
    const std::string why = explain_count(resolution.names, scan.frames.files, found);
    std::string hint = found > frames
                           ? "if the list also holds flats or darks, say where the frames begin with first_angle_index"
                           : "check that no angle is missing and that frames.files matches nothing else";
    if (!why.empty()) hint = found > frames ? format("{}; else {}", hint, why) : why;
    wrong_number(document, key, list.size(), frames, hint);
  }
  if (first && *first > found - frames)
    wrong_number(document, "geometry.first_angle_index", list.size(), frames,
                 format("counted from entry {}, only {} remain", *first, std::max<std::int64_t>(0, found - *first)));
  list.erase(list.begin(), list.begin() + first.value_or(0));
  list.resize(static_cast<std::size_t>(frames));
  return list;
}

// All angles may stand in the first file, or those of each file's images in itself. As many as there are chosen frames
// are theirs only where no other file has a list: else they are those of the first file's images.
NumberDataset listed_in_files(const Scan& scan, const std::string& dataset, std::int64_t images) {
  NumberDataset first = read_number_dataset(scan.frames.files.front(), dataset);
  const auto own = static_cast<std::int64_t>(first.values.size());
  if (own >= images) return first;
  NumberDataset all = first;
  for (std::size_t i = 1; i < scan.frames.files.size(); ++i) try {
      const auto more = read_number_dataset(scan.frames.files[i], dataset).values;
      all.values.insert(all.values.end(), more.begin(), more.end());
    } catch (const Error&) {
      if (own != scan.recorded.frames) throw;
      return first;
    }
  return all;
}

// What a text file or dataset holds: as angles_unit says, or the attribute of a dataset; nothing where neither does.
std::optional<bool> listed_in_radians(const ScanDocument& document, const std::string& form,
                                      const std::string& attribute) {
  if (const auto unit = document.find<std::string>("geometry.angles_unit")) return *unit == "radians";
  const std::string unit = lower_case(attribute);
  if (unit.empty()) return std::nullopt;
  for (const char* word : {"degrees", "degree", "deg", "\xc2\xb0"})
    if (unit == word) return false;
  for (const char* word : {"radians", "radian", "rad"})
    if (unit == word) return true;
  document.fail(form, "the angles have a unit that is not known", format("the attribute units is \"{}\"", attribute),
                "say geometry.angles_unit = \"degrees\" or \"radians\"");
}

// A scan of half a turn or a turn whose numbers are 3.1416 or 6.2832 was hardly taken over a few degrees.
void ask_for_radians(const ScanDocument& document, const std::string& key, const std::vector<double>& angles_deg,
                     Resolution& resolution) {
  if (document.given("geometry.angles_unit") || angles_deg.size() < 3) return;
  const auto [least, most] = std::minmax_element(angles_deg.begin(), angles_deg.end());
  const double span = *most - *least;
  const double with_last = span * static_cast<double>(angles_deg.size()) / static_cast<double>(angles_deg.size() - 1);
  constexpr double tolerance = 1e-3;  // 3.14 and 6.28 are meant, 3.1 and 6.3 may be degrees
  for (const double halves : {1.0, 2.0, 3.0, 4.0, 8.0})
    for (const double turned : {span, with_last}) {
      const double quarter_turns = halves * pi / 2;
      if (std::abs(turned / quarter_turns - 1) > tolerance) continue;
      const bool listed = key == "geometry.angles_file" || key == "geometry.angles_dataset";
      resolution.warnings.push_back(
          format("{}: the angles span {:.5f} degrees, which is {:g} degrees in radians: are they radians? Say {}", key,
                 turned, 90 * halves,
                 listed ? "geometry.angles_unit = \"radians\", or \"degrees\" where they are right"
                        : "them in degrees, or geometry.angles_unit = \"degrees\" where they are right"));
      return;
    }
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

  const bool from_file = form == "geometry.angles_file" || form == "geometry.angles_dataset";
  if (const auto unit = document.find<std::string>("geometry.angles_unit"); unit && !from_file && *unit == "radians")
    document.fail("geometry.angles_unit", "geometry.angles_unit has no use here",
                  format("{} is in degrees", form.empty() ? "geometry.arc_deg" : form),
                  "it says what angles_file or angles_dataset holds");

  std::vector<double> angles_deg;
  if (regular) {
    require_whole_series(document, scan, resolution.names);
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
    std::optional<bool> in_radians;
    if (form == "geometry.angles_deg") {
      angles_deg = document.get<std::vector<double>>(form);
      if (static_cast<std::int64_t>(angles_deg.size()) != frames) {
        const std::string why =
            explain_count(resolution.names, scan.frames.files, static_cast<std::int64_t>(angles_deg.size()));
        wrong_number(document, form, angles_deg.size(), frames, why.empty() ? "give one angle for each frame" : why);
      }
    } else if (form == "geometry.angles_file") {
      const auto numbers = located(document, form, [&] { return read_number_file(document.path_of(form)); });
      angles_deg = part_of_list(document, form, numbers.values, scan, resolution);
      in_radians = listed_in_radians(document, form, "");
    } else {
      const auto& file = scan.frames.files.front();
      if (const FileKind kind = kind_of_file(file); kind != FileKind::hdf5 && !has_named_arrays(kind))
        document.fail(form, "geometry.angles_dataset needs frames in an HDF5, MATLAB, .npz or FITS file",
                      format("frames.files names {}", file.filename().string()), "use angles_file or angles_deg");
      const auto dataset = document.get<std::string>(form);
      auto numbers = located(document, form, [&] { return listed_in_files(scan, dataset, resolution.images); });
      angles_deg = part_of_list(document, form, std::move(numbers.values), scan, resolution);
      in_radians = listed_in_radians(document, form, numbers.unit);
      if (in_radians) resolution.derived["geometry.angles_unit"] = std::string(*in_radians ? "radians" : "degrees");
    }
    if (in_radians.value_or(false))
      for (double& angle : angles_deg) angle = degrees(angle);
    if (!in_radians) ask_for_radians(document, form, angles_deg, resolution);
    resolution.listed_angles_deg = angles_deg;
  }
  if (regular) ask_for_radians(document, form.empty() ? "geometry.arc_deg" : form, angles_deg, resolution);
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
