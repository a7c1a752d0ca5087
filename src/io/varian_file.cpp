// SPDX-License-Identifier: Apache-2.0
#include "io/varian_file.h"

#include <algorithm>

#include "core/format.h"
#include "io/byte_text.h"
#include "io/file.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view xim_signature("\0VMS.XI\0", 8);

// Reads a file front to back; whatever lengths it claims must lie inside it.
class HeaderWalk {
public:
  explicit HeaderWalk(const fs::path& path) : file_(path) {}

  template <class Number>
  Number next() {
    Number number;
    take(&number, sizeof number);
    return number;
  }
  std::string text(std::int64_t bytes) {
    check(bytes);
    std::string text(static_cast<std::size_t>(bytes), '\0');
    take(text.data(), bytes);
    return text;
  }
  std::int64_t skip(std::int64_t bytes) {  // where the skipped part begins
    check(bytes);
    at_ += bytes;
    return at_ - bytes;
  }
  const fs::path& path() const { return file_.path(); }

private:
  void check(std::int64_t bytes) const {
    if (bytes < 0 || bytes > file_.size() - at_)
      throw_bad_header(path(),
                       format("{} bytes are said to follow byte {}, the file has {}", bytes, at_, file_.size()));
  }
  void take(void* out, std::int64_t bytes) {
    check(bytes);
    file_.read(at_, out, bytes);
    at_ += bytes;
  }
  InputFile file_;
  std::int64_t at_ = 0;
};

template <class Number>
void read_array(HeaderWalk& walk, VarianField& field) {
  const auto bytes = walk.next<std::int32_t>();
  const std::string values = walk.text(bytes);
  for (std::size_t at = 0; at + sizeof(Number) <= values.size(); at += sizeof(Number))
    field.numbers.push_back(static_cast<double>(number_at<Number>(values, at)));
}

VarianField read_property(HeaderWalk& walk) {
  VarianField field;
  field.name = walk.text(walk.next<std::int32_t>());
  switch (const auto type = walk.next<std::int32_t>()) {
    case 0:
      field.numbers = {static_cast<double>(walk.next<std::int32_t>())};
      break;
    case 1:
      field.numbers = {walk.next<double>()};
      break;
    case 2:
      field.text = walk.text(walk.next<std::int32_t>());
      return field;
    case 4:
      read_array<double>(walk, field);
      break;
    case 5:
      read_array<std::int32_t>(walk, field);
      break;
    default:
      throw_bad_header(walk.path(), format("property {} has type {}", field.name.substr(0, 60), type));
  }
  for (const double number : field.numbers) field.text += format("{}{}", field.text.empty() ? "" : " ", number);
  return field;
}

void check_size(const VarianImage& image, const fs::path& path) {
  if (!checked_product(image.columns, image.rows, 4))
    throw_bad_header(path, format("its image has {} columns and {} rows", image.columns, image.rows));
}

