// SPDX-License-Identifier: Apache-2.0
// NRRD volumes: .nrrd (header and data in one file) and .nhdr (data in a .raw beside it), little-endian when written;
// any integer or float type, either byte order, encoding raw when read. https://teem.sourceforge.net/nrrd
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/format.h"
#include "core/output_file.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/headed_stack.h"
#include "io/header_text.h"
#include "io/json_text.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

const std::string nrrd_provenance_key = "lepus_provenance";
const std::string unit_key = "lepus_value_unit";
// NRRD has no words for it: "old min" and "old max" are those of a quantisation by cells.
const std::string nrrd_slope_key = "lepus_value_slope", nrrd_offset_key = "lepus_value_offset";

// Values of key/value pairs write a newline as \n and a backslash as \\ (section 4.2 of the format).
std::string escaped(const std::string& value) {
  std::string result;
  for (const char c : value) {
    if (c == '\\')
      result += "\\\\";
    else if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result;
}

std::string unescaped(std::string_view value) {
  std::string result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) {
      ++i;
      result += value[i] == 'n' ? '\n' : value[i];
    } else {
      result += value[i];
    }
  }
  return result;
}

class NrrdWriter final : public HeadedStack {
public:
  NrrdWriter(const StackTarget& target, std::int64_t room) : HeadedStack(target, ".nhdr", room) {
    const VolumeGrid& grid = *target.text.grid;
    std::string start = format(
        "NRRD0005\n# written by lepus; origin and directions in millimetres, the rotation axis is z\n"
        "type: {}\ndimension: 3\nspace: 3D-right-handed\nsizes: {} {} {}\n"
        "space directions: ({},0,0) (0,{},0) (0,0,{})\nkinds: domain domain domain\nendian: little\nencoding: raw\n"
        "space origin: ({})\nspace units: \"mm\" \"mm\" \"mm\"\n",
        target.shape.type == PixelType::f32 ? "float" : name_of(target.shape.type), grid.nx, grid.ny, grid.nz,
        grid.step_mm.x, grid.step_mm.y, grid.step_mm.z, joined(grid.origin_mm, ","));
    if (detached()) start += format("data file: {}\n", data_.target().filename().string());
    start += format("{}:={}\n", unit_key, escaped(target.text.unit));
    if (const ValueScale& scale = target.text.scale; !scale.is_identity())
      start += format("{}:={}\n{}:={}\n", nrrd_slope_key, scale.slope, nrrd_offset_key, scale.offset);
    begin(start, "\n");
  }

private:
  std::string provenance_text(const std::string& provenance) const override {
    return provenance.empty() ? "" : format("{}:={}\n", nrrd_provenance_key, escaped(provenance));
  }
  bool can_fill(std::int64_t bytes) const override { return bytes >= 0 && bytes != 1; }  // a comment: "#\n"
  std::string filler(std::int64_t bytes) const override {
    return bytes == 0 ? std::string() : "#" + std::string(static_cast<std::size_t>(bytes - 2), ' ') + "\n";
  }
};

struct NrrdHeader {
  std::map<std::string, std::string> fields, values;  // "field: description" and "key:=value"
  std::int64_t bytes = 0;
  std::string get(const std::string& field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? std::string() : found->second;
  }
  std::string first_of(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (fields.count(name) != 0) return get(name);
    return {};
  }
};

NrrdHeader parse_nrrd_header(const InputFile& file) {
  constexpr std::int64_t limit = std::int64_t{64} << 20;
  NrrdHeader header;
  std::string text;
  std::size_t at = 0;
  bool first = true;
  while (true) {
    const std::size_t end = text.find('\n', at);
    const std::int64_t have = static_cast<std::int64_t>(text.size());
    const bool all = have >= std::min(file.size(), limit);
    if (end == std::string::npos && !all) {
      const std::int64_t more = std::min({std::max<std::int64_t>(have, 4096), file.size() - have, limit - have});
      text.resize(static_cast<std::size_t>(have + more));
      file.read(have, text.data() + have, more);
      continue;
    }
    if (end == std::string::npos && at >= text.size()) break;  // a detached header may end without an empty line
    std::string_view line = std::string_view(text).substr(at, end == std::string::npos ? end : end - at);
    at = end == std::string::npos ? text.size() : end + 1;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (first) {
      if (!line.starts_with("NRRD000")) throw_bad_header(file.path(), "it does not begin with NRRD000");
      first = false;
      continue;
    }
    if (line.empty()) break;
    if (line.front() == '#') continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      throw_bad_header(file.path(), format("line '{}' is not 'field: value'", line.substr(0, 60)));
    if (line.substr(colon).starts_with(":=")) {
      header.values[unescaped(line.substr(0, colon))] = unescaped(line.substr(colon + 2));
    } else {
      header.fields[lower_case(std::string(trimmed(line.substr(0, colon))))] =
          std::string(trimmed(line.substr(colon + 1)));
    }
  }
  if (first) throw_bad_header(file.path(), "it does not begin with NRRD000");
  header.bytes = static_cast<std::int64_t>(at);
  return header;
}

