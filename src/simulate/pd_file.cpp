// SPDX-License-Identifier: Apache-2.0
// The .pd form: {type=ellipsoid; x=1; rx=2.0*cos(15); az=(0,0,1); clipx<9.1; rhoe=1.8*0.554;} one object after another,
// the first one on top. Lengths in cm or mm by `units=`; angles in degrees. r?: half axes (cone_?: rx, rz are the radii
// at the low and the high end, ry half of the length, in the file's way of writing cone_y); d?: the whole length of a
// cylinder; rhoe: electron density in mol/cm^3.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/format.h"
#include "core/text.h"
#include "simulate/phantom_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double electrons_of_water = 0.554;  // mol/cm^3, as these files round it

struct Place {
  const std::string& file;
  int line;
};

[[noreturn]] void refuse(const Place& at, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input, {.what = std::move(what),
                                 .where = format("{}:{}", at.file, at.line),
                                 .why = std::move(why),
                                 .hint = std::move(hint)});
}

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{}
                                         : s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

// product = factor { (*|/) factor }; factor = [-] number | sin(product) | cos(product), degrees.
class Expression {
public:
  Expression(std::string_view text, const Place& at) : text_(text), at_(at) {}

  double value() {
    const double v = product();
    skip();
    if (position_ != text_.size()) fail();
    return v;
  }

private:
  double product() {
    double v = factor();
    for (skip(); position_ < text_.size() && (text_[position_] == '*' || text_[position_] == '/'); skip()) {
      const char op = text_[position_++];
      const double w = factor();
      v = op == '*' ? v * w : v / w;
    }
    return v;
  }

  double factor() {
    skip();
    if (position_ < text_.size() && text_[position_] == '-') {
      ++position_;
      return -factor();
    }
    for (const auto& [name, function] : {std::pair{"sin(", false}, std::pair{"cos(", true}}) {
      if (!text_.substr(position_).starts_with(name)) continue;
      position_ += 4;
      const double angle = radians(product());
      skip();
      if (position_ >= text_.size() || text_[position_] != ')') fail();
      ++position_;
      return function ? std::cos(angle) : std::sin(angle);
    }
    const std::string rest(text_.substr(position_));
    char* end = nullptr;
    const double v = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) fail();
    position_ += static_cast<std::size_t>(end - rest.c_str());
    return v;
  }

  void skip() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }
  [[noreturn]] void fail() const {
    refuse(at_, format("not a number: \"{}\"", text_), "expected numbers, *, /, sin(degrees) and cos(degrees)",
           "write for example 1.8*cos(15)");
  }

  std::string_view text_;
  const Place& at_;
  std::size_t position_ = 0;
};

Vec3 parse_vector(std::string_view text, const Place& at) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    refuse(at, format("not a direction: \"{}\"", text), "expected (x,y,z)", "write for example az=(0,0,1)");
  text = text.substr(1, text.size() - 2);
  std::vector<double> numbers;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      numbers.push_back(Expression(trimmed(text.substr(start, i - start)), at).value());
      start = i + 1;
    }
  }
  if (numbers.size() != 3)
    refuse(at, "a direction has three numbers", format("here are {}", numbers.size()), "write (x,y,z)");
  return {numbers[0], numbers[1], numbers[2]};
}

struct Object {
  std::map<std::string, std::string, std::less<>> entries;
  std::vector<ClipPlane> clips;
  Place at;

  std::optional<double> number(std::string_view key) const {
    const auto found = entries.find(key);
    if (found == entries.end()) return std::nullopt;
    return Expression(found->second, at).value();
  }
  double need(std::string_view key) const {
    const auto v = number(key);
    if (!v) refuse(at, format("\"{}\" is missing", key), format("a {} needs it", entries.at("type")), "add it");
    return *v;
  }
  std::optional<Vec3> direction(std::string_view key) const {
    const auto found = entries.find(key);
    if (found == entries.end()) return std::nullopt;
    const Vec3 v = parse_vector(found->second, at);
    if (!(norm(v) > 0)) refuse(at, format("\"{}\" has no length", key), "it is (0,0,0)", "give a direction");
    return normalized(v);
  }
};

