// SPDX-License-Identifier: Apache-2.0
#include "import/iba_calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/folder.h"
#include "core/format.h"
#include "core/input_file.h"
#include "core/text.h"
#include "geometry/xml_elements.h"
#include "io/file.h"
#include "io/header_text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest_xml = std::int64_t{4} << 20;  // a hundred times a flexmap
constexpr std::array<std::string_view, 9> deviation_names{"Tx", "Ty", "Tz", "Px", "Py", "Pz", "Rx", "Ry", "Rz"};
constexpr const char* perturbations_key = "geometry.view_perturbations";

std::string where_of(const IbaText& text) {
  return text.name == text.file.filename() ? text.file.string() : format("{}, {}", text.file.string(), text.name);
}

[[noreturn]] void refuse_calibration(const IbaText& text, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = where_of(text), .why = std::move(why), .hint = std::move(hint)});
}

// What stands in the calibration of adaPTinsight, before it is known which arc is the active one.
struct FlexmapArc {
  std::string name, model;
};
struct FlexmapParts {
  std::vector<FlexmapArc> active;
  std::size_t arcs = 0;
  std::map<std::string, std::string> offsets, gantry;  // attributes of FPOffsets and gantryParameters
  std::map<std::string, std::string> models;           // text of each geoCalModel by its uid
};

FlexmapParts read_parts(const IbaText& text) {
  FlexmapParts parts;
  const auto at_start = [&](const XmlElement& e) {
    if (e.name == "arc") {
      ++parts.arcs;
      if (xml_attribute(e.attributes, "active") == "true")
        parts.active.push_back({std::string(xml_attribute(e.attributes, "name")),
                                std::string(xml_attribute(e.attributes, "geoCalModelUid"))});
    } else if (e.name == "FPOffsets" || e.name == "gantryParameters") {
      for (const XmlAttribute& a : xml_attributes(e.attributes))
        (e.name == "FPOffsets" ? parts.offsets : parts.gantry).emplace(a.name, a.value);
    }
  };
  const auto at_end = [&](const XmlElement& e) {
    if (e.name != "geoCalModel") return;
    const std::string uid(xml_attribute(e.attributes, "uid"));
    if (!parts.models.emplace(uid, e.text).second)
      refuse_calibration(text, "two geometric calibrations have the same uid", format("it is \"{}\"", shown(uid)),
                         "leave one of them out");
  };
  read_xml(text.text, where_of(text), at_start, at_end);
  return parts;
}

double number_in(const IbaText& text, const std::map<std::string, std::string>& attributes, const char* element,
                 const char* name) {
  const auto found = attributes.find(name);
  const auto number = found == attributes.end() ? std::nullopt : header_number(found->second);
  if (!number)
    refuse_calibration(text, format("{} does not say {}", element, name),
                       found == attributes.end() ? "there is no such attribute" : shown(found->second),
                       "correct the calibration");
  return *number;
}

// Lines of ten numbers: an angle, and the nine.
void read_lines(std::string_view lines, double detector_offset_mm, const IbaText& text, IbaFlexmap& map) {
  std::size_t left_out = 0;
  std::string first_left_out;
  std::vector<std::array<double, 10>> rows;
  while (!lines.empty()) {
    const std::string line(trimmed(lines.substr(0, lines.find('\n'))));
    lines.remove_prefix(std::min(lines.find('\n'), lines.size() - 1) + 1);
    if (line.empty()) continue;
    std::array<double, 10> row{};
    std::size_t count = 0;
    bool numbers = true;
    for (std::size_t begin = 0; begin <= line.size() && count <= row.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      const auto number = header_number(line.substr(begin, end - begin));
      numbers = numbers && number;
      if (number && count < row.size()) row[count] = *number;
      ++count;
      begin = end + 1;
    }
    if (numbers && count == row.size()) {
      rows.push_back(row);
    } else if (left_out++ == 0) {
      first_left_out = shown(line);
    }
  }
  if (left_out > 0)
    map.warnings.push_back(format("{}: {} lines of the flexmap are not ten numbers and are left out, the first is {}",
                                  text.name, left_out, first_left_out));
  if (rows.size() > 1 && rows.front()[0] > rows.back()[0]) std::ranges::reverse(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && !(rows[i][0] > rows[i - 1][0]))
      refuse_calibration(text, "the angles of the flexmap neither grow nor fall",
                         format("{} is followed by {}", rows[i - 1][0], rows[i][0]), "put its lines into order");
    map.angles_deg.push_back(rows[i][0]);
    IbaDeviation& deviation = map.deviations.emplace_back();
    std::copy(rows[i].begin() + 1, rows[i].end(), deviation.begin());
    deviation[3] += detector_offset_mm;
  }
}

}  // namespace