PixelType type_of(const NrrdHeader& header, const fs::path& path) {
  static const std::map<std::string, PixelType> types{{"signed char", PixelType::i8},
                                                      {"int8", PixelType::i8},
                                                      {"int8_t", PixelType::i8},
                                                      {"uchar", PixelType::u8},
                                                      {"unsigned char", PixelType::u8},
                                                      {"uint8", PixelType::u8},
                                                      {"uint8_t", PixelType::u8},
                                                      {"short", PixelType::i16},
                                                      {"short int", PixelType::i16},
                                                      {"signed short", PixelType::i16},
                                                      {"signed short int", PixelType::i16},
                                                      {"int16", PixelType::i16},
                                                      {"int16_t", PixelType::i16},
                                                      {"ushort", PixelType::u16},
                                                      {"unsigned short", PixelType::u16},
                                                      {"unsigned short int", PixelType::u16},
                                                      {"uint16", PixelType::u16},
                                                      {"uint16_t", PixelType::u16},
                                                      {"int", PixelType::i32},
                                                      {"signed int", PixelType::i32},
                                                      {"int32", PixelType::i32},
                                                      {"int32_t", PixelType::i32},
                                                      {"uint", PixelType::u32},
                                                      {"unsigned int", PixelType::u32},
                                                      {"uint32", PixelType::u32},
                                                      {"uint32_t", PixelType::u32},
                                                      {"float", PixelType::f32},
                                                      {"double", PixelType::f64}};
  const std::string name = header.get("type");
  if (name.empty()) throw_bad_header(path, "type is missing");
  const auto found = types.find(name);
  if (found == types.end()) throw_unsupported_header(path, format("type: {}", name), "convert it to float");
  return found->second;
}

// "(1,0,0) (0,1,0) none" -> vectors, an empty one for none.
std::vector<std::vector<double>> parse_vectors(const std::string& text, const std::string& key, const fs::path& path) {
  std::vector<std::vector<double>> vectors;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    if (rest.starts_with("none")) {
      vectors.emplace_back();
      rest = trimmed(rest.substr(4));
      continue;
    }
    const std::size_t close = rest.find(')');
    if (rest.front() != '(' || close == std::string_view::npos)
      throw_bad_header(path, format("{} is not a list of vectors", key));
    std::string inner(rest.substr(1, close - 1));
    std::replace(inner.begin(), inner.end(), ',', ' ');
    vectors.push_back(parse_numbers(inner, key, path));
    rest = trimmed(rest.substr(close + 1));
  }
  return vectors;
}

