// SPDX-License-Identifier: Apache-2.0
// MetaImage volumes: .mha (header and data in one file) and .mhd (data in a .raw beside it), little-endian when
// written; any integer or float type, either byte order when read. https://itk.org/Wiki/ITK/MetaIO/Documentation
#include <algorithm>
#include <cmath>
#include <map>

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

// MetaIO gives a file up when the line of a field it does not know is too long: VTK 9.1 takes 5000 characters and fails
// at 40000; other versions were not tried. So long texts are cut into numbered lines, well below that.
constexpr std::size_t line_limit = 400;
const std::string meta_provenance_key = "lepus_provenance_";
const std::string room_key = "lepus_room";
const std::string slope_key = "ElementToIntensityFunctionSlope", offset_key = "ElementToIntensityFunctionOffset";

std::string provenance_lines(const std::string& provenance) {
  std::string lines;
  int number = 0;
  std::size_t at = 0;
  while (at < provenance.size()) {
    const std::string head = format("{}{:05} = |", meta_provenance_key, number++);
    const std::size_t count = std::min(line_limit - head.size() - 2, provenance.size() - at);
    // Bars keep blanks at the ends of a piece, which readers trim.
    lines += head + provenance.substr(at, count) + "|\n";
    at += count;
  }
  return lines;
}

// Lines of exactly `bytes` bytes that mean nothing. A piece of fewer than the shortest line joins the last one.
std::string room_lines(std::int64_t bytes) {
  const std::string head = room_key + " = ";
  const auto shortest = static_cast<std::int64_t>(head.size()) + 2;
  std::string lines;
  while (bytes > 0) {
    std::int64_t length = std::min<std::int64_t>(bytes, line_limit);
    if (bytes - length > 0 && bytes - length < shortest) length = bytes - shortest;
    lines += head + std::string(static_cast<std::size_t>(length) - head.size() - 1, '.') + "\n";
    bytes -= length;
  }
  return lines;
}

const char* element_name(PixelType type) {
  return type == PixelType::u8    ? "MET_UCHAR"
         : type == PixelType::u16 ? "MET_USHORT"
         : type == PixelType::i16 ? "MET_SHORT"
         : type == PixelType::u32 ? "MET_UINT"
                                  : "MET_FLOAT";
}

class MetaImageWriter final : public HeadedStack {
public:
  MetaImageWriter(const StackTarget& target, std::int64_t room) : HeadedStack(target, ".mhd", room) {
    const VolumeGrid& grid = *target.text.grid;
    const auto sign = [](double step) { return step < 0 ? -1 : 1; };
    const Vec3 size{std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)};
    // In the words that MetaIO has for it.
    const std::string scale =
        target.text.scale.is_identity()
            ? std::string()
            : format("{} = {}\n{} = {}\n", slope_key, target.text.scale.slope, offset_key, target.text.scale.offset);
    begin(format("ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
                 "CompressedData = False\nTransformMatrix = {} 0 0 0 {} 0 0 0 {}\nOffset = {}\n"
                 "CenterOfRotation = 0 0 0\nElementSpacing = {}\nDimSize = {} {} {}\nlepus_length_unit = mm\n"
                 "lepus_value_unit = {}\n{}",
                 sign(grid.step_mm.x), sign(grid.step_mm.y), sign(grid.step_mm.z), joined(grid.origin_mm, " "),
                 joined(size, " "), grid.nx, grid.ny, grid.nz, target.text.unit, scale),
          format("ElementType = {}\nElementDataFile = {}\n", element_name(target.shape.type),
                 detached() ? data_.target().filename().string() : std::string("LOCAL")));
  }

private:
  std::string provenance_text(const std::string& provenance) const override { return provenance_lines(provenance); }
  bool can_fill(std::int64_t bytes) const override {
    return bytes == 0 || bytes >= static_cast<std::int64_t>(room_key.size()) + 5;
  }
  std::string filler(std::int64_t bytes) const override { return room_lines(bytes); }
};

struct MetaHeader {
  std::map<std::string, std::string> fields;  // keys in lower case: MetaIO takes any
  std::string provenance;
  std::int64_t bytes = 0;
  bool has(const char* key) const { return fields.count(key) != 0; }
  std::string get(const char* key, const std::string& fallback = {}) const {
    const auto found = fields.find(key);
    return found == fields.end() ? fallback : found->second;
  }
  bool yes(const char* key) const {
    const std::string value = lower_case(get(key));
    return !value.empty() && (value[0] == 't' || value[0] == '1' || value[0] == 'y');
  }
  // The first of several spellings of one thing.
  std::string first_of(std::initializer_list<const char*> keys) const {
    for (const char* key : keys)
      if (has(key)) return get(key);
    return {};
  }
};

