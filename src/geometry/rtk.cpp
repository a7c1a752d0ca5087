// SPDX-License-Identifier: Apache-2.0
// RTK's ThreeDCircularProjectionGeometry as XML, versions 2 and 3. Its rotation axis is y and its source stands at +z
// at gantry angle 0, so (x, y, z) of ours is (X, -Z, Y) of RTK's, the angles agree, and its detector's y points up. The
// nine parameters of a view live in the frame of its detector: (Rx, Ry, Rz) = R (X, Y, Z),
//   R = Rz(-in plane) Rx(-out of plane) Ry(-gantry),
// the source at (SourceOffsetX, SourceOffsetY, SourceToIsocenterDistance), the detector's (0, 0) at
// (ProjectionOffsetX, ProjectionOffsetY, SourceToIsocenterDistance - SourceToDetectorDistance). RTK, docs/Geometry.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/format.h"
#include "core/text.h"
#include "geometry/exchange_text.h"
#include "geometry/view_vectors.h"
#include "geometry/xml_elements.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr const char* detector_mark = "<!-- lepus detector";
constexpr const char* root = "RTKThreeDCircularGeometry";

struct RtkView {
  double sid = 0, sdd = 0, gantry_deg = 0, projection_x = 0, projection_y = 0, source_x = 0, source_y = 0,
         in_plane_deg = 0, out_of_plane_deg = 0;
};

struct NamedParameter {
  const char* name;
  double RtkView::*member;
};
constexpr NamedParameter parameters[] = {
    {"SourceToIsocenterDistance", &RtkView::sid},  {"SourceToDetectorDistance", &RtkView::sdd},
    {"GantryAngle", &RtkView::gantry_deg},         {"Angle", &RtkView::gantry_deg},
    {"ProjectionOffsetX", &RtkView::projection_x}, {"ProjectionOffsetY", &RtkView::projection_y},
    {"SourceOffsetX", &RtkView::source_x},         {"SourceOffsetY", &RtkView::source_y},
    {"InPlaneAngle", &RtkView::in_plane_deg},      {"OutOfPlaneAngle", &RtkView::out_of_plane_deg}};
constexpr const char* collimation[] = {"CollimationUInf", "CollimationUSup", "CollimationVInf", "CollimationVSup"};

Vec3 to_ours(Vec3 p) { return {p.x, -p.z, p.y}; }
Vec3 to_rtk(Vec3 p) { return {p.x, p.z, -p.y}; }

Matrix3 rotation(const RtkView& v) {
  const double i = -radians(v.in_plane_deg), o = -radians(v.out_of_plane_deg), g = -radians(v.gantry_deg);
  const Matrix3 about_z{{std::cos(i), -std::sin(i), 0, std::sin(i), std::cos(i), 0, 0, 0, 1}};
  const Matrix3 about_x{{1, 0, 0, 0, std::cos(o), -std::sin(o), 0, std::sin(o), std::cos(o)}};
  const Matrix3 about_y{{std::cos(g), 0, std::sin(g), 0, 1, 0, -std::sin(g), 0, std::cos(g)}};
  return about_z * (about_x * about_y);
}

// RTK's own matrix, from its world to detector millimetres.
Matrix34 rtk_matrix(const RtkView& v) {
  const Matrix3 r = rotation(v);
  Matrix34 p;
  const bool parallel = v.sdd == 0;
  const double source[2] = {v.source_x, v.source_y}, projection[2] = {v.projection_x, v.projection_y};
  for (int row = 0; row < 2; ++row) {
    const double shift = parallel ? 0 : source[row] - projection[row];
    for (int column = 0; column < 3; ++column)
      p(row, column) = (parallel ? 1 : -v.sdd) * r(row, column) + shift * r(2, column);
    p(row, 3) = parallel ? -projection[row] : v.sdd * source[row] - shift * v.sid;
  }
  for (int column = 0; column < 3; ++column) p(2, column) = parallel ? 0 : r(2, column);
  p(2, 3) = parallel ? 1 : -v.sid;
  return p;
}

struct RtkFile {
  std::vector<RtkView> views;
  double cylinder_radius = 0;
};

void check_matrix(const RtkView& view, std::string_view text, std::int64_t index, const std::string& where) {
  const std::vector<double> given = parse_numbers(text, where);
  const Matrix34 computed = rtk_matrix(view);
  bool agrees = given.size() == 12;
  for (std::size_t i = 0; agrees && i < 12; ++i)  // RTK's own limit is 0.001
    agrees = std::abs(given[i] - computed.m[i]) <= 1e-3 + 1e-9 * std::abs(computed.m[i]);
  if (!agrees)
    throw Error(ErrorKind::input, {.what = "matrix and parameters do not agree",
                                   .where = format("{}, view {}", where, index),
                                   .why = "the 12 numbers of <Matrix> are not those that the angles and distances give",
                                   .hint = "change both together, or leave <Matrix> out"});
}