VolumeGrid grid_of(const NrrdHeader& header, const fs::path& path) {
  const auto sizes = parse_integers(header.get("sizes"), "sizes", path);
  const std::size_t n = sizes.size();
  if (n < 2 || n > 3) throw_unsupported_header(path, format("{} axes", n), "lepus reads 2-D and 3-D images");
  const auto dimension = parse_integers(header.get("dimension"), "dimension", path);
  if (!dimension.empty() && (dimension.size() != 1 || dimension[0] != static_cast<std::int64_t>(n)))
    throw_bad_header(path, format("dimension is '{}', sizes has {} numbers", header.get("dimension"), n));
  VolumeGrid grid{.nx = sizes[0], .ny = sizes[1], .nz = n > 2 ? sizes[2] : 1, .origin_mm = {}, .step_mm = {1, 1, 1}};
  double* const step[] = {&grid.step_mm.x, &grid.step_mm.y, &grid.step_mm.z};
  double* const origin[] = {&grid.origin_mm.x, &grid.origin_mm.y, &grid.origin_mm.z};
  const std::string directions = header.get("space directions");
  if (!directions.empty()) {
    const auto vectors = parse_vectors(directions, "space directions", path);
    if (vectors.size() != n) throw_bad_header(path, "space directions has another number of vectors than sizes");
    for (std::size_t i = 0; i < n; ++i) {
      if (vectors[i].empty()) continue;
      if (vectors[i].size() != n) throw_bad_header(path, "a space direction has another number of values than sizes");
      double length = 0;
      for (const double v : vectors[i]) length += std::abs(v);
      if (!(length - std::abs(vectors[i][i]) <= 1e-6 * length))
        throw_unsupported_header(path, format("space directions: {}: the axes are turned", directions),
                                 "resample the volume onto the x, y and z axes");
      *step[i] = vectors[i][i];
    }
  } else if (const auto spacings = parse_numbers(header.get("spacings"), "spacings", path); !spacings.empty()) {
    if (spacings.size() != n) throw_bad_header(path, "spacings has another number of values than sizes");
    for (std::size_t i = 0; i < n; ++i)
      if (std::isfinite(spacings[i])) *step[i] = spacings[i];  // "nan": unknown
  }
  const std::string origin_text = header.get("space origin");
  if (!origin_text.empty()) {
    const auto vectors = parse_vectors(origin_text, "space origin", path);
    if (vectors.size() != 1 || vectors[0].size() != n) throw_bad_header(path, "space origin is not one vector");
    for (std::size_t i = 0; i < n; ++i) *origin[i] = vectors[0][i];
  }
  return grid;
}

// "axis mins" and "axis maxs" are those of the middles of the outermost voxels, or of their outer faces where the
// centering is "cell". What the header says of the space, and spacings, go before.
void place_by_axis_limits(VolumeGrid& grid, const NrrdHeader& header, const fs::path& path) {
  const auto limits = [&](const char* key, const char* old_key) {
    const auto numbers = parse_numbers(header.first_of({key, old_key}), key, path);
    if (!numbers.empty() && numbers.size() != parse_integers(header.get("sizes"), "sizes", path).size())
      throw_bad_header(path, format("{} has another number of values than sizes", key));
    return numbers;
  };
  const auto minima = limits("axis mins", "axismins"), maxima = limits("axis maxs", "axismaxs");
  const auto spacings = parse_numbers(header.get("spacings"), "spacings", path);
  std::istringstream centerings(header.first_of({"centerings", "centers"}));
  const bool in_space = header.fields.contains("space directions"), placed = header.fields.contains("space origin");
  const std::int64_t size[] = {grid.nx, grid.ny, grid.nz};
  double* const step[] = {&grid.step_mm.x, &grid.step_mm.y, &grid.step_mm.z};
  double* const origin[] = {&grid.origin_mm.x, &grid.origin_mm.y, &grid.origin_mm.z};
  for (std::size_t i = 0; i < minima.size(); ++i) {
    std::string centering;
    centerings >> centering;
    const bool cell = centering == "cell", known = cell || centering == "node";
    const bool spaced = in_space || (i < spacings.size() && std::isfinite(spacings[i]));
    if (!std::isfinite(minima[i])) continue;
    if (!spaced && i < maxima.size() && std::isfinite(maxima[i])) {
      if (!known)
        throw_unsupported_header(path, "axis mins and axis maxs without centerings",
                                 "say whether they are of the voxels' middles or faces: centerings: node node node, or "
                                 "cell cell cell");
      const std::int64_t steps = cell ? size[i] : size[i] - 1;
      if (steps > 0) *step[i] = (maxima[i] - minima[i]) / static_cast<double>(steps);
    }
    if (!placed) *origin[i] = minima[i] + (cell ? 0.5 * *step[i] : 0.0);
  }
}

// "\"mm\" \"mm\" \"um\"" -> what is between the quotes.
std::vector<std::string> parse_quoted(const std::string& text, const std::string& key, const fs::path& path) {
  std::vector<std::string> words;
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const std::size_t close = rest.find('"', 1);
    if (rest.front() != '"' || close == std::string_view::npos)
      throw_bad_header(path, format("{} is not a list of words in quotes", key));
    words.emplace_back(trimmed(rest.substr(1, close - 1)));
    rest = trimmed(rest.substr(close + 1));
  }
  return words;
}