MetaHeader parse_meta_header(const InputFile& file) {
  constexpr std::int64_t limit = std::int64_t{64} << 20;
  MetaHeader header;
  std::string text;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) {
      const std::int64_t have = static_cast<std::int64_t>(text.size());
      if (have >= std::min(file.size(), limit)) throw_bad_header(file.path(), "there is no line ElementDataFile = ...");
      const std::int64_t more = std::min({std::max<std::int64_t>(have, 4096), file.size() - have, limit - have});
      text.resize(static_cast<std::size_t>(have + more));
      file.read(have, text.data() + have, more);
      continue;
    }
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.empty()) continue;
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos)
      throw_bad_header(file.path(), format("line '{}' is not 'key = value'", line.substr(0, 60)));
    const std::string key = lower_case(std::string(trimmed(line.substr(0, sign))));
    const std::string_view value = trimmed(line.substr(sign + 1));
    if (key.starts_with(meta_provenance_key)) {
      if (value.size() >= 2) header.provenance += value.substr(1, value.size() - 2);
      continue;
    }
    header.fields[key] = std::string(value);
    if (key == "elementdatafile") break;  // by the format's definition the last field
  }
  header.bytes = static_cast<std::int64_t>(at);
  return header;
}

PixelType element_type(const MetaHeader& header, const fs::path& path) {
  static const std::map<std::string, PixelType> types{{"MET_CHAR", PixelType::i8},   {"MET_UCHAR", PixelType::u8},
                                                      {"MET_SHORT", PixelType::i16}, {"MET_USHORT", PixelType::u16},
                                                      {"MET_INT", PixelType::i32},   {"MET_UINT", PixelType::u32},
                                                      {"MET_LONG", PixelType::i32},  {"MET_ULONG", PixelType::u32},
                                                      {"MET_FLOAT", PixelType::f32}, {"MET_DOUBLE", PixelType::f64}};
  const std::string name = header.get("elementtype");
  if (name.empty()) throw_bad_header(path, "ElementType is missing");
  const auto found = types.find(name);
  if (found == types.end()) throw_unsupported_header(path, format("ElementType = {}", name), "convert it to MET_FLOAT");
  return found->second;
}

VolumeGrid grid_of(const MetaHeader& header, const fs::path& path) {
  const std::vector<std::int64_t> size = parse_integers(header.get("dimsize"), "DimSize", path);
  if (size.size() < 2 || size.size() > 4 || (size.size() == 4 && size[3] != 1))
    throw_unsupported_header(path, format("DimSize has {} numbers", size.size()), "lepus reads 2-D and 3-D images");
  const std::size_t n = size.size();
  if (const auto dimensions = parse_integers(header.get("ndims"), "NDims", path);
      !dimensions.empty() && (dimensions.size() != 1 || dimensions[0] != static_cast<std::int64_t>(n)))
    throw_bad_header(path, format("NDims is {}, DimSize has {} numbers", header.get("ndims"), n));
  VolumeGrid grid{.nx = size[0], .ny = size[1], .nz = n > 2 ? size[2] : 1, .origin_mm = {}, .step_mm = {1, 1, 1}};
  double* const step[] = {&grid.step_mm.x, &grid.step_mm.y, &grid.step_mm.z};
  double* const origin[] = {&grid.origin_mm.x, &grid.origin_mm.y, &grid.origin_mm.z};
  const std::string spacing_text = header.first_of({"elementspacing", "elementsize"});
  const std::string origin_text = header.first_of({"offset", "position", "origin"});
  const std::string matrix_text = header.first_of({"transformmatrix", "orientation", "rotation"});
  const auto spacing = parse_numbers(spacing_text, "ElementSpacing", path);
  const auto offset = parse_numbers(origin_text, "Offset", path);
  const auto matrix = parse_numbers(matrix_text, "TransformMatrix", path);
  if ((!spacing.empty() && spacing.size() != n) || (!offset.empty() && offset.size() != n) ||
      (!matrix.empty() && matrix.size() != n * n))
    throw_bad_header(path, "ElementSpacing, Offset or TransformMatrix has another number of values than DimSize");
  for (std::size_t i = 0; i < std::min<std::size_t>(n, 3); ++i) {
    if (!spacing.empty()) *step[i] = spacing[i];
    if (!offset.empty()) *origin[i] = offset[i];
    for (std::size_t j = 0; j < n && !matrix.empty(); ++j) {
      const double want = i == j ? 1 : 0;
      if (!(std::abs(std::abs(matrix[i * n + j]) - want) < 1e-6))
        throw_unsupported_header(path, format("TransformMatrix = {}: the axes are turned", matrix_text),
                                 "resample the volume onto the x, y and z axes");
    }
    if (!matrix.empty() && matrix[i * n + i] < 0) *step[i] = -*step[i];
  }
  return grid;
}

