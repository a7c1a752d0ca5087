// SPDX-License-Identifier: Apache-2.0
// TIGRE's parameters as JSON, in the order of its Python interface: (rows, columns), (V, U), (z, y, x), millimetres and
// radians. World axes as ours; at angle 0 the source is at (DSO, 0, 0) and the detector at (-(DSD-DSO), offU, offV),
// its columns along +y and its rows along +z. Then, in this order (TIGRE, Common/CUDA/Siddon_projection.cu): the
// detector is turned about its middle by Rz(rot[2]) Ry(rot[1]) Rx(rot[0]), everything by Rz(angle) Ry(theta) Rz(psi),
// and moved by COR along (-sin(angle), cos(angle), 0). offOrigin places the image, not the scanner.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/json.h"
#include "core/nesting.h"
#include "geometry/exchange_text.h"
#include "geometry/view_vectors.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using nlohmann::json;

Matrix3 about_x(double a) { return {{1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a)}}; }
Matrix3 about_y(double a) { return {{std::cos(a), 0, std::sin(a), 0, 1, 0, -std::sin(a), 0, std::cos(a)}}; }
Matrix3 about_z(double a) { return {{std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a), 0, 0, 0, 1}}; }

double number(const json& value, const std::string& where) {
  if (!value.is_number()) refuse_text("a number is expected", where, "it is something else", "correct the value");
  const double x = value.get<double>();
  if (!std::isfinite(x)) refuse_text("a number is not finite", where, "it overflows", "correct the value");
  return x;
}

// `count` numbers for every view, from one number, one list, or a list per view.
class PerView {
public:
  PerView(const json& file, const std::string& name, const char* key, std::size_t count, std::size_t views,
          bool required)
      : count_(count) {
    const std::string where = name + ", " + key;
    if (!file.contains(key)) {
      if (required) refuse_text("a parameter is missing", where, "TIGRE's geometry needs it", "add it");
      values_.assign(count, 0);
      return;
    }
    const json& value = file.at(key);
    if (value.is_number() && count == 1) {
      values_ = {number(value, where)};
      return;
    }
    if (!value.is_array() || value.empty())
      refuse_text("a list of numbers is expected", where, "it is none", "correct it");
    const bool nested = value.front().is_array();
    // One number per view looks like one list; a single entry holds for all views.
    const bool per_view = nested || count == 1;
    const std::size_t entries = per_view ? value.size() : 1;
    if (entries != 1 && entries != views)
      refuse_text("the number of values does not match the views", where, format("{} for {} angles", entries, views),
                  "give one for all, or one per angle");
    for (std::size_t i = 0; i < entries; ++i) {
      const json& entry = nested ? value.at(i) : value;
      if (nested || count > 1) {
        if (!entry.is_array() || entry.size() != count)
          refuse_text(format("{} numbers are expected", count), where, format("entry {} has another size", i),
                      "correct it");
        for (const json& x : entry) values_.push_back(number(x, where));
      } else {
        values_.push_back(number(value.at(i), where));
      }
    }
  }
  double at(std::size_t view, std::size_t i = 0) const {
    return values_[values_.size() == count_ ? i : view * count_ + i];
  }
  bool varies() const {
    for (std::size_t i = count_; i < values_.size(); ++i)
      if (values_[i] != values_[i % count_]) return true;
    return false;
  }

private:
  std::size_t count_;
  std::vector<double> values_;
};

std::vector<Vec3> angles_of(const json& file, const std::string& name) {
  const std::string where = name + ", angles";
  if (!file.contains("angles") || !file.at("angles").is_array() || file.at("angles").empty())
    refuse_text("the angles are missing", where, "they are a list, one per view", "add them");
  std::vector<Vec3> angles;
  for (const json& a : file.at("angles")) {
    if (a.is_array() && a.size() == 3)
      angles.push_back({number(a[0], where), number(a[1], where), number(a[2], where)});
    else
      angles.push_back({number(a, where), 0, 0});
  }
  return angles;
}

json parse_object(const std::string& text, const std::string& name) {
  check_json_nesting(text, name);
  json file;
  try {
    file = parse_json(text);
  } catch (const json::exception& error) {
    refuse_text("the JSON cannot be read", name, error.what(), "check that the file is complete");
  }
  if (!file.is_object())
    refuse_text("this is not a TIGRE geometry", name, "an object of parameters is expected", "correct it");
  return file;
}

std::int64_t pixels(double n, const std::string& where) {
  if (!(n >= 1 && n < 1e9) || n != std::floor(n))
    refuse_text("the number of detector pixels cannot be used", where, format("it is {}", n), "give whole numbers");
  return static_cast<std::int64_t>(n);
}

}  // namespace

