// SPDX-License-Identifier: Apache-2.0
// The header of Precision X-Ray's X-RAD: "name=value" lines below [sections], one section for each projection with the
// focus, a point of the detector and the directions of its columns and rows, in cm. RTK's reader was set up with scans
// of a known object; what its axes come to, put into ours, is our coordinates with all three signs turned.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/format.h"
#include "geometry/exchange_text.h"
#include "geometry/view_vectors.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct XradLine {
  std::string_view value;
  int number = 0;
};
// By "section/name"; lines before the projections by their name alone, wherever they stand.
using XradLines = std::map<std::string, XradLine, std::less<>>;

constexpr std::string_view size_prefix = "CBCT.DimensionalAttributes.", view_prefix = "CBCT.ProjectionGeometryArray.";

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

XradLines split_lines(std::string_view text) {
  XradLines lines;
  std::string section;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = without_blanks(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    const std::size_t equals = line.find('=');
    if (line.starts_with('[') && line.ends_with(']')) {
      section = line.substr(1, line.size() - 2);
    } else if (equals != std::string_view::npos) {
      const std::string_view name = without_blanks(line.substr(0, equals));
      lines.try_emplace(name.starts_with(size_prefix) ? std::string(name) : format("{}/{}", section, name),
                        XradLine{without_blanks(line.substr(equals + 1)), number});
    }
  }
  return lines;
}

class XradHeader {
public:
  XradHeader(const std::string& text, std::string name) : lines_(split_lines(text)), name_(std::move(name)) {}

  std::int64_t size(std::string_view field) const {
    const double value = numbers(format("{}{}", size_prefix, field), 1)[0];
    if (!(value >= 1 && value <= 1e6) || value != static_cast<double>(static_cast<std::int64_t>(value)))
      refuse(format("{} is {}", field, value), "a whole number of pixels or projections is needed");
    return static_cast<std::int64_t>(value);
  }
  double pixel_mm(std::string_view field) const {
    const double cm = numbers(format("{}{}", size_prefix, field), 1)[0];
    if (!(cm > 0)) refuse(format("{} is {}", field, cm), "the size of a pixel is above zero");
    return 10 * cm;
  }
  std::vector<double> of_view(std::int64_t view, std::string_view field, std::size_t count) const {
    return numbers(format("iView3D(Projection {})/{}{}", view, view_prefix, field), count);
  }
  Vec3 vector_of_view(std::int64_t view, std::string_view field) const {
    const std::vector<double> n = of_view(view, field, 3);
    return {-n[0], -n[1], -n[2]};
  }

private:
  std::vector<double> numbers(const std::string& name, std::size_t count) const {
    const auto line = lines_.find(name);
    if (line == lines_.end()) refuse(format("{} is missing", name), "every projection has its own section");
    std::vector<double> values = parse_numbers(line->second.value, format("{}, line {}", name_, line->second.number));
    if (values.size() != count)
      refuse(format("{} in line {} does not hold {} numbers", name, line->second.number, count),
             format("it holds {}", values.size()));
    return values;
  }
  [[noreturn]] void refuse(std::string what, std::string why) const {
    throw Error(ErrorKind::input, {.what = std::move(what),
                                   .where = name_,
                                   .why = std::move(why),
                                   .hint = "copy the header again; docs/scanners/xrad.md lists its fields"});
  }

  XradLines lines_;
  std::string name_;
};

}  // namespace

ScanGeometry parse_xrad(const std::string& text, const std::string& name, const GeometryFileOptions&) {
  const XradHeader header(text, name);
  ScanGeometry geometry;
  geometry.columns = header.size("IDim");
  geometry.rows = header.size("JDim");
  const std::int64_t views = header.size("KDim");
  const double width_mm = header.pixel_mm("PixelDimension_I_cm"), height_mm = header.pixel_mm("PixelDimension_J_cm");
  for (std::int64_t view = 0; view < views; ++view) {
    const Vec3 across = normalized(header.vector_of_view(view, "u_axis"));
    const Vec3 down = normalized(header.vector_of_view(view, "v_axis"));
    // `center` is a point of the detector, and (u_off, v_off) the pixel that it lies in.
    const double u_off = header.of_view(view, "u_off", 1)[0], v_off = header.of_view(view, "v_off", 1)[0];
    const Vec3 middle = 10 * header.vector_of_view(view, "center") +
                        width_mm * (0.5 * static_cast<double>(geometry.columns - 1) - u_off) * across +
                        height_mm * (0.5 * static_cast<double>(geometry.rows - 1) - v_off) * down;
    const ViewVectors vectors{10 * header.vector_of_view(view, "focus"), middle, width_mm * across, height_mm * down};
    geometry.matrices.push_back(matrix_of(vectors, Beam::cone, geometry.columns, geometry.rows, view));
    if (view == 0)
      geometry.source_detector_mm =
          std::abs(dot(normalized(cross(across, down)), vectors.middle_mm - vectors.source_mm));
  }
  return geometry;
}

}  // namespace lepus