Object split(std::string_view body, const Place& at) {
  static const std::vector<std::string> known{"type", "x",  "y",  "z",  "rx", "ry", "rz",   "r",
                                              "dx",   "dy", "dz", "ax", "ay", "az", "rhoe", "material"};
  Object object{{}, {}, at};
  while (!body.empty()) {
    const auto end = body.find(';');
    const std::string_view item = trimmed(body.substr(0, end));
    body = end == std::string_view::npos ? std::string_view{} : body.substr(end + 1);
    if (item.empty()) continue;
    if (item.starts_with("clip")) {
      const auto sign = item.find_first_of("<>");
      if (sign != 5 || item[4] < 'x' || item[4] > 'z')
        refuse(at, format("not a clip plane: \"{}\"", item), "expected clipx, clipy or clipz with < or >",
               "write for example clipx<9.1");
      const double s = item[sign] == '<' ? 1 : -1;
      const Vec3 axis{item[4] == 'x' ? s : 0, item[4] == 'y' ? s : 0, item[4] == 'z' ? s : 0};
      object.clips.push_back({axis, s * Expression(trimmed(item.substr(sign + 1)), at).value()});
      continue;
    }
    const auto equals = item.find('=');
    const std::string key(trimmed(item.substr(0, equals)));
    if (equals == std::string_view::npos || std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string nearest = nearest_name(key, known);
      refuse(at, format("unknown entry \"{}\"", key), "it is not part of the .pd form",
             nearest.empty() ? "remove it" : format("did you mean \"{}\"?", nearest));
    }
    object.entries[key] = std::string(trimmed(item.substr(equals + 1)));
  }
  if (!object.entries.contains("type")) refuse(at, "the object has no type", "\"type=\" is missing", "add it");
  if (!object.entries.contains("rhoe")) refuse(at, "the object has no density", "\"rhoe=\" is missing", "add it");
  return object;
}

Matrix3 object_axes(const Object& o) {
  auto x = o.direction("ax"), y = o.direction("ay"), z = o.direction("az");
  const int given = (x ? 1 : 0) + (y ? 1 : 0) + (z ? 1 : 0);
  if (given == 0) return {};
  if (given == 1) {
    const Vec3 any{0.3, 0.5, 0.7};
    if (z) return frame_along(*z, any);
    refuse(o.at, "one direction does not fix the axes", "only one of ax, ay, az is given", "give two of them");
  }
  if (!x) x = cross(*y, *z);
  if (!y) y = cross(*z, *x);
  if (!z) z = cross(*x, *y);
  if (std::abs(dot(*x, *y)) > 1e-6 || std::abs(dot(*y, *z)) > 1e-6 || std::abs(dot(*z, *x)) > 1e-6)
    refuse(o.at, "the directions are not at right angles", "ax, ay, az must be", "correct them");
  return {{x->x, y->x, z->x, x->y, y->y, z->y, x->z, y->z, z->z}};
}

// Columns in another order: cylinders and cones have their length along the third half axis.
Matrix3 columns(const Matrix3& a, int first, int second, int third) {
  return {{a(0, first), a(0, second), a(0, third), a(1, first), a(1, second), a(1, third), a(2, first), a(2, second),
           a(2, third)}};
}