std::vector<IbaText> iba_texts_in(const fs::path& folder) {
  std::vector<IbaText> texts;
  for (const fs::path& file : entries_of(folder)) {
    std::error_code ignored;
    if (lower_extension(file) != ".xml" || !fs::is_regular_file(file, ignored)) continue;
    if (static_cast<std::int64_t>(fs::file_size(file, ignored)) > largest_xml) continue;
    if (begins_with_text(file, "<image name=")) continue;
    texts.push_back({read_text_file(file, largest_xml), file, file.filename().string()});
  }
  std::ranges::sort(texts, {}, &IbaText::name);
  return texts;
}

std::optional<IbaText> only_text_with(const std::vector<IbaText>& texts, const std::vector<std::string_view>& words,
                                      const std::string& what) {
  std::optional<IbaText> found;
  for (const IbaText& text : texts) {
    if (!std::ranges::all_of(words, [&](auto word) { return text.text.find(word) != std::string::npos; })) continue;
    if (found)
      refuse_calibration(text, format("there are two files with a {}", what), format("the other is {}", found->name),
                         "leave only that of this scan beside the projections");
    found = text;
  }
  return found;
}

HeaderFields iba_attributes(const IbaText& text) {
  HeaderFields header(text.file);
  std::vector<std::string> open;
  std::size_t other_axis = 0;  // how many elements were open where one of another axis began, and it itself
  const auto at_start = [&](const XmlElement& element) {
    open.emplace_back(element.name);
    const std::string_view axis = xml_attribute(element.attributes, "axis");
    if (other_axis == 0 && open.size() == 2 && !axis.empty() && axis != "CBCT") other_axis = open.size();
    if (other_axis > 0) return;
    std::string path;
    for (std::size_t i = open.size() > 1 ? 1 : 0; i < open.size(); ++i) path += open[i] + "/";
    for (const XmlAttribute& attribute : xml_attributes(element.attributes))
      header.add(path + std::string(attribute.name), attribute.value, 0);
  };
  const auto at_end = [&](const XmlElement&) {
    if (open.size() == other_axis) other_axis = 0;
    open.pop_back();
  };
  read_xml(text.text, where_of(text), at_start, at_end);
  return header;
}

IbaRoom read_iba_room(HeaderFields& header) {
  IbaRoom room;
  room.source_axis_mm = header.require_length(header.path_of("sid"), "geometry.source_axis_mm");
  room.source_detector_mm = header.require_length(header.path_of("sdd"), "geometry.source_detector_mm");
  for (const HeaderField& field : header.fields())
    if (field.name.ends_with("AngleOffset/projection")) {
      room.angle_offset_deg = header.number(field.name, "geometry.angles_deg");
      break;
    }
  return room;
}

ViewPerturbation perturbation_of(const IbaDeviation& d) {
  // lepus looks from the source: v is down and depth away from it, which turns the frame about x by half a turn.
  // "0 -" instead of "-", so that no zero has a sign.
  return {.source_mm = {d[0], 0 - d[1], 0 - d[2]},
          .detector_mm = {d[3], 0 - d[4], 0 - d[5]},
          .in_plane_rad = 0 - radians(d[8]),
          .pitch_rad = radians(d[6]),
          .yaw_rad = 0 - radians(d[7]),
          .angle_rad = 0};
}

IbaDeviation IbaModel::at(double angle_deg) const {
  IbaDeviation deviation{};
  for (std::size_t i = 0; i < deviation.size(); ++i) {
    const auto& a = coefficients[i];
    deviation[i] = a[0] + a[1] * angle_deg + a[2] * std::cos(a[3] * radians(angle_deg) + a[4]);
  }
  return deviation;
}

