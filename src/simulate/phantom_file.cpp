// SPDX-License-Identifier: Apache-2.0
// The TOML form of a phantom: name, combine, and [[shape]] tables. Every key is checked; errors name the line.
#include "simulate/phantom_file.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <toml++/toml.h>

#include "core/format.h"
#include "core/input_file.h"
#include "core/nesting.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : ", ") + w;
  return all;
}

class Reader {
public:
  Reader(const toml::table& table, const std::string& file, std::string what)
      : table_(table), file_(file), what_(std::move(what)) {}

  [[noreturn]] void refuse(const toml::node& node, std::string what, std::string why, std::string hint) const {
    throw Error(ErrorKind::input, {.what = std::move(what),
                                   .where = format("{}:{}", file_, node.source().begin.line),
                                   .why = std::move(why),
                                   .hint = std::move(hint)});
  }

  void only(const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string nearest = nearest_name(name, known);
      refuse(node, format("unknown key \"{}\"", name), format("{} takes {}", what_, joined(known)),
             nearest.empty() ? "remove it" : format("did you mean \"{}\"?", nearest));
    }
  }

  bool has(const char* key) const { return table_.contains(key); }

  std::optional<std::string> text(const char* key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    if (const auto v = node->value<std::string>()) return v;
    refuse(*node, format("\"{}\" is not text", key), "expected a word in quotes", "put it in quotes");
  }

  std::optional<double> number(const char* key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    if (const auto v = node->value<double>()) return v;
    refuse(*node, format("\"{}\" is not a number", key), "expected a number", "write it without quotes");
  }

  template <std::size_t n>
  std::optional<std::array<double, n>> numbers(const char* key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    return list<n>(*node, key);
  }

  template <std::size_t n>
  std::array<double, n> list(const toml::node& node, const char* key) const {
    const toml::array* array = node.as_array();
    std::array<double, n> out{};
    bool good = array && array->size() == n;
    for (std::size_t i = 0; good && i < n; ++i) {
      const auto v = (*array)[i].value<double>();
      good = v.has_value();
      if (good) out[i] = *v;
    }
    if (!good)
      refuse(node, format("\"{}\" is not a list of {} numbers", key, n), format("expected {} numbers", n),
             format("write {} = [..] with {} numbers", key, n));
    return out;
  }

  const toml::table& table() const { return table_; }
  const std::string& file() const { return file_; }
  const std::string& what() const { return what_; }

  double need_number(const char* key) const {
    if (const auto v = number(key)) return *v;
    refuse(table_, format("\"{}\" is missing", key), format("{} needs it", what_), "add it");
  }

private:
  const toml::table& table_;
  const std::string& file_;
  std::string what_;
};

Vec3 vec(const std::array<double, 3>& a) { return {a[0], a[1], a[2]}; }

const std::vector<std::string> kinds{"ellipsoid", "sphere", "cylinder", "cone", "box", "mesh"};

std::vector<std::string> keys_of(const std::string& kind) {
  std::vector<std::string> keys{"kind", "name", "centre_mm", "clip", "value_per_mm", "material", "density_g_cm3"};
  const auto add = [&](std::initializer_list<const char*> more) { keys.insert(keys.end(), more.begin(), more.end()); };
  if (kind == "sphere") add({"radius_mm"});
  if (kind == "ellipsoid") add({"half_axes_mm", "rotation_deg"});
  if (kind == "box") add({"size_mm", "rotation_deg"});
  if (kind == "cylinder") add({"radius_mm", "half_axes_mm", "length_mm", "rotation_deg", "axis", "first_axis"});
  if (kind == "mesh") add({"file", "scale", "rotation_deg"});
  if (kind == "cone")
    add({"bottom_radius_mm", "top_radius_mm", "aspect", "length_mm", "rotation_deg", "axis", "first_axis"});
  return keys;
}

void set_axes(Shape& shape, const Reader& r) {
  const auto angles = r.numbers<3>("rotation_deg");
  const auto axis = r.numbers<3>("axis");
  if (angles && axis)
    r.refuse(*r.table().get("axis"), "both \"axis\" and \"rotation_deg\" are given", "each turns the shape",
             "keep one of them");
  if (angles) shape.axes = rotation(radians((*angles)[0]), radians((*angles)[1]), radians((*angles)[2]));
  if (r.has("first_axis") && !axis)
    r.refuse(*r.table().get("first_axis"), "\"first_axis\" without \"axis\"", "it turns the ellipse about the axis",
             "give axis too");
  if (axis) {
    if (!(norm(vec(*axis)) > 0))
      r.refuse(*r.table().get("axis"), "\"axis\" has no length", "it is [0, 0, 0]", "give a direction");
    shape.axes = frame_along(vec(*axis), vec(r.numbers<3>("first_axis").value_or(std::array<double, 3>{1, 0, 0})));
  }
}