Shape make_shape(const Object& o, double mm, const PhantomFileOptions& options) {
  const std::string& type = o.entries.at("type");
  Shape s;
  s.name = format("{}:{}", o.at.file, o.at.line);
  s.centre_mm = mm * Vec3{o.number("x").value_or(0), o.number("y").value_or(0), o.number("z").value_or(0)};
  s.axes = object_axes(o);
  s.clips = o.clips;
  for (ClipPlane& clip : s.clips) clip.offset_mm *= mm;
  if (const auto material = o.entries.find("material"); material != o.entries.end()) {
    s.material = material->second;
    s.value = o.need("rhoe") / electrons_of_water;  // FORBILD's relative density, in g/cm^3
  } else {
    s.value = o.need("rhoe") / electrons_of_water * options.water_per_mm;
  }
  if (type == "ball" || type == "sphere") {
    const double r = mm * o.need("r");
    s.half_axes_mm = {r, r, r};
  } else if (type == "ellipsoid") {
    s.half_axes_mm = mm * Vec3{o.need("rx"), o.need("ry"), o.need("rz")};
  } else if (type == "box") {
    s.kind = ShapeKind::box;
    s.half_axes_mm = mm * Vec3{o.need("rx"), o.need("ry"), o.need("rz")};
  } else if (type == "cylinder" || type == "cylinder_z") {
    s.kind = ShapeKind::cylinder;
    s.half_axes_mm = mm * Vec3{o.need("rx"), o.need("ry"), o.need("dz") / 2};
  } else if (type == "cylinder_x") {
    s.kind = ShapeKind::cylinder;
    s.half_axes_mm = mm * Vec3{o.need("ry"), o.need("rz"), o.need("dx") / 2};
    s.axes = columns(s.axes, 1, 2, 0);
  } else if (type == "cylinder_y") {
    s.kind = ShapeKind::cylinder;
    s.half_axes_mm = mm * Vec3{o.need("rz"), o.need("rx"), o.need("dy") / 2};
    s.axes = columns(s.axes, 2, 0, 1);
  } else if (type == "cone_y") {
    s.kind = ShapeKind::cone;
    s.half_axes_mm = {mm, mm, mm * o.need("ry")};
    s.bottom_scale = o.need("rx");
    s.top_scale = o.need("rz");
    s.axes = columns(s.axes, 2, 0, 1);
  } else {
    const std::string nearest = nearest_name(
        type, {"ball", "sphere", "ellipsoid", "box", "cylinder", "cylinder_x", "cylinder_y", "cylinder_z", "cone_y"});
    refuse(o.at, format("unknown type \"{}\"", type),
           "known are ball, sphere, ellipsoid, box, cylinder, cylinder_x, cylinder_y, cylinder_z, cone_y",
           nearest.empty() ? "use one of these" : format("did you mean \"{}\"?", nearest));
  }
  return s;
}

}  // namespace

Phantom parse_pd(std::string_view text, const std::string& file, const PhantomFileOptions& options) {
  double mm = 10;  // centimetres
  std::vector<Shape> shapes;
  int line = 1;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    std::string_view content = text.substr(0, newline);
    text = newline == std::string_view::npos ? std::string_view{} : text.substr(newline + 1);
    content = trimmed(content.substr(0, content.find('#')));
    const Place at{file, line++};
    if (content.empty()) continue;
    if (content.starts_with("units")) {
      const std::string_view unit = trimmed(content.substr(content.find('=') + 1));
      if (unit != "cm" && unit != "mm")
        refuse(at, format("unknown unit \"{}\"", unit), "known are cm and mm", "write units=cm or units=mm");
      mm = unit == "cm" ? 10 : 1;
      continue;
    }
    if (content.front() != '{' || content.back() != '}')
      refuse(at, "not an object", "expected {type=...; ...} on one line", "close the braces on the same line");
    shapes.push_back(make_shape(split(content.substr(1, content.size() - 2), at), mm, options));
  }
  if (shapes.empty())
    throw Error(ErrorKind::input, {.what = "phantom has no objects",
                                   .where = file,
                                   .why = "no line with {type=...}",
                                   .hint = "check that it is a .pd file"});
  // The first object of the file is on top; a Phantom's last shape is.
  std::reverse(shapes.begin(), shapes.end());
  return Phantom(std::filesystem::path(file).stem().string(), Combine::replace, std::move(shapes));
}

}  // namespace lepus