// The header of .hnd and .hnc: name, and its kind: text of so many bytes, or a number ('i' 4 bytes, 'd' 8 bytes).
struct ObiPlace {
  const char* name;
  char kind;
  int bytes;
};
constexpr ObiPlace obi_places[] = {{"FileType", 't', 32},
                                   {"FileLength", 'i', 4},
                                   {"ChecksumSpec", 't', 4},
                                   {"CheckSum", 'i', 4},
                                   {"CreationDate", 't', 8},
                                   {"CreationTime", 't', 8},
                                   {"PatientID", 't', 16},
                                   {"PatientSer", 'i', 4},
                                   {"SeriesID", 't', 16},
                                   {"SeriesSer", 'i', 4},
                                   {"SliceID", 't', 16},
                                   {"SliceSer", 'i', 4},
                                   {"SizeX", 'i', 4},
                                   {"SizeY", 'i', 4},
                                   {"SliceZPos", 'd', 8},
                                   {"Modality", 't', 16},
                                   {"Window", 'i', 4},
                                   {"Level", 'i', 4},
                                   {"PixelOffset", 'i', 4},
                                   {"ImageType", 't', 4},
                                   {"GantryRtn", 'd', 8},
                                   {"SAD", 'd', 8},
                                   {"SFD", 'd', 8},
                                   {"CollX1", 'd', 8},
                                   {"CollX2", 'd', 8},
                                   {"CollY1", 'd', 8},
                                   {"CollY2", 'd', 8},
                                   {"CollRtn", 'd', 8},
                                   {"FieldX", 'd', 8},
                                   {"FieldY", 'd', 8},
                                   {"BladeX1", 'd', 8},
                                   {"BladeX2", 'd', 8},
                                   {"BladeY1", 'd', 8},
                                   {"BladeY2", 'd', 8},
                                   {"IDUPosLng", 'd', 8},
                                   {"IDUPosLat", 'd', 8},
                                   {"IDUPosVrt", 'd', 8},
                                   {"IDUPosRtn", 'd', 8},
                                   {"PatientSupportAngle", 'd', 8},
                                   {"TableTopEccentricAngle", 'd', 8},
                                   {"CouchVrt", 'd', 8},
                                   {"CouchLng", 'd', 8},
                                   {"CouchLat", 'd', 8},
                                   {"IDUResolutionX", 'd', 8},
                                   {"IDUResolutionY", 'd', 8},
                                   {"ImageResolutionX", 'd', 8},
                                   {"ImageResolutionY", 'd', 8},
                                   {"Energy", 'd', 8},
                                   {"DoseRate", 'd', 8},
                                   {"XRayKV", 'd', 8},
                                   {"XRayMA", 'd', 8},
                                   {"MetersetExposure", 'd', 8},
                                   {"AcqAdjustment", 'd', 8},
                                   {"CTProjectionAngle", 'd', 8},
                                   {"CTNormChamber", 'd', 8},
                                   {"GatingTimeTag", 'd', 8},
                                   {"Gating4DInfoX", 'd', 8},
                                   {"Gating4DInfoY", 'd', 8},
                                   {"Gating4DInfoZ", 'd', 8},
                                   {"Gating4DInfoTime", 'd', 8}};

VarianImage read_obi_header(const fs::path& path) {
  HeaderWalk walk(path);
  VarianImage image;
  for (const ObiPlace& place : obi_places) {
    VarianField field{place.name, {}, {}};
    if (place.kind == 't') {
      field.text = text_at(walk.text(place.bytes), 0, static_cast<std::size_t>(place.bytes));
    } else {
      field.numbers = {place.kind == 'i' ? static_cast<double>(walk.next<std::uint32_t>()) : walk.next<double>()};
      field.text = format("{}", field.numbers.front());
    }
    image.fields.push_back(std::move(field));
  }
  image.columns = static_cast<std::int64_t>(*image.number("SizeX"));
  image.rows = static_cast<std::int64_t>(*image.number("SizeY"));
  check_size(image, path);
  return image;
}

}  // namespace

std::optional<double> VarianImage::number(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const VarianField& f) { return f.name == name && !f.numbers.empty(); });
  return found == fields.end() ? std::nullopt : std::optional(found->numbers.front());
}