// "space units" belong to the directions and the origin in space, "units" to spacings and axis mins; whoever has only
// one of the two keys means it for both.
void into_millimetres(VolumeGrid& grid, const NrrdHeader& header, const fs::path& path) {
  const auto apply = [&](bool in_space, Vec3& lengths) {
    const bool space_units = header.fields.contains("space units") && (in_space || !header.fields.contains("units"));
    const std::string key = space_units ? "space units" : "units";
    const auto units = parse_quoted(header.get(key), key, path);
    if (!units.empty() && units.size() != parse_integers(header.get("sizes"), "sizes", path).size())
      throw_bad_header(path, format("{} has another number of words than sizes", key));
    double* const length[] = {&lengths.x, &lengths.y, &lengths.z};
    for (std::size_t i = 0; i < units.size(); ++i) *length[i] *= length_unit_mm(units[i], key, path);
  };
  apply(header.fields.contains("space directions"), grid.step_mm);
  apply(header.fields.contains("space origin"), grid.origin_mm);
}

std::string data_name(const NrrdHeader& header) { return header.first_of({"data file", "datafile"}); }

fs::path data_path_of(const NrrdHeader& header, const fs::path& path) {
  const std::string name = data_name(header);
  if (name.starts_with("LIST") || name.find('%') != std::string::npos)
    throw_unsupported_header(path, format("data file: {}", name), "join the slices into one file");
  return name.empty() ? path : beside(path, name);
}

}  // namespace

fs::path data_of_nrrd(const fs::path& path) { return data_path_of(parse_nrrd_header(InputFile(path)), path); }

std::unique_ptr<StackWriter> create_nrrd(const StackTarget& target, std::int64_t provenance_room) {
  return std::make_unique<NrrdWriter>(target, std::max<std::int64_t>(provenance_room, 2));
}

StoredStack read_nrrd(const fs::path& path, StackOf content) {
  const InputFile file(path);
  NrrdHeader header = parse_nrrd_header(file);
  const std::string encoding = lower_case(header.get("encoding"));
  if (encoding != "raw")
    throw_unsupported_header(path, format("encoding: {}", encoding), "write it with encoding raw (unu save -e raw)");
  const PixelType type = type_of(header, path);
  VolumeGrid grid = grid_of(header, path);
  if (content == StackOf::slices) {
    place_by_axis_limits(grid, header, path);
    into_millimetres(grid, header, path);
  }
  check_grid(grid, type, path);
  const std::string endian = lower_case(header.get("endian"));
  if (bytes_per_pixel(type) > 1 && endian != "little" && endian != "big")
    throw_bad_header(path, format("endian is '{}', expected little or big", endian));

  const fs::path data_path = data_path_of(header, path);
  std::int64_t offset = data_name(header).empty() ? header.bytes : 0;
  if (!header.first_of({"line skip", "lineskip"}).empty() && header.first_of({"line skip", "lineskip"}) != "0")
    throw_unsupported_header(path, "line skip", "use byte skip");
  const auto skip = parse_integers(header.first_of({"byte skip", "byteskip"}), "byte skip", path);
  if (!skip.empty()) {
    const std::int64_t size = InputFile(data_path).size();
    const std::int64_t data = grid.voxels() * bytes_per_pixel(type);
    if (skip.size() != 1 || skip[0] < -1 || skip[0] > size) throw_bad_header(path, "byte skip is impossible");
    if (skip[0] == -1 && size < data)
      throw_bad_header(path, format("expected {} bytes of voxels, the file has {}", data, size));
    offset = skip[0] == -1 ? size - data : offset + skip[0];
  }
  ValueScale scale;
  for (const auto& [key, number] :
       {std::pair{nrrd_slope_key, &scale.slope}, std::pair{nrrd_offset_key, &scale.offset}}) {
    const auto numbers = parse_numbers(header.values[key], key, path);
    if (numbers.size() > 1) throw_bad_header(path, format("{} is not one number", key));
    if (!numbers.empty()) *number = numbers.front();
  }
  if (!scale.is_usable()) throw_bad_header(path, format("{} or {} is impossible", nrrd_slope_key, nrrd_offset_key));
  std::string provenance = header.values[nrrd_provenance_key];
  if (provenance.empty()) provenance = read_provenance_side_car(side_car_of(path));
  if (!is_json(provenance, path.string())) provenance.clear();
  const RawLayout layout{.columns = grid.nx,
                         .rows = grid.ny,
                         .frames_per_file = grid.nz,
                         .type = type,
                         .header_bytes = offset,
                         .big_endian = endian == "big"};
  return {open_raw_frames({data_path}, layout, TrailingBytes::ignore),
          {.grid = grid, .format = "NRRD", .unit = header.values[unit_key], .provenance = provenance, .scale = scale}};
}

}  // namespace lepus
