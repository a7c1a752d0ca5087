// SPDX-License-Identifier: Apache-2.0
#include "io/zarr_array.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/format.h"
#include "core/json.h"
#include "core/nesting.h"
#include "io/file.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t largest_metadata = std::int64_t{256} << 20;
constexpr std::int64_t largest_chunk = std::int64_t{1} << 30;  // bytes; blosc ends at 2^31

Json read_metadata(const fs::path& file) {
  const std::string text = read_text_file(file, largest_metadata);
  check_json_nesting(text, file.string());
  Json json = ordered_json_or_discarded(text);
  if (json.is_discarded() || !json.is_object()) throw_bad_header(file, "it is not a JSON object");
  return json;
}

std::vector<std::int64_t> sizes_of(const Json& json, const char* key, const fs::path& file) {
  std::vector<std::int64_t> sizes;
  if (!json.contains(key) || !json[key].is_array()) throw_bad_header(file, format("'{}' is not a list", key));
  for (const Json& item : json[key]) {
    if (!item.is_number_integer() || item.get<double>() < 1 || item.get<double>() > 0x1p62)
      throw_bad_header(file, format("'{}' holds something else than positive whole numbers", key));
    sizes.push_back(item.get<std::int64_t>());
  }
  return sizes;
}

const std::map<std::string, PixelType>& zarr_types() {
  static const std::map<std::string, PixelType> types{
      {"u1", PixelType::u8},  {"b1", PixelType::u8},  {"i1", PixelType::i8},  {"u2", PixelType::u16},
      {"i2", PixelType::i16}, {"u4", PixelType::u32}, {"i4", PixelType::i32}, {"f2", PixelType::f16},
      {"f4", PixelType::f32}, {"f8", PixelType::f64}};
  return types;
}

void read_type(const Json& json, ZarrArray& array, const fs::path& file) {
  const Json dtype = json.contains("dtype") ? json["dtype"] : Json();
  const std::string text = dtype.is_string() ? dtype.get<std::string>() : json_text(dtype);
  const auto found = text.size() == 3 ? zarr_types().find(text.substr(1)) : zarr_types().end();
  if (found == zarr_types().end() || std::string("<>|").find(text[0]) == std::string::npos)
    throw_unsupported_header(file, format("dtype {}", text.substr(0, 60)),
                             "lepus reads integers of up to 32 bits and floats of 16, 32 and 64");
  array.type = found->second;
  array.big_endian = text[0] == '>';
}

void read_codec(const Json& json, ZarrArray& array, const fs::path& file) {
  if (json.contains("filters") && !json["filters"].is_null() && !json["filters"].empty())
    throw_unsupported_header(file, format("filters {}", json_text(json["filters"]).substr(0, 60)),
                             "write it without filters");
  const Json codec = json.contains("compressor") ? json["compressor"] : Json();
  if (codec.is_null()) {
    array.codec = ZarrCodec::none;
    return;
  }
  const std::string id = codec.is_object() && codec.contains("id") && codec["id"].is_string()
                             ? codec["id"].get<std::string>()
                             : json_text(codec);
  static const std::map<std::string, ZarrCodec> codecs{
      {"blosc", ZarrCodec::blosc}, {"zlib", ZarrCodec::zlib}, {"gzip", ZarrCodec::zlib}, {"zstd", ZarrCodec::zstd}};
  const auto found = codecs.find(id);
  if (found == codecs.end())
    throw_unsupported_header(file, format("compressor {}", id.substr(0, 60)),
                             "lepus reads blosc, zlib, gzip, zstd and chunks that are not compressed");
  array.codec = found->second;
}

std::optional<double> read_fill(const Json& json, const fs::path& file) {
  const Json fill = json.contains("fill_value") ? json["fill_value"] : Json();
  if (fill.is_null()) return std::nullopt;
  if (fill.is_number()) return fill.get<double>();
  if (fill.is_boolean()) return fill.get<bool>() ? 1 : 0;
  const std::string text = fill.is_string() ? fill.get<std::string>() : "";
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  throw_bad_header(file, "'fill_value' is not a number");
}

ValueScale read_scale(const fs::path& file) {
  ValueScale scale;
  std::error_code code;
  if (!fs::exists(file, code)) return scale;
  const Json json = read_metadata(file);
  for (const auto& [key, number] : {std::pair{"scale_factor", &scale.slope}, std::pair{"add_offset", &scale.offset}})
    if (json.contains(key) && json[key].is_number()) *number = json[key].get<double>();
  if (!scale.is_usable()) throw_bad_header(file, "scale_factor or add_offset is impossible");
  return scale;
}

// To millimetres; without a unit they are taken for such.
double length_unit(const Json& axis, const fs::path& file) {
  if (!axis.contains("unit") || axis["unit"].is_null()) return 1;
  const std::string unit = axis["unit"].is_string() ? axis["unit"].get<std::string>() : json_text(axis["unit"]);
  const auto mm = millimetres_in(unit);
  if (!mm)
    throw_unsupported_header(file, format("the unit '{}' of an axis", unit.substr(0, 60)),
                             "write millimeter or micrometer");
  return *mm;
}

