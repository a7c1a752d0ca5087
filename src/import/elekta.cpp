// SPDX-License-Identifier: Apache-2.0
// Elekta XVI: _Frames.xml, which lists the views, beside their *.his files. docs/scanners/elekta.md has the table.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/format.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/frames.h"
#include "io/his_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

// The machine is always the same; its header says none of these.
constexpr double source_axis_mm = 1000, source_detector_mm = 1536, panel_mm = 409.6, open_count = 65536;

// The number in every element of this name, in the order of the file.
std::vector<double> all_numbers(const HeaderFields& header, std::string_view element) {
  std::vector<double> numbers;
  for (const HeaderField& field : header.fields()) {
    const std::size_t slash = field.name.rfind('/');
    if (field.name.substr(slash == std::string::npos ? 0 : slash + 1) != element) continue;
    const auto number = header_number(field.value);
    if (!number)
      header.fail(field.name, format("{} of view {} is not a number", element, numbers.size()), field.value,
                  "copy the file again");
    numbers.push_back(*number);
  }
  return numbers;
}

class Elekta final : public Scanner {
public:
  std::string_view name() const override { return "elekta"; }
  std::string_view title() const override { return "Elekta XVI (_Frames.xml)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    std::vector<fs::path> found;
    for (const fs::path& file : files)
      if (lower_case(file.filename().string()) == "_frames.xml") found.push_back(file);
    return found;
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    HeaderFields header = read_xml_header(file);
    ImportedScan scan;
    scan.scanner = "Elekta XVI";
    scan.header = file;
    const std::vector<double> angles = all_numbers(header, "GantryAngle");
    const auto frames = expand_pattern(file.parent_path(), "*.his");
    if (angles.size() != frames.size())
      throw Error(ErrorKind::input,
                  {.what = angles.size() < frames.size() ? "the angles stop early" : "frames are missing",
                   .where = file.string(),
                   .why = format("it lists {} views, {} *.his files are beside it", angles.size(), frames.size()),
                   .hint = "copy the folder again"});
    check_numbers(header, frames);
    scan.text.set_files("frames.files", frames, "*.his beside _Frames.xml, by their numbers");
    scan.text.set("frames.views", static_cast<std::int64_t>(angles.size()), "the elements Frame");
    scan.text.set("frames.saturation_level", open_count, "the open beam may reach the largest count");
    scan.text.set("intensity.from", std::string("value"), "the imager has corrected the frames by its flats");
    scan.text.set("intensity.value", open_count, "of every XVI");

    const HisHeader first = read_his_header(frames.front());
    scan.text.set("geometry.source_axis_mm", source_axis_mm, "of every XVI");
    scan.text.set("geometry.source_detector_mm", source_detector_mm, "of every XVI");
    scan.text.set("geometry.pixel_width_mm", panel_mm / static_cast<double>(first.columns),
                  "a panel of 409.6 mm over the columns");
    scan.text.set("geometry.pixel_height_mm", panel_mm / static_cast<double>(first.rows),
                  "a panel of 409.6 mm over the rows");
    scan.text.set("geometry.mirror_rows", true, "the first row is the lowest one");
    scan.text.set("geometry.angles_deg", angles, "GantryAngle");
    const std::string u_key = set_shift(header, "UCentre", -1, "u", scan);
    const std::string v_key = set_shift(header, "VCentre", 1, "v", scan);
    scan.fields = header.fields();
    for (HeaderField& field : scan.fields) {
      if (field.name.ends_with("GantryAngle")) field.use = "geometry.angles_deg";
      if (field.name.ends_with("UCentre")) field.use = u_key;
      if (field.name.ends_with("VCentre")) field.use = v_key;
    }
    return scan;
  }

private:
  // The number that a file's name begins with is the Seq of its view; without Seq no number may be missing.
  static void check_numbers(const HeaderFields& header, const std::vector<fs::path>& frames) {
    std::vector<double> listed = all_numbers(header, "Seq"), numbers;
    for (const fs::path& frame : frames) {
      const std::string name = frame.filename().string();
      const auto number = header_number(name.substr(0, name.find_first_not_of("0123456789")));
      if (!number || (!numbers.empty() && *number == numbers.back())) return;  // named in another way
      numbers.push_back(*number);
    }
    if (listed.empty())
      for (std::size_t i = 0; i < numbers.size(); ++i) listed.push_back(numbers[0] + static_cast<double>(i));
    if (listed.size() != numbers.size())
      throw Error(ErrorKind::input, {.what = "Seq stops early",
                                     .where = header.file().string(),
                                     .why = format("{} numbers for {} views", listed.size(), numbers.size()),
                                     .hint = "copy the file again"});
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] - numbers[0] != listed[i] - listed[0])
        throw Error(ErrorKind::input,
                    {.what = "the numbers of the frames are not those of the views",
                     .where = header.file().string(),
                     .why = format("{} stands where view {} is, of number {}", frames[i].filename().string(), i,
                                   listed[i] - listed[0] + numbers[0]),
                     .hint = "put the file back that is missing, or restore _Frames.xml"});
  }

  // Where the central ray meets the panel, in mm right of and above its middle: the panel lies the other way. One
  // number where all views have the same, so that the orbit is a plain circle. Returns the key.
  static std::string set_shift(const HeaderFields& header, const char* element, double sign, const char* direction,
                               ImportedScan& scan) {
    std::vector<double> shifts = all_numbers(header, element);
    if (shifts.empty()) {
      scan.warnings.push_back(format("_Frames.xml has no {}: 0 is taken", element));
      return {};
    }
    const auto views = all_numbers(header, "GantryAngle").size();
    if (shifts.size() != views)
      throw Error(ErrorKind::input, {.what = format("{} stops early", element),
                                     .where = header.file().string(),
                                     .why = format("{} numbers for {} views", shifts.size(), views),
                                     .hint = "copy the file again"});
    for (double& shift : shifts) shift *= sign;
    const bool all_alike = std::adjacent_find(shifts.begin(), shifts.end(), std::not_equal_to<>()) == shifts.end();
    std::string key = format("geometry.{}_{}_mm", all_alike ? "detector_shift" : "view_shifts", direction);
    if (all_alike)
      scan.text.set(key, shifts.front(), format("{}, the same in all views", element));
    else
      scan.text.set(key, std::move(shifts), element);
    return key;
  }
};

}  // namespace

const Scanner& elekta_scanner() {
  static const Elekta elekta;
  return elekta;
}

}  // namespace lepus
