// SPDX-License-Identifier: Apache-2.0
// Side-cars and descriptions in JSON.
#include "io/json_text.h"

#include <cmath>

#include "core/format.h"
#include "core/json.h"
#include "core/nesting.h"
#include "io/file.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t largest_side_car = std::int64_t{256} << 20;

// Discarded where it is no JSON; Error(input) where it is too deep to be looked at.
Json parse(const std::string& text, const std::string& where) {
  check_json_nesting(text, where);
  return ordered_json_or_discarded(text);
}

// ASCII only, and never a throw for text that is not UTF-8 (a path in a scan file may hold any bytes).
std::string dump(const Json& json, int indent) { return ascii_json_text(json, indent); }

[[noreturn]] void throw_bad(const std::string& where, const std::string& why) {
  throw Error(ErrorKind::input, {.what = "description of the pixels cannot be used",
                                 .where = where,
                                 .why = why,
                                 .hint = "docs/formats.md lists the keys"});
}

Vec3 vector_of(const Json& json, const char* key, const std::string& where) {
  const Json& list = json.at(key);
  if (!list.is_array() || list.size() != 3 || !list[0].is_number() || !list[1].is_number() || !list[2].is_number())
    throw_bad(where, format("'{}' is not a list of three numbers", key));
  const Vec3 v{list[0].get<double>(), list[1].get<double>(), list[2].get<double>()};
  if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z))
    throw_bad(where, format("'{}' is not finite", key));
  return v;
}

std::string text_of(const Json& json, const char* key, const std::string& fallback) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : fallback;
}

}  // namespace

bool is_json(const std::string& text, const std::string& where) { return !parse(text, where).is_discarded(); }

std::string one_line_json(const std::string& json) {
  if (json.empty()) return {};
  const Json parsed = parse(json, "provenance");
  if (parsed.is_discarded())
    throw Error(ErrorKind::internal,
                {.what = "provenance is not JSON", .where = {}, .why = json.substr(0, 80), .hint = "report this"});
  return dump(parsed, -1);
}

std::string to_json(const StackDescription& d, bool pretty) {
  Json json;
  json["lepus"] = d.text.grid ? "volume" : "frames";
  json["version"] = 1;
  json["size"] = {d.shape.columns, d.shape.rows, d.shape.images};
  json["type"] = name_of(d.shape.type);
  json["byte_order"] = d.big_endian ? "big" : "little";
  json["header_bytes"] = d.header_bytes;
  if (d.text.grid) {
    const VolumeGrid& grid = *d.text.grid;
    json["origin_mm"] = {grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z};
    json["step_mm"] = {grid.step_mm.x, grid.step_mm.y, grid.step_mm.z};
  }
  if (!d.text.unit.empty()) json["unit"] = d.text.unit;
  if (!d.text.scale.is_identity()) json["value"] = {{"slope", d.text.scale.slope}, {"offset", d.text.scale.offset}};
  if (!d.provenance.empty()) json["provenance"] = parse_ordered_json(d.provenance);
  return dump(json, pretty ? 2 : -1) + (pretty ? "\n" : "");
}

bool is_volume_json(const std::string& text) {
  // Pretty or not: {"lepus":"volume" with any blanks between.
  std::string start;
  for (std::size_t i = 0; i < text.size() && start.size() < 17; ++i)
    if (static_cast<unsigned char>(text[i]) > ' ') start += text[i];
  return start == "{\"lepus\":\"volume\"";
}