ScanGeometry parse_tigre(const std::string& text, const std::string& name, const GeometryFileOptions& options) {
  const json file = parse_object(text, name);
  const std::vector<Vec3> angles = angles_of(file, name);
  const std::size_t views = angles.size();
  const auto read = [&](const char* key, std::size_t count, bool required) {
    return PerView(file, name, key, count, views, required);
  };
  ScanGeometry geometry;
  if (file.contains("mode")) {
    if (!file.at("mode").is_string())
      refuse_text("mode is not a word", name + ", mode", "it is none", "use cone or parallel");
    geometry.beam = parse_beam(file.at("mode").get<std::string>(), name + ", mode");
    if (geometry.beam == Beam::fan) refuse_text("TIGRE has no fan mode", name + ", mode", "it is fan", "use cone");
  }
  const bool parallel = geometry.beam == Beam::parallel;
  const PerView size = read("nDetector", 2, true), pitch = read("dDetector", 2, true);
  const PerView dso = read("DSO", 1, !parallel), dsd = read("DSD", 1, !parallel);
  const PerView off_detector = read("offDetector", 2, false), off_origin = read("offOrigin", 3, false);
  const PerView turned = read("rotDetector", 3, false), cor = read("COR", 1, false);
  geometry.rows = pixels(size.at(0, 0), name + ", nDetector");
  geometry.columns = pixels(size.at(0, 1), name + ", nDetector");
  bool on_top = file.contains("lepus_first_row_on_top") && file.at("lepus_first_row_on_top") == true;
  on_top = options.first_row_on_top.value_or(on_top);
  // An image that stays put is a matter of the volume; one that moves from view to view is a matter of the scan.
  const bool image_moves = off_origin.varies();

  for (std::size_t i = 0; i < views; ++i) {
    const Vec3 a = angles[i];
    const Matrix3 whole = about_z(a.x) * (about_y(a.y) * about_z(a.z));
    const Matrix3 detector = about_z(turned.at(i, 2)) * (about_y(turned.at(i, 1)) * about_x(turned.at(i, 0)));
    Vec3 shift = cor.at(i) * Vec3{-std::sin(a.x), std::cos(a.x), 0};
    if (image_moves) shift = shift - Vec3{off_origin.at(i, 2), off_origin.at(i, 1), off_origin.at(i, 0)};
    const Vec3 middle{parallel ? 0 : dso.at(i) - dsd.at(i), off_detector.at(i, 1), off_detector.at(i, 0)};
    const Vec3 source{dso.at(i), 0, 0};
    const double up = on_top ? -pitch.at(0, 0) : pitch.at(0, 0);
    ViewVectors v;
    v.source_mm = parallel ? whole * Vec3{-1, 0, 0} : whole * source + shift;
    v.middle_mm = whole * middle + shift;
    v.column_step_mm = whole * (detector * Vec3{0, pitch.at(0, 1), 0});
    v.row_step_mm = whole * (detector * Vec3{0, 0, up});
    geometry.matrices.push_back(
        matrix_of(v, geometry.beam, geometry.columns, geometry.rows, static_cast<std::int64_t>(i)));
    if (i == 0 && !parallel)
      geometry.source_detector_mm = std::abs(dot(whole * (detector * Vec3{1, 0, 0}), v.middle_mm - v.source_mm));
  }
  return geometry;
}

std::string format_tigre(const ScanGeometry& geometry) {
  const RigidScan scan = rigid_scan_of(geometry, "TIGRE");
  const bool parallel = geometry.beam == Beam::parallel;
  json angles = json::array(), dso = json::array(), dsd = json::array(), off = json::array(), rotation = json::array(),
       cor = json::array();
  for (const RigidView& v : scan.views) {
    const Vec3 towards = cross(v.across, v.up);  // the detector's normal, towards the source
    const double alpha = std::atan2(towards.y, towards.x);
    const Matrix3 unturn = about_z(-alpha);
    // Seen from the turned frame: a source beside the normal is a displaced axis, one above it an angle theta.
    Vec3 source = unturn * (parallel ? towards : v.source_mm);
    const Vec3 aside{0, parallel ? 0 : source.y, 0};
    const double theta = std::atan2(-source.z, source.x);
    const Matrix3 level = about_y(-theta);
    source = level * (source - aside);
    const Vec3 middle = level * (unturn * v.middle_mm - aside);
    const Vec3 x = level * (unturn * towards), y = level * (unturn * v.across), z = level * (unturn * v.up);
    angles.push_back({alpha, theta, 0.0});
    cor.push_back(aside.y);
    dso.push_back(parallel ? 1000 : source.x);
    dsd.push_back(parallel ? 2000 : source.x - middle.x);
    off.push_back({middle.z, middle.y});
    // Columns (x, y, z) of Rz(r) Ry(p) Rx(q).
    rotation.push_back({std::atan2(y.z, z.z), std::asin(std::clamp(-x.z, -1.0, 1.0)), std::atan2(x.y, x.x)});
  }
  const json file{{"mode", beam_name(geometry.beam)},
                  {"nDetector", {geometry.rows, geometry.columns}},
                  {"dDetector", {scan.pixel_height_mm, scan.pixel_width_mm}},
                  {"DSO", dso},
                  {"DSD", dsd},
                  {"offDetector", off},
                  {"rotDetector", rotation},
                  {"COR", cor},
                  {"angles", angles},
                  {"lepus_first_row_on_top", scan.first_row_on_top}};
  return json_text(file, 1) + "\n";
}

}  // namespace lepus