// The surface lies beside the phantom file.
void set_mesh(Shape& shape, const Reader& r) {
  shape.kind = ShapeKind::mesh;
  const auto surface = r.text("file");
  if (!surface) r.refuse(r.table(), "\"file\" is missing", "a mesh needs it", "add file = \"part.stl\"");
  const double scale = r.number("scale").value_or(1);
  shape.half_axes_mm = {scale, scale, scale};
  const std::filesystem::path path = std::filesystem::path(r.file()).parent_path() / *surface;
  shape.mesh = std::make_shared<ClosedMesh>(read_stl(path), path.string());
}

void set_size(Shape& shape, const std::string& kind, const Reader& r) {
  if (kind == "sphere") {
    const double radius = r.need_number("radius_mm");
    shape.half_axes_mm = {radius, radius, radius};
  } else if (kind == "ellipsoid") {
    const auto h = r.numbers<3>("half_axes_mm");
    if (!h) r.refuse(r.table(), "\"half_axes_mm\" is missing", "an ellipsoid needs it", "add half_axes_mm = [a, b, c]");
    shape.half_axes_mm = vec(*h);
  } else if (kind == "box") {
    shape.kind = ShapeKind::box;
    const auto size = r.numbers<3>("size_mm");
    if (!size) r.refuse(r.table(), "\"size_mm\" is missing", "a box needs it", "add size_mm = [x, y, z], whole edges");
    shape.half_axes_mm = vec(*size) / 2;
  } else if (kind == "cylinder") {
    shape.kind = ShapeKind::cylinder;
    const double length = r.need_number("length_mm");
    const auto h = r.numbers<2>("half_axes_mm");
    const double radius = h ? 0 : r.need_number("radius_mm");
    shape.half_axes_mm = h ? Vec3{(*h)[0], (*h)[1], length / 2} : Vec3{radius, radius, length / 2};
  } else if (kind == "mesh") {
    set_mesh(shape, r);
  } else {
    shape.kind = ShapeKind::cone;
    const double bottom = r.need_number("bottom_radius_mm"), top = r.need_number("top_radius_mm");
    const double widest = std::max(bottom, top);
    if (!(bottom >= 0 && top >= 0 && widest > 0))
      r.refuse(r.table(), "the cone has no width", format("its radii are {} and {} mm", bottom, top),
               "give radii that are not negative, one of them above zero");
    shape.half_axes_mm = {widest, widest * r.number("aspect").value_or(1), r.need_number("length_mm") / 2};
    shape.bottom_scale = bottom / widest;
    shape.top_scale = top / widest;
  }
}

Shape read_shape(const toml::table& table, const std::string& file, std::size_t index) {
  Reader any(table, file, "a shape");
  const std::string kind = any.text("kind").value_or("");
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    const toml::node* node = table.get("kind");
    const std::string nearest = nearest_name(kind, kinds);
    any.refuse(node ? *node : static_cast<const toml::node&>(table),
               kind.empty() ? "\"kind\" is missing" : format("unknown kind \"{}\"", kind),
               "a shape is " + joined(kinds),
               nearest.empty() ? "use one of these" : format("did you mean \"{}\"?", nearest));
  }
  const Reader r(table, file, "a " + kind);
  r.only(keys_of(kind));
  Shape shape;
  shape.name = format("{}:{}, shape {}", file, table.source().begin.line, index + 1);
  if (const auto name = r.text("name")) shape.name += " (" + *name + ")";
  if (const auto centre = r.numbers<3>("centre_mm")) shape.centre_mm = vec(*centre);
  set_size(shape, kind, r);
  set_axes(shape, r);
  if (const toml::node* clip = table.get("clip")) {
    const toml::array* planes = clip->as_array();
    if (!planes)
      r.refuse(*clip, "\"clip\" is not a list of planes", "expected [[nx, ny, nz, offset], ...]",
               "write clip = [[0, 0, 1, 5.0]] to keep z <= 5 mm");
    for (const toml::node& plane : *planes) {
      const auto p = r.list<4>(plane, "clip");
      shape.clips.push_back({{p[0], p[1], p[2]}, p[3]});
    }
  }
  const auto value = r.number("value_per_mm");
  const auto material = r.text("material");
  if (value.has_value() == material.has_value())
    r.refuse(table, "the shape has no value, or two", "give either value_per_mm or material", "keep one of them");
  if (material) {
    shape.material = *material;
    std::int32_t slot = 0;
    try {
      slot = material_slot(*material);
    } catch (const Error& e) {
      r.refuse(*table.get("material"), e.parts().what, e.parts().why, e.parts().hint);
    }
    shape.value = r.number("density_g_cm3").value_or(density_g_cm3(slot));
  } else {
    if (const toml::node* density = table.get("density_g_cm3"))
      r.refuse(*density, "\"density_g_cm3\" without \"material\"", "value_per_mm says it all", "remove it");
    shape.value = *value;
  }
  try {
    PreparedShape check(shape);
  } catch (const Error& e) {
    r.refuse(table, e.parts().what, e.parts().why, e.parts().hint);
  }
  return shape;
}