StackDescription stack_from_json(const std::string& text, const std::string& where) {
  const Json json = parse(text, where);
  if (json.is_discarded() || !json.is_object()) throw_bad(where, "it is not a JSON object");
  if (!json.contains("size") || !json["size"].is_array() || json["size"].size() != 3)
    throw_bad(where, "'size' is not a list of columns, rows, images");
  StackDescription d;
  std::int64_t* const sizes[] = {&d.shape.columns, &d.shape.rows, &d.shape.images};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!json["size"][i].is_number_integer()) throw_bad(where, "'size' is not a list of integers");
    *sizes[i] = json["size"][i].get<std::int64_t>();
  }
  const auto type = pixel_type_named(text_of(json, "type", ""));
  if (!type) throw_bad(where, format("'type' is '{}', expected a name like uint16", text_of(json, "type", "")));
  d.shape.type = *type;
  if (!checked_product(d.shape.columns, d.shape.rows, d.shape.images, bytes_per_pixel(d.shape.type)))
    throw_bad(where, "'size' is not positive or too large");
  const std::string order = text_of(json, "byte_order", "little");
  if (order != "little" && order != "big") throw_bad(where, format("'byte_order' is '{}'", order));
  d.big_endian = order == "big";
  if (json.contains("header_bytes")) {
    if (!json["header_bytes"].is_number_integer()) throw_bad(where, "'header_bytes' is not an integer");
    d.header_bytes = json["header_bytes"].get<std::int64_t>();
    if (d.header_bytes < 0 || d.header_bytes > (std::int64_t{1} << 60))
      throw_bad(where, "'header_bytes' is impossible");
  }
  if (json.contains("step_mm")) {
    VolumeGrid grid{.nx = d.shape.columns, .ny = d.shape.rows, .nz = d.shape.images, .origin_mm = {}, .step_mm = {}};
    grid.step_mm = vector_of(json, "step_mm", where);
    if (grid.step_mm.x == 0 || grid.step_mm.y == 0 || grid.step_mm.z == 0) throw_bad(where, "'step_mm' holds a zero");
    if (json.contains("origin_mm")) grid.origin_mm = vector_of(json, "origin_mm", where);
    d.text.grid = grid;
  }
  d.text.unit = text_of(json, "unit", "");
  if (json.contains("value")) {
    const Json& value = json["value"];
    for (const auto& [key, number] :
         {std::pair{"slope", &d.text.scale.slope}, std::pair{"offset", &d.text.scale.offset}}) {
      if (!value.is_object() || !value.contains(key) || !value[key].is_number())
        throw_bad(where, "'value' does not have the numbers 'slope' and 'offset'");
      *number = value[key].get<double>();
    }
    if (!d.text.scale.is_usable()) throw_bad(where, "'value' is no scale");
  }
  if (json.contains("provenance")) d.provenance = dump(json["provenance"], -1);
  return d;
}

fs::path side_car_of(const fs::path& path) { return with_suffix(path, ".json"); }

StackDescription read_raw_side_car(const fs::path& raw_file) {
  const fs::path side_car = side_car_of(raw_file);
  std::error_code code;
  if (!fs::exists(side_car, code)) {
    const InputFile exists(raw_file);  // a missing raw file is the better message
    throw Error(ErrorKind::input, {.what = "raw file without a description",
                                   .where = raw_file.string(),
                                   .why = format("there is no {}", side_car.string()),
                                   .hint = "describe its columns, rows and pixel type"});
  }
  return stack_from_json(read_text_file(side_car, largest_side_car), side_car.string());
}

RawLayout raw_layout(const StackDescription& d) {
  return {.columns = d.shape.columns,
          .rows = d.shape.rows,
          .frames_per_file = d.shape.images,
          .type = d.shape.type,
          .header_bytes = d.header_bytes,
          .big_endian = d.big_endian};
}

std::string provenance_side_car(const std::string& provenance) {
  Json json;
  json["lepus"] = "provenance";
  json["provenance"] = parse_ordered_json(provenance);
  return dump(json, 2) + "\n";
}

std::string read_provenance_side_car(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return {};
  const Json json = parse(read_text_file(path, largest_side_car), path.string());
  if (json.is_discarded() || !json.is_object() || text_of(json, "lepus", "") != "provenance") return {};
  return json.contains("provenance") ? dump(json["provenance"], -1) : std::string();
}

}  // namespace lepus