VarianImage read_xim(const fs::path& path) {
  HeaderWalk walk(path);
  if (InputFile(path).head(8) != xim_signature) throw_bad_header(path, "it does not begin as a .xim file");
  walk.skip(8);
  VarianImage image;
  const auto version = walk.next<std::int32_t>();
  image.columns = walk.next<std::int32_t>();
  image.rows = walk.next<std::int32_t>();
  const auto bits = walk.next<std::int32_t>(), pixel_bytes = walk.next<std::int32_t>();
  const bool packed = walk.next<std::int32_t>() == 1;
  if (image.columns != 0 || image.rows != 0) check_size(image, path);
  if (packed) {
    PackedImage place{.columns = image.columns, .rows = image.rows};
    place.table_bytes = walk.next<std::int32_t>();
    place.table_offset = walk.skip(place.table_bytes);
    place.data_bytes = walk.next<std::int32_t>();
    place.data_offset = walk.skip(place.data_bytes);
    walk.skip(4);  // the unpacked size
    image.packed = place;
  } else {
    const std::int64_t bytes = walk.next<std::int32_t>();
    image.data_offset = walk.skip(bytes);
    if (pixel_bytes != 1 && pixel_bytes != 2 && pixel_bytes != 4)
      throw_unsupported_header(path, format("pixels of {} bytes", pixel_bytes), "lepus reads 1, 2 and 4");
    image.type = pixel_bytes == 1 ? PixelType::u8 : pixel_bytes == 2 ? PixelType::u16 : PixelType::i32;
    if (bytes < image.columns * image.rows * pixel_bytes)
      throw_bad_header(path, format("its {} x {} pixels need more than {} bytes", image.columns, image.rows, bytes));
  }
  const auto bins = walk.next<std::int32_t>();
  walk.skip(4 * std::int64_t{bins});
  image.fields = {{"FileVersion", format("{}", version), {double(version)}},
                  {"Width", format("{}", image.columns), {static_cast<double>(image.columns)}},
                  {"Height", format("{}", image.rows), {static_cast<double>(image.rows)}},
                  {"BitsPerPixel", format("{}", bits), {double(bits)}},
                  {"BytesPerPixel", format("{}", pixel_bytes), {double(pixel_bytes)}}};
  const auto properties = walk.next<std::int32_t>();
  for (std::int32_t i = 0; i < properties; ++i) image.fields.push_back(read_property(walk));
  return image;
}

VarianImage read_hnd(const fs::path& path) {
  VarianImage image = read_obi_header(path);
  PackedImage place{.columns = image.columns, .rows = image.rows, .table_offset = 1024};
  place.table_bytes = packed_table_bytes(place.columns, place.rows);
  place.data_offset = place.table_offset + place.table_bytes;
  place.data_bytes = InputFile(path).size() - place.data_offset;
  image.packed = place;
  return image;
}

VarianImage read_hnc(const fs::path& path) {
  VarianImage image = read_obi_header(path);
  image.type = PixelType::u16;
  image.data_offset = 512;
  const std::int64_t bytes = InputFile(path).size(), needed = 512 + 2 * image.columns * image.rows;
  if (bytes < needed)
    throw_bad_header(
        path, format("{} x {} pixels end at byte {}, the file has {}", image.columns, image.rows, needed, bytes));
  return image;
}

VarianImage read_varian_image(const fs::path& path) {
  const std::string ending = lower_extension(path);
  return ending == ".hnd" ? read_hnd(path) : ending == ".hnc" ? read_hnc(path) : read_xim(path);
}

std::string xim_bytes(const std::int32_t* pixels, std::int64_t columns, std::int64_t rows,
                      const std::vector<XimProperty>& properties) {
  std::string bytes(xim_signature);
  const auto add = [&](std::int64_t value) { append_number(bytes, static_cast<std::int32_t>(value)); };
  const PackedBytes packed = pack_rows(pixels, columns, rows);
  for (const std::int64_t value : std::initializer_list<std::int64_t>{0, columns, rows, 32, 4, 1}) add(value);
  add(static_cast<std::int64_t>(packed.table.size()));
  bytes += packed.table;
  add(static_cast<std::int64_t>(packed.data.size()));
  bytes += packed.data;
  add(4 * columns * rows);
  add(0);  // no histogram
  add(static_cast<std::int64_t>(properties.size()));
  for (const XimProperty& property : properties) {
    add(static_cast<std::int64_t>(property.name.size()));
    bytes += property.name;
    add(1);
    append_number(bytes, property.value);
  }
  return bytes;
}

}  // namespace lepus