IbaModel read_iba_model(HeaderFields& header) {
  IbaModel model;
  for (std::size_t i = 0; i < deviation_names.size(); ++i) {
    const std::string element = format("/{}/", deviation_names[i]);
    std::vector<std::string> paths;
    for (const HeaderField& field : header.fields()) {
      const std::size_t at = field.name.rfind(element);
      if (at == std::string::npos || field.name.find('/', at + element.size()) != std::string::npos) continue;
      if (!field.name.ends_with("/MSE")) paths.push_back(field.name);
    }
    auto& coefficients = model.coefficients[i];
    if (paths.size() != coefficients.size())
      header.fail(paths.empty() ? "" : paths.front(), format("{} does not have five coefficients", deviation_names[i]),
                  format("it has {} attributes beside MSE", paths.size()), "correct the calibration");
    for (std::size_t k = 0; k < paths.size(); ++k) coefficients[k] = header.require_number(paths[k], perturbations_key);
  }
  return model;
}

// Angles are the same after a turn: that which the map has is taken, else that within half a turn of 0.
double IbaFlexmap::in_range(double angle_deg) const {
  const double near_zero = std::remainder(angle_deg, 360);
  for (const double turned : {near_zero, near_zero + 360, near_zero - 360})
    if (turned >= angles_deg.front() && turned <= angles_deg.back()) return turned;
  return near_zero;
}

bool IbaFlexmap::covers(double angle_deg) const {
  constexpr double last_digit = 1e-6;  // DICOM writes 16 characters
  const double angle = in_range(angle_deg);
  return angle >= angles_deg.front() - last_digit && angle <= angles_deg.back() + last_digit;
}

IbaDeviation IbaFlexmap::at(double angle_deg) const {
  const double angle = std::clamp(in_range(angle_deg), angles_deg.front(), angles_deg.back());
  const auto above = std::ranges::lower_bound(angles_deg, angle);
  const auto next = static_cast<std::size_t>(above - angles_deg.begin());
  if (next == 0) return deviations.front();
  const double share = (angle - angles_deg[next - 1]) / (angles_deg[next] - angles_deg[next - 1]);
  IbaDeviation deviation = deviations[next - 1];
  for (std::size_t i = 0; i < deviation.size(); ++i) deviation[i] += share * (deviations[next][i] - deviation[i]);
  return deviation;
}

IbaFlexmap read_iba_flexmap(const IbaText& text) {
  const FlexmapParts parts = read_parts(text);
  if (parts.active.size() != 1)
    refuse_calibration(text, parts.active.empty() ? "no arc is active" : "several arcs are active",
                       format("{} of {} arcs say active=\"true\"", parts.active.size(), parts.arcs),
                       "give the calibration that the scan was taken with");
  const FlexmapArc& arc = parts.active.front();
  IbaFlexmap map;
  map.arc = arc.name;
  const auto model = parts.models.find(arc.model);
  if (model == parts.models.end())
    refuse_calibration(text, "the geometric calibration of the active arc is not there",
                       format("arc \"{}\" names geoCalModel \"{}\"", shown(arc.name), shown(arc.model)),
                       "copy the calibration again");
  map.room.source_detector_mm = number_in(text, parts.gantry, "gantryParameters", "sid");
  map.room.source_axis_mm = number_in(text, parts.gantry, "gantryParameters", "sad");
  map.room.angle_offset_deg = number_in(text, parts.gantry, "gantryParameters", "sourceToNozzleOffsetAngle");
  if (!(map.room.source_axis_mm > 0 && map.room.source_detector_mm > 0))
    refuse_calibration(text, "a distance is not above zero",
                       format("sad is {}, sid is {}", map.room.source_axis_mm, map.room.source_detector_mm),
                       "correct the calibration");
  const bool plus = arc.name.find("PLUS") != std::string::npos, minus = arc.name.find("MINUS") != std::string::npos;
  if (plus == minus)
    map.warnings.push_back(
        format("the active arc \"{}\" is neither PLUS nor MINUS: no offset of the detector is taken", shown(arc.name)));
  const double offset_mm = plus == minus ? 0 : number_in(text, parts.offsets, "FPOffsets", plus ? "xPlus" : "xMinus");
  read_lines(model->second, offset_mm, text, map);
  if (map.angles_deg.empty())
    refuse_calibration(text, "the flexmap of the active arc is empty",
                       format("geoCalModel \"{}\" has no line of ten numbers", shown(arc.model)),
                       "copy the calibration again");
  return map;
}

}  // namespace lepus