// How positions along the axes follow from indices: position = scale * index + translation.
struct Placement {
  std::vector<double> scale, translation;
};

void apply_transformations(const Json& owner, Placement& placement, const fs::path& file) {
  if (!owner.contains("coordinateTransformations")) return;
  const Json& list = owner["coordinateTransformations"];
  if (!list.is_array()) throw_bad_header(file, "'coordinateTransformations' is not a list");
  for (const Json& item : list) {
    const std::string type =
        item.is_object() && item.contains("type") && item["type"].is_string() ? item["type"].get<std::string>() : "";
    if (type == "identity") continue;
    if ((type != "scale" && type != "translation") || !item.contains(type))
      throw_unsupported_header(file, format("the transformation '{}'", type.substr(0, 60)),
                               "lepus reads scale and translation with their numbers");
    const Json& numbers = item[type];
    if (!numbers.is_array() || numbers.size() != placement.scale.size())
      throw_bad_header(file, format("'{}' does not have a number for each axis", type));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!numbers[i].is_number()) throw_bad_header(file, format("'{}' holds something else than numbers", type));
      const auto number = numbers[i].get<double>();
      if (type == "scale") {
        placement.scale[i] *= number;
        placement.translation[i] *= number;
      } else {
        placement.translation[i] += number;
      }
    }
  }
}

// The units of the axes, of which the last must be z, y, x (or y, x).
std::vector<double> read_axes(const Json& multiscale, const fs::path& file) {
  if (!multiscale.contains("axes") || !multiscale["axes"].is_array() || multiscale["axes"].empty())
    throw_unsupported_header(file, "multiscales without axes", "lepus reads OME-Zarr 0.4; write that");
  const Json& axes = multiscale["axes"];
  std::string names;
  std::vector<double> units;
  for (const Json& axis : axes) {
    const bool named = axis.is_object() && axis.contains("name") && axis["name"].is_string();
    names += (names.empty() ? "" : " ") +
             (named ? axis["name"].get<std::string>().substr(0, 20) : json_text(axis).substr(0, 20));
    const bool space = named && axis.contains("type") && axis["type"] == "space";
    units.push_back(space ? length_unit(axis, file) : 1);
  }
  if (names != "y x" && names != "z y x" && !names.ends_with(" z y x"))
    throw_unsupported_header(file, format("the axes {}", names), "write the axes in the order z, y, x");
  return units;
}

Json dataset_json(const ZarrLevel& level) {
  const Vec3 &step = level.step_mm, &origin = level.origin_mm;
  return {{"path", level.path},
          {"coordinateTransformations",
           {{{"type", "scale"}, {"scale", {step.z, step.y, step.x}}},
            {{"type", "translation"}, {"translation", {origin.z, origin.y, origin.x}}}}}};
}

}  // namespace

std::array<std::int64_t, 3> ZarrArray::chunks_along() const {
  std::array<std::int64_t, 3> count{};
  for (std::size_t i = 0; i < 3; ++i) count[i] = (shape[i] - 1) / chunks[i] + 1;
  return count;
}

fs::path ZarrArray::chunk_file(std::int64_t z, std::int64_t y, std::int64_t x) const {
  std::string name;
  for (int i = 0; i < leading; ++i) name += format("0{}", separator);
  if (!flat) name += format("{}{}", z, separator);
  return folder / (name + format("{}{}{}", y, separator, x));
}

ZarrArray read_zarr_array(const fs::path& folder) {
  const fs::path file = folder / ".zarray";
  const Json json = read_metadata(file);
  if (!json.contains("zarr_format") || json["zarr_format"] != 2)
    throw_unsupported_header(file, "it is not of Zarr version 2", "write version 2, as OME-Zarr 0.4 has it");
  ZarrArray array;
  array.folder = folder;
  const auto shape = sizes_of(json, "shape", file), chunks = sizes_of(json, "chunks", file);
  if (shape.size() != chunks.size()) throw_bad_header(file, "'shape' and 'chunks' have different lengths");
  if (shape.size() < 2 || shape.size() > 8)
    throw_unsupported_header(file, format("{} axes", shape.size()), "lepus reads arrays of y, x or z, y, x");
  const std::size_t volume = std::min<std::size_t>(3, shape.size());
  array.flat = volume == 2;
  array.leading = static_cast<int>(shape.size() - volume);
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.leading); ++i)
    if (shape[i] != 1 || chunks[i] != 1)
      throw_unsupported_header(file, format("an axis of {} before z, y, x", shape[i]),
                               "write one channel and one time");
  array.shape[0] = array.chunks[0] = 1;
  std::copy_backward(shape.end() - static_cast<std::ptrdiff_t>(volume), shape.end(), array.shape.end());
  std::copy_backward(chunks.end() - static_cast<std::ptrdiff_t>(volume), chunks.end(), array.chunks.end());
  read_type(json, array, file);
  const auto bytes = checked_product(array.chunks[0], array.chunks[1], array.chunks[2], bytes_per_pixel(array.type));
  if (!bytes || *bytes > largest_chunk)
    throw_unsupported_header(file,
                             format("chunks of {} x {} x {} voxels", array.chunks[0], array.chunks[1], array.chunks[2]),
                             "write chunks of at most 1 GiB");
  if (json.contains("order") && json["order"] != "C")
    throw_unsupported_header(file, "chunks in the order of Fortran (order F)", "write it with order C");
  read_codec(json, array, file);
  array.fill = read_fill(json, file);
  array.separator = '.';
  if (json.contains("dimension_separator")) {
    if (json["dimension_separator"] != "." && json["dimension_separator"] != "/")
      throw_bad_header(file, "'dimension_separator' is neither . nor /");
    array.separator = json["dimension_separator"].get<std::string>()[0];
  }
  array.scale = read_scale(folder / ".zattrs");
  return array;
}