bool has_data_itself(const MetaHeader& header) {
  const std::string name = header.get("elementdatafile");
  return name == "LOCAL" || name == "Local" || name == "local";
}

fs::path data_path_of(const MetaHeader& header, const fs::path& path) {
  const std::string name = header.get("elementdatafile");
  if (has_data_itself(header)) return path;
  if (name.empty()) throw_bad_header(path, "ElementDataFile names no file");
  if (name.starts_with("LIST") || name.find('%') != std::string::npos)
    throw_unsupported_header(path, format("ElementDataFile = {}", name), "join the slices into one file");
  return beside(path, name);
}

}  // namespace

fs::path data_of_meta_image(const fs::path& path) { return data_path_of(parse_meta_header(InputFile(path)), path); }

std::unique_ptr<StackWriter> create_meta_image(const StackTarget& target, std::int64_t provenance_room) {
  return std::make_unique<MetaImageWriter>(target, provenance_room);
}

StoredStack read_meta_image(const fs::path& path, StackOf content) {
  const InputFile file(path);
  MetaHeader header = parse_meta_header(file);
  if (header.yes("compresseddata"))
    throw_unsupported_header(path, "CompressedData = True", "write it without compression");
  if (header.has("binarydata") && !header.yes("binarydata"))
    throw_unsupported_header(path, "BinaryData = False (numbers as text)", "write it as binary data");
  if (header.get("elementnumberofchannels", "1") != "1")
    throw_unsupported_header(path, "several values per voxel", "write one channel");
  const PixelType type = element_type(header, path);
  VolumeGrid grid = grid_of(header, path);
  if (content == StackOf::slices) {
    const double mm = length_unit_mm(header.get("distanceunits"), "DistanceUnits", path);
    grid.step_mm = mm * grid.step_mm;
    grid.origin_mm = mm * grid.origin_mm;
  }
  check_grid(grid, type, path);

  const fs::path data_path = data_path_of(header, path);
  std::int64_t offset = has_data_itself(header) ? header.bytes : 0;
  if (header.has("headersize")) {
    const auto skip = parse_integers(header.get("headersize"), "HeaderSize", path);
    const std::int64_t size = InputFile(data_path).size();
    const std::int64_t data = grid.voxels() * bytes_per_pixel(type);
    if (skip.size() != 1 || skip[0] < -1 || skip[0] > size) throw_bad_header(path, "HeaderSize is impossible");
    if (skip[0] == -1) {
      if (size < data) throw_bad_header(path, format("expected {} bytes of voxels, the file has {}", data, size));
      offset = size - data;  // -1: the data are the last bytes of the file
    } else {
      offset += skip[0];
    }
  }
  ValueScale scale;
  for (const auto& [key, number] : {std::pair{slope_key, &scale.slope}, std::pair{offset_key, &scale.offset}}) {
    const auto numbers = parse_numbers(header.get(lower_case(key).c_str()), key, path);
    if (numbers.size() > 1) throw_bad_header(path, format("{} is not one number", key));
    if (!numbers.empty()) *number = numbers.front();
  }
  if (!scale.is_usable()) throw_bad_header(path, format("{} or {} is impossible", slope_key, offset_key));
  std::string provenance = header.provenance;
  if (provenance.empty()) provenance = read_provenance_side_car(side_car_of(path));
  if (!is_json(provenance, path.string())) provenance.clear();
  const RawLayout layout{.columns = grid.nx,
                         .rows = grid.ny,
                         .frames_per_file = grid.nz,
                         .type = type,
                         .header_bytes = offset,
                         .big_endian = header.yes("binarydatabyteordermsb") || header.yes("elementbyteordermsb")};
  return {open_raw_frames({data_path}, layout, TrailingBytes::ignore),
          {.grid = grid,
           .format = "MetaImage",
           .unit = header.get("lepus_value_unit"),
           .provenance = provenance,
           .scale = scale}};
}

}  // namespace lepus