RtkFile parse_file(const std::string& text, const std::string& name) {
  RtkFile file;
  RtkView current;  // values stay from one projection to the next, as in RTK
  std::optional<std::string> matrix;
  const auto at_start = [&](const XmlElement& e) {
    if (e.parent.empty()) {
      const std::string version(xml_attribute(e.attributes, "version"));
      if (e.name != root)
        throw Error(ErrorKind::input,
                    {.what = "this is not an RTK geometry",
                     .where = e.where,
                     .why = format("the outermost element is <{}>", std::string(e.name.substr(0, 40))),
                     .hint = format("<{}> is expected", root)});
      if (version != "2" && version != "3")
        throw Error(ErrorKind::unsupported, {.what = "this version of RTK's geometry is not known",
                                             .where = e.where,
                                             .why = format("it is \"{}\"", version.substr(0, 40)),
                                             .hint = "versions 2 and 3 are read; write it again with a newer RTK"});
    }
  };
  const auto at_end = [&](const XmlElement& e) {
    if (e.name == root) return;
    if (e.name == "Projection") {
      if (matrix) check_matrix(current, *matrix, static_cast<std::int64_t>(file.views.size()), e.where);
      matrix.reset();
      file.views.push_back(current);
      return;
    }
    if (e.name == "Matrix") {
      matrix = std::string(e.text);
      return;
    }
    if (e.name == "RadiusCylindricalDetector") {
      file.cylinder_radius = parse_number(e.text, e.where);
      return;
    }
    if (std::find(std::begin(collimation), std::end(collimation), e.name) != std::end(collimation)) return;
    for (const NamedParameter& p : parameters)
      if (e.name == p.name) {
        current.*p.member = parse_number(e.text, e.where);
        return;
      }
    std::vector<std::string> known;
    for (const NamedParameter& p : parameters) known.emplace_back(p.name);
    const std::string nearest = nearest_name(e.name, known);
    throw Error(ErrorKind::input, {.what = format("<{}> is not known", std::string(e.name.substr(0, 40))),
                                   .where = e.where,
                                   .why = "RTK's geometry has no such element",
                                   .hint = nearest.empty() ? "remove it" : format("did you mean <{}>?", nearest)});
  };
  read_xml(text, name, at_start, at_end);
  return file;
}

// RTK bends the detector around a line through the middle of the beam; that is our arc when its radius is the
// source-detector distance and nothing is offset but the frames.
ScanGeometry arc_scan(const RtkFile& file, const FrameLayout& layout, Vec3 first_pixel, double row_sign,
                      const std::string& name) {
  const RtkView& first = file.views.front();
  CircularScan scan;
  scan.arc = true;
  scan.source_axis_mm = first.sid;
  scan.source_detector_mm = first.sdd;
  scan.columns = layout.columns;
  scan.rows = layout.rows;
  scan.pixel_width_mm = layout.pixel_width_mm;
  scan.pixel_height_mm = layout.pixel_height_mm;
  scan.mirror_rows = row_sign > 0;
  const double half_width = 0.5 * static_cast<double>(layout.columns - 1) * layout.pixel_width_mm;
  const double half_height = 0.5 * static_cast<double>(layout.rows - 1) * layout.pixel_height_mm;
  scan.detector_shift_u_mm = first.projection_x + first_pixel.x + half_width;
  scan.detector_shift_v_mm = -(first.projection_y + first_pixel.y + row_sign * half_height);
  for (std::size_t i = 0; i < file.views.size(); ++i) {
    const RtkView& v = file.views[i];
    const bool same = v.sid == first.sid && v.sdd == first.sdd && v.projection_x == first.projection_x &&
                      v.projection_y == first.projection_y;
    const bool straight = v.source_x == 0 && v.source_y == 0 && v.in_plane_deg == 0 && v.out_of_plane_deg == 0;
    if (!same || !straight || !(std::abs(file.cylinder_radius - v.sdd) <= 1e-6 * v.sdd))
      throw Error(ErrorKind::unsupported,
                  {.what = "this cylindrical detector cannot be read",
                   .where = format("{}, view {}", name, i),
                   .why = "only a detector bent around the source, with the same distances and offsets in every view, "
                          "no source offset and no tilt can be resampled onto a flat one",
                   .hint = "RadiusCylindricalDetector must equal SourceToDetectorDistance"});
    scan.angles_rad.push_back(radians(v.gantry_deg));
  }
  return build_scan(scan);
}