std::string zarr_attributes_json(const ValueScale& scale) {
  return json_text(Json{{"scale_factor", scale.slope}, {"add_offset", scale.offset}}, 1) + "\n";
}

std::string zarr_array_json(const ZarrArray& array) {
  const auto& types = zarr_types();
  const auto type = std::find_if(types.begin(), types.end(),
                                 [&](const auto& t) { return t.second == array.type && t.first != "b1"; });
  return json_text(Json{{"zarr_format", 2},
                        {"shape", array.shape},
                        {"chunks", array.chunks},
                        {"dtype", (bytes_per_pixel(array.type) == 1 ? "|" : "<") + type->first},
                        {"compressor",
                         {{"id", "blosc"},
                          {"cname", "zstd"},
                          {"clevel", blosc_level},
                          {"shuffle", 1},
                          {"blocksize", blosc_block_bytes}}},
                        {"fill_value", 0},
                        {"order", "C"},
                        {"filters", nullptr},
                        {"dimension_separator", std::string(1, array.separator)}},
                   1) +
         "\n";
}

std::optional<ZarrGroup> read_zarr_group(const fs::path& folder) {
  const fs::path file = folder / ".zattrs";
  std::error_code code;
  if (!fs::exists(file, code)) return std::nullopt;
  const Json json = read_metadata(file);
  if (!json.contains("multiscales")) return std::nullopt;
  const Json& list = json["multiscales"];
  if (!list.is_array() || list.empty() || !list[0].is_object())
    throw_bad_header(file, "'multiscales' is not a list of images");
  const Json& image = list[0];
  const std::vector<double> units = read_axes(image, file);
  if (!image.contains("datasets") || !image["datasets"].is_array() || image["datasets"].empty())
    throw_bad_header(file, "'datasets' is not a list of levels");
  ZarrGroup group;
  for (const Json& item : image["datasets"]) {
    if (!item.is_object() || !item.contains("path") || !item["path"].is_string())
      throw_bad_header(file, "a level has no path");
    Placement placement{std::vector<double>(units.size(), 1), std::vector<double>(units.size(), 0)};
    apply_transformations(item, placement, file);
    apply_transformations(image, placement, file);
    double step[3] = {1, 1, 1}, origin[3] = {0, 0, 0};  // z, y, x
    for (std::size_t i = 0; i < std::min<std::size_t>(3, units.size()); ++i) {
      const std::size_t from = units.size() - 1 - i;
      step[2 - i] = placement.scale[from] * units[from];
      origin[2 - i] = placement.translation[from] * units[from];
    }
    group.levels.push_back(
        {item["path"].get<std::string>(), {step[2], step[1], step[0]}, {origin[2], origin[1], origin[0]}});
  }
  if (json.contains("lepus") && json["lepus"].is_object()) {
    const Json& ours = json["lepus"];
    if (ours.contains("unit") && ours["unit"].is_string()) group.unit = ours["unit"].get<std::string>();
    if (ours.contains("provenance") && !ours["provenance"].is_null())
      group.provenance = ascii_json_text(ours["provenance"]);
    group.complete = ours.contains("complete") && ours["complete"] == true;
  }
  return group;
}

std::string zarr_group_json(const ZarrGroup& group) {
  Json axes = Json::array(), datasets = Json::array();
  for (const char* name : {"z", "y", "x"}) axes.push_back({{"name", name}, {"type", "space"}, {"unit", "millimeter"}});
  for (const ZarrLevel& level : group.levels) datasets.push_back(dataset_json(level));
  Json json{{"multiscales", Json::array({{{"version", "0.4"},
                                          {"name", "volume"},
                                          {"axes", axes},
                                          {"datasets", datasets},
                                          {"type", "mean"},
                                          {"metadata", {{"method", "mean of 2 x 2 x 2 voxels"}}}}})},
            {"lepus", {{"version", 1}, {"unit", group.unit}, {"complete", group.complete}}}};
  if (!group.provenance.empty()) json["lepus"]["provenance"] = parse_ordered_json(group.provenance);
  return ascii_json_text(json, 1) + "\n";
}

bool is_zarr(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) return false;
  for (const char* name : {".zarray", ".zgroup", "zarr.json"})
    if (fs::exists(folder / name, code)) return true;
  return false;
}

}  // namespace lepus
