// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "core/format.h"
#include "io/edf_file.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t longest_edf_header = 1 << 20;

PixelType edf_type(const EdfImage& image, const fs::path& path) {
  static const std::map<std::string, PixelType> types{{"unsignedbyte", PixelType::u8},
                                                      {"signedbyte", PixelType::i8},
                                                      {"unsignedshort", PixelType::u16},
                                                      {"signedshort", PixelType::i16},
                                                      {"unsignedinteger", PixelType::u32},
                                                      {"signedinteger", PixelType::i32},
                                                      {"unsignedlong", PixelType::u32},
                                                      {"signedlong", PixelType::i32},
                                                      {"float", PixelType::f32},
                                                      {"floatvalue", PixelType::f32},
                                                      {"real", PixelType::f32},
                                                      {"double", PixelType::f64},
                                                      {"doublevalue", PixelType::f64}};
  const std::string name = image.text("DataType");
  const auto found = types.find(lower_case(name));
  if (found == types.end())
    throw_unsupported_header(path, format("DataType = {}", name), "lepus reads integers of up to 32 bits and floats");
  return found->second;
}

const char* edf_name(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return "UnsignedByte";
    case PixelType::i8:
      return "SignedByte";
    case PixelType::u16:
      return "UnsignedShort";
    case PixelType::i16:
      return "SignedShort";
    case PixelType::u32:
      return "UnsignedInteger";
    case PixelType::i32:
      return "SignedInteger";
    case PixelType::f16:
      break;
    case PixelType::f32:
      return "FloatValue";
    case PixelType::f64:
      return "DoubleValue";
  }
  return "";
}

// "name = value ;" each, up to the closing brace; a value may hold anything but a semicolon.
EdfImage parse_edf_header(std::string_view header, const fs::path& path) {
  EdfImage image;
  std::size_t at = header.find('{') + 1;
  while (true) {
    const std::size_t end = header.find(';', at);
    if (end == std::string_view::npos) break;
    const std::string_view line = header.substr(at, end - at);
    at = end + 1;
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos) continue;
    image.fields.emplace_back(std::string(trimmed(line.substr(0, sign))), std::string(trimmed(line.substr(sign + 1))));
  }
  const auto size = [&](const char* name, std::int64_t otherwise) {
    const auto numbers = parse_integers(image.text(name), name, path);
    if (numbers.size() > 1) throw_bad_header(path, format("{} = {}", name, image.text(name)));
    return numbers.empty() ? otherwise : numbers.front();
  };
  image.columns = size("Dim_1", 0);
  image.rows = size("Dim_2", 1);
  if (size("Dim_3", 1) != 1) throw_unsupported_header(path, "Dim_3 is not 1", "write one image after the other");
  image.type = edf_type(image, path);
  const std::string order = lower_case(image.text("ByteOrder"));
  if (!order.empty() && order != "lowbytefirst" && order != "highbytefirst")
    throw_bad_header(path, format("ByteOrder = {}", image.text("ByteOrder")));
  image.big_endian = order == "highbytefirst";
  const std::string packing = lower_case(image.text("Compression"));
  if (!packing.empty() && packing != "none" && packing != "nocompression")
    throw_unsupported_header(path, format("Compression = {}", image.text("Compression")),
                             "write it without compression");
  return image;
}

}  // namespace

std::string EdfImage::text(const std::string& name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const auto& field) { return lower_case(field.first) == lower_case(name); });
  return found == fields.end() ? std::string() : found->second;
}

std::vector<EdfImage> read_edf_headers(const fs::path& path) {
  const InputFile file(path);
  std::vector<EdfImage> images;
  std::int64_t at = 0;
  while (at < file.size()) {
    std::string header;
    std::size_t closing = std::string::npos;
    while (closing == std::string::npos) {
      const auto have = static_cast<std::int64_t>(header.size());
      const std::int64_t more = std::min<std::int64_t>(have == 0 ? 1024 : have, file.size() - at - have);
      if (more <= 0 || have > longest_edf_header)
        throw_bad_header(path, format("the header at byte {} has no end", at));
      header.resize(static_cast<std::size_t>(have + more));
      file.read(at + have, header.data() + have, more);
      if (trimmed(header).empty() && at + have + more == file.size()) return images;  // blanks after the last image
      if (!trimmed(header).starts_with('{')) throw_bad_header(path, format("there is no header at byte {}", at));
      closing = header.find("}\n", have > 0 ? static_cast<std::size_t>(have) - 1 : 0);
    }
    EdfImage image = parse_edf_header(std::string_view(header).substr(0, closing), path);
    image.data_offset = at + static_cast<std::int64_t>(closing) + 2;
    const auto bytes = checked_product(image.columns, image.rows, bytes_per_pixel(image.type));
    if (!bytes) throw_bad_header(path, format("its image has {} columns and {} rows", image.columns, image.rows));
    if (*bytes > file.size() - image.data_offset)
      throw_bad_header(path, format("{} after byte {} do not fit into {} bytes",
                                    describe(image.columns, image.rows, image.type), image.data_offset, file.size()));
    at = image.data_offset + *bytes;
    images.push_back(std::move(image));
  }
  if (images.empty()) throw_bad_header(path, "the file is empty");
  return images;
}

std::string edf_header(std::int64_t columns, std::int64_t rows, PixelType type,
                       const std::vector<std::pair<std::string, std::string>>& more) {
  std::string header = format(
      "{{\nHeaderID = EH:000001:000000:000000 ;\nImage = 1 ;\nByteOrder = LowByteFirst ;\nDataType = {} ;\nDim_1 = {} "
      ";\nDim_2 = {} ;\nSize = {} ;\n",
      edf_name(type), columns, rows, columns * rows * bytes_per_pixel(type));
  for (const auto& [name, value] : more) header += format("{} = {} ;\n", name, value);
  header.append(511 - (header.size() + 1) % 512, ' ');
  return header + "}\n";
}

std::unique_ptr<FrameSource> open_edf_frames(const std::vector<fs::path>& files) {
  PlainImages images;
  images.files = files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::vector<EdfImage> headers = read_edf_headers(files[i]);
    for (const EdfImage& header : headers) {
      if (images.runs.empty()) {
        images.columns = header.columns;
        images.rows = header.rows;
        images.type = header.type;
        images.big_endian = header.big_endian;
      }
      if (header.columns != images.columns || header.rows != images.rows || header.type != images.type ||
          header.big_endian != images.big_endian)
        throw_other_size(files[i].string(), describe(images.columns, images.rows, images.type),
                         describe(header.columns, header.rows, header.type), files.front().string());
      const auto index = static_cast<std::int64_t>(&header - headers.data());
      images.runs.push_back({.file = i,
                             .offset = header.data_offset,
                             .count = 1,
                             .label = image_name(files[i].string(), index, headers.size() == 1),
                             .alone = true});
    }
  }
  return plain_frames(std::move(images));
}

}  // namespace lepus