RtkView parameters_of(const RigidView& view, Beam beam) {
  const Vec3 r = to_rtk(view.across), c = to_rtk(view.up), n = cross(r, c);
  const Vec3 middle = to_rtk(view.middle_mm);
  RtkView v;
  // R has the rows r, c, n; its third row is (-cos x sin y, sin x, cos x cos y) for the angles x, y, z of R's
  // definition.
  const double x = std::asin(std::clamp(n.y, -1.0, 1.0));
  const bool locked = std::abs(n.y) > 1 - 1e-12;
  const double y = locked ? std::atan2(r.z, r.x) : std::atan2(-n.x, n.z);
  const double z = locked ? 0 : std::atan2(-r.y, c.y);
  v.gantry_deg = -degrees(y);
  v.out_of_plane_deg = -degrees(x);
  v.in_plane_deg = -degrees(z);
  v.projection_x = dot(r, middle);
  v.projection_y = dot(c, middle);
  if (beam == Beam::parallel) {
    v.sid = 1000;  // where RTK draws the plane the rays start from
    return v;
  }
  const Vec3 source = to_rtk(view.source_mm);
  v.source_x = dot(r, source);
  v.source_y = dot(c, source);
  v.sid = dot(n, source);
  v.sdd = dot(n, source - middle);
  return v;
}

}  // namespace

ScanGeometry parse_rtk(const std::string& text, const std::string& name, const GeometryFileOptions& options) {
  const RtkFile file = parse_file(text, name);
  const FrameLayout layout = frame_layout(options, parse_notes(text, detector_mark), name);
  if (!(layout.pixel_width_mm > 0) || !(layout.pixel_height_mm > 0))
    throw Error(ErrorKind::usage, {.what = "the size of a detector pixel is not known",
                                   .where = name,
                                   .why = "RTK's geometry does not hold it",
                                   .hint = "give pixel_width_mm and pixel_height_mm (the spacing of the frames)"});
  ScanGeometry geometry;
  geometry.columns = layout.columns;
  geometry.rows = layout.rows;
  if (file.views.empty()) return geometry;

  const double row_sign = layout.first_row_on_top ? -1 : 1;
  const double half_columns = 0.5 * static_cast<double>(layout.columns - 1),
               half_rows = 0.5 * static_cast<double>(layout.rows - 1);
  const double width = layout.pixel_width_mm, height = row_sign * layout.pixel_height_mm;
  const Vec3 first_pixel = options.first_pixel_mm.value_or(Vec3{-half_columns * width, -half_rows * height, 0});
  if (file.cylinder_radius != 0) return arc_scan(file, layout, first_pixel, row_sign, name);

  geometry.beam = file.views.front().sdd == 0 ? Beam::parallel : Beam::cone;
  geometry.source_detector_mm = file.views.front().sdd;
  for (std::size_t i = 0; i < file.views.size(); ++i) {
    const RtkView& v = file.views[i];
    if ((v.sdd == 0) != (geometry.beam == Beam::parallel))
      throw Error(ErrorKind::input, {.what = "parallel and divergent views are mixed",
                                     .where = format("{}, view {}", name, i),
                                     .why = "SourceToDetectorDistance is 0 for a parallel beam",
                                     .hint = "give it for every view, or for none"});
    const Matrix3 back = transposed(rotation(v));
    const auto world = [&](Vec3 p) { return to_ours(back * p); };
    const bool parallel = geometry.beam == Beam::parallel;
    const Vec3 middle{v.projection_x + first_pixel.x + half_columns * width,
                      v.projection_y + first_pixel.y + half_rows * height, parallel ? 0 : v.sid - v.sdd};
    const Vec3 source = parallel ? Vec3{0, 0, -1} : Vec3{v.source_x, v.source_y, v.sid};
    geometry.matrices.push_back(matrix_of({world(source), world(middle), world({width, 0, 0}), world({0, height, 0})},
                                          geometry.beam, layout.columns, layout.rows, static_cast<std::int64_t>(i)));
  }
  return geometry;
}

std::string format_rtk(const ScanGeometry& geometry, const GeometryFileOptions& options) {
  const RigidScan scan = rigid_scan_of(geometry, "RTK", options.pixel_width_mm);
  std::string text = "<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n";
  text += format(
      "{} columns=\"{}\" rows=\"{}\" pixel_width_mm=\"{:.17g}\" pixel_height_mm=\"{:.17g}\" first_row_on_top=\"{:d}\" "
      "-->\n",
      detector_mark, geometry.columns, geometry.rows, scan.pixel_width_mm, scan.pixel_height_mm, scan.first_row_on_top);
  text += format("<{} version=\"3\">\n", root);
  for (const RigidView& view : scan.views) {
    const RtkView v = parameters_of(view, geometry.beam);
    text += "  <Projection>\n";
    for (const NamedParameter& p : parameters)
      if (std::string_view(p.name) != "Angle") text += format("    <{0}>{1:.17g}</{0}>\n", p.name, v.*p.member);
    text += "    <Matrix>\n";
    const Matrix34 m = rtk_matrix(v);
    for (int row = 0; row < 3; ++row)
      text += format("      {:.17g} {:.17g} {:.17g} {:.17g}\n", m(row, 0), m(row, 1), m(row, 2), m(row, 3));
    text += "    </Matrix>\n  </Projection>\n";
  }
  return text + format("</{}>\n", root);
}

}  // namespace lepus