// Its box lies around the rotation centre: where the origin of a part is, only who drew it knows.
Phantom phantom_of_part(const std::filesystem::path& file, const PhantomFileOptions& options) {
  Shape part;
  part.name = file.filename().string();
  part.kind = ShapeKind::mesh;
  part.mesh = std::make_shared<ClosedMesh>(read_stl(file), file.string());
  const auto [low, high] = part.mesh->bounds();
  const Vec3 size = high - low;
  const double scale = options.size_mm > 0 ? options.size_mm / std::max({size.x, size.y, size.z}) : 1;
  part.half_axes_mm = {scale, scale, scale};
  part.centre_mm = -0.5 * scale * (low + high);
  part.material = options.material;
  part.value = part.material.empty() ? options.water_per_mm : density_g_cm3(material_slot(part.material));
  return Phantom(file.stem().string(), Combine::add, {part});
}

}  // namespace

Phantom parse_phantom_toml(std::string_view text, const std::string& file) {
  check_toml_nesting(text, file);
  toml::table table;
  try {
    table = toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    throw Error(ErrorKind::input, {.what = "not a TOML file",
                                   .where = format("{}:{}", file, e.source().begin.line),
                                   .why = std::string(e.description()),
                                   .hint = "correct the line"});
  }
  const Reader r(table, file, "a phantom file");
  r.only({"name", "combine", "shape"});
  const std::string combine = r.text("combine").value_or("add");
  if (combine != "add" && combine != "replace")
    r.refuse(*table.get("combine"), format("unknown way to combine \"{}\"", combine), "known are add and replace",
             "add: values sum; replace: later shapes are drawn over earlier ones");
  const toml::array* list = table["shape"].as_array();
  std::vector<Shape> shapes;
  if (list)
    for (const toml::node& node : *list) {
      const toml::table* shape = node.as_table();
      if (!shape) r.refuse(node, "\"shape\" is not a list of tables", "expected [[shape]]", "write [[shape]]");
      shapes.push_back(read_shape(*shape, file, shapes.size()));
    }
  if (shapes.empty())
    throw Error(ErrorKind::input,
                {.what = "phantom has no shapes", .where = file, .why = "there is no [[shape]]", .hint = "add one"});
  return Phantom(r.text("name").value_or(std::filesystem::path(file).stem().string()),
                 combine == "add" ? Combine::add : Combine::replace, std::move(shapes));
}

bool is_stl(const std::filesystem::path& file) { return file.extension() == ".stl" || file.extension() == ".STL"; }

Phantom read_phantom(const std::filesystem::path& file, const PhantomFileOptions& options) {
  if (is_stl(file)) return phantom_of_part(file, options);
  const std::string text = read_text_file(file, largest_scan_file);
  if (file.extension() == ".toml") return parse_phantom_toml(text, file.string());
  if (file.extension() == ".pd") return parse_pd(text, file.string(), options);
  throw Error(ErrorKind::input, {.what = "unknown kind of phantom file",
                                 .where = file.string(),
                                 .why = format("its name ends in \"{}\"", file.extension().string()),
                                 .hint = "use .toml (docs/simulation.md), .stl or .pd"});
}

}  // namespace lepus
