// SPDX-License-Identifier: Apache-2.0
// DICOM images as frames (X-ray projections, enhanced or not) and as volumes: a CT series, or an enhanced multi-frame
// object. Pixels are read in place; the rescale that the object states is applied.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/folder.h"
#include "core/format.h"
#include "io/dicom_file.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/header_text.h"
#include "io/json_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

struct DicomSlice {
  std::size_t file = 0;
  std::int64_t offset = 0;
  Vec3 position_mm;
};

struct DicomImages {
  std::int64_t rows = 0, columns = 0, frames = 1, offset = 0;
  PixelType type = PixelType::u16;
  ValueScale scale;
  std::string unit, series;
  std::vector<Vec3> positions_mm;               // of the first pixel of each frame, or none
  std::vector<double> orientation, spacing_mm;  // six cosines; rows, columns
  double thickness_mm = 1;
};

std::int64_t integer_of(const DicomItem& item, DicomTag tag, std::int64_t otherwise) {
  const DicomElement* element = item.find(tag);
  if (!element || element->value.size() < 2) return otherwise;
  std::uint16_t value = 0;
  std::memcpy(&value, element->value.data(), 2);
  return value;
}

// What stands in the object itself, or in its functional groups: those of the frame before those of all frames.
class FrameItems {
public:
  FrameItems(const DicomItem& object, std::size_t frame) : object_(object) {
    if (const DicomElement* each = object.find(0x52009230); each && frame < each->items.size())
      groups_.push_back(&each->items[frame]);
    if (const DicomItem* shared = object.first_item(0x52009229)) groups_.push_back(shared);
  }
  // The item that holds the elements of `group`.
  const DicomItem& in(DicomTag group) const {
    for (const DicomItem* item : groups_)
      if (const DicomItem* found = item->first_item(group)) return *found;
    return object_;
  }

private:
  const DicomItem& object_;
  std::vector<const DicomItem*> groups_;
};

PixelType type_of(const DicomFile& dicom, const fs::path& file) {
  if (dicom.pixel_tag == 0x7FE00008) return PixelType::f32;
  if (dicom.pixel_tag == 0x7FE00009) return PixelType::f64;
  const std::int64_t bits = integer_of(dicom.data, 0x00280100, 16), stored = integer_of(dicom.data, 0x00280101, bits);
  const bool with_sign = integer_of(dicom.data, 0x00280103, 0) == 1;
  if (with_sign && stored != bits)
    throw_unsupported_header(file, format("signed numbers of {} bits in {}", stored, bits), "write all of the bits");
  if (bits == 8) return with_sign ? PixelType::i8 : PixelType::u8;
  if (bits == 16) return with_sign ? PixelType::i16 : PixelType::u16;
  if (bits == 32) return with_sign ? PixelType::i32 : PixelType::u32;
  throw_unsupported_header(file, format("{} bits per pixel", bits), "lepus reads 8, 16 and 32 bits");
}

ValueScale scale_of(const DicomItem& transform, const fs::path& file) {
  const auto slope = transform.numbers(0x00281053, file), intercept = transform.numbers(0x00281052, file);
  const ValueScale scale{slope.size() == 1 ? slope[0] : 1, intercept.size() == 1 ? intercept[0] : 0};
  if (!scale.is_usable()) throw_bad_header(file, format("a rescale by {} and {}", scale.slope, scale.offset));
  return scale;
}

DicomImages images_of(const fs::path& file) {
  const DicomFile dicom = read_dicom_file(file);
  DicomImages images;
  images.rows = integer_of(dicom.data, 0x00280010, 0);
  images.columns = integer_of(dicom.data, 0x00280011, 0);
  const auto frames = parse_integers(dicom.data.text(0x00280008), "NumberOfFrames", file);
  if (frames.size() == 1) images.frames = frames[0];
  images.type = type_of(dicom, file);
  if (integer_of(dicom.data, 0x00280002, 1) != 1) throw_unsupported_header(file, "colour", "write grey values");
  const auto bytes = checked_product(images.rows, images.columns, images.frames, bytes_per_pixel(images.type));
  if (!bytes || *bytes > dicom.pixel_bytes)
    throw_bad_header(file, format("{} frames of {} have more than the {} bytes of pixels", images.frames,
                                  describe(images.columns, images.rows, images.type), dicom.pixel_bytes));
  images.offset = dicom.pixel_offset;
  images.series = dicom.data.text(0x0020000E);
  const FrameItems first(dicom.data, 0);
  images.scale = scale_of(first.in(0x00289145), file);
  images.unit = first.in(0x00289145).text(0x00281054);
  images.orientation = first.in(0x00209116).numbers(0x00200037, file);
  images.spacing_mm = first.in(0x00289110).numbers(0x00280030, file);
  if (const auto t = first.in(0x00289110).numbers(0x00180050, file); t.size() == 1) images.thickness_mm = t[0];
  for (std::int64_t k = 0; k < images.frames; ++k) {
    const FrameItems frame(dicom.data, static_cast<std::size_t>(k));
    if (scale_of(frame.in(0x00289145), file) != images.scale)
      throw_unsupported_header(file, "frames with a rescale of their own", "write one rescale for all of them");
    const auto position = frame.in(0x00209113).numbers(0x00200032, file);
    if (position.size() == 3) images.positions_mm.push_back({position[0], position[1], position[2]});
  }
  return images;
}

void check_alike(const DicomImages& first, const DicomImages& here, const fs::path& first_file, const fs::path& file) {
  if (here.rows != first.rows || here.columns != first.columns || here.type != first.type)
    throw_other_size(file.string(), describe(first.columns, first.rows, first.type),
                     describe(here.columns, here.rows, here.type), first_file.string());
  if (here.scale != first.scale)
    throw_unsupported_header(file, "a rescale that is not that of the first file", "write one rescale for all of them");
}

// As they are stored: the rescale is still to be applied.
std::unique_ptr<FrameSource> source_of(const DicomImages& first, std::vector<fs::path> files,
                                       std::vector<PlainImages::Run> runs) {
  return plain_frames({.files = std::move(files),
                       .runs = std::move(runs),
                       .columns = first.columns,
                       .rows = first.rows,
                       .type = first.type,
                       .big_endian = false});
}

// Along which way the rows, columns or slices go: the size of the step with its sign.
double axis_step(const std::vector<double>& cosines, std::size_t start, std::size_t axis, double spacing,
                 const fs::path& file) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!(std::abs(std::abs(cosines[start + i]) - (i == axis ? 1 : 0)) < 1e-4))
      throw_unsupported_header(file, "the slices are turned", "resample the volume onto the x, y and z axes");
  return cosines[start + axis] * spacing;
}

VolumeGrid grid_of(const DicomImages& first, const std::vector<DicomSlice>& slices, const fs::path& file) {
  VolumeGrid grid{.nx = first.columns,
                  .ny = first.rows,
                  .nz = static_cast<std::int64_t>(slices.size()),
                  .origin_mm = {},
                  .step_mm = {1, 1, 1}};
  if (first.spacing_mm.size() == 2) {
    grid.step_mm = {first.spacing_mm[1], first.spacing_mm[0], first.thickness_mm};
    if (first.orientation.size() == 6) {
      grid.step_mm.x = axis_step(first.orientation, 0, 0, first.spacing_mm[1], file);
      grid.step_mm.y = axis_step(first.orientation, 3, 1, first.spacing_mm[0], file);
    }
  }
  if (first.positions_mm.empty()) return grid;
  grid.origin_mm = slices.front().position_mm;
  if (slices.size() < 2) return grid;
  grid.step_mm.z =
      (slices.back().position_mm.z - slices.front().position_mm.z) / static_cast<double>(slices.size() - 1);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const Vec3 p = slices[k].position_mm;
    const double expected = grid.origin_mm.z + static_cast<double>(k) * grid.step_mm.z;
    const double slack = 0.01 * std::abs(grid.step_mm.z);
    if (!(std::abs(p.z - expected) <= slack) || !(std::abs(p.x - grid.origin_mm.x) <= slack) ||
        !(std::abs(p.y - grid.origin_mm.y) <= slack))
      throw Error(ErrorKind::input, {.what = "slices are not one after another in equal steps",
                                     .where = file.string(),
                                     .why = format("slice {} is at z = {:g} mm, {:g} was expected", k, p.z, expected),
                                     .hint = "a slice is missing, comes twice, or belongs to another series"});
  }
  return grid;
}

}  // namespace

std::unique_ptr<FrameSource> open_dicom_frames(const std::vector<fs::path>& files) {
  std::vector<PlainImages::Run> runs;
  const DicomImages first = images_of(files.at(0));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const DicomImages here = i == 0 ? first : images_of(files[i]);
    check_alike(first, here, files.front(), files[i]);
    runs.push_back({.file = i, .offset = here.offset, .count = here.frames, .label = {}, .alone = here.frames == 1});
  }
  return converted_frames(source_of(first, files, std::move(runs)),
                          first.scale.is_identity() ? StoredNumber::pixel : StoredNumber::scaled, first.scale);
}

std::vector<fs::path> dicom_files_of(const fs::path& folder) {
  for (const fs::path& file : entries_of(folder))
    if (file.extension() == ".dcm") return expand_pattern(folder, "*.dcm");  // an error where nothing matches
  return {};
}

std::unique_ptr<VolumeReader> open_dicom_volume(const std::vector<fs::path>& files, const fs::path& side_car) {
  std::vector<DicomSlice> slices;
  const DicomImages first = images_of(files.at(0));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const DicomImages here = i == 0 ? first : images_of(files[i]);
    check_alike(first, here, files.front(), files[i]);
    if (here.series != first.series)
      throw Error(ErrorKind::input, {.what = "the folder holds several series",
                                     .where = files[i].string(),
                                     .why = format("it belongs to series {}, {} to {}", here.series,
                                                   files.front().filename().string(), first.series),
                                     .hint = "put each series into a folder of its own"});
    const bool placed = static_cast<std::int64_t>(here.positions_mm.size()) == here.frames;
    if (placed != (static_cast<std::int64_t>(first.positions_mm.size()) == first.frames))
      throw_bad_header(files[i], "it has no position, and others have");
    const std::int64_t bytes = here.rows * here.columns * bytes_per_pixel(here.type);
    for (std::int64_t k = 0; k < here.frames; ++k)
      slices.push_back({i, here.offset + k * bytes, placed ? here.positions_mm[static_cast<std::size_t>(k)] : Vec3{}});
  }
  std::stable_sort(slices.begin(), slices.end(),
                   [](const DicomSlice& a, const DicomSlice& b) { return a.position_mm.z < b.position_mm.z; });
  const VolumeGrid grid = grid_of(first, slices, files.front());
  check_grid(grid, first.type, files.front());
  std::vector<PlainImages::Run> runs;
  runs.reserve(slices.size());
  for (const DicomSlice& slice : slices)
    runs.push_back({.file = slice.file, .offset = slice.offset, .count = 1, .label = {}, .alone = true});
  const std::string unit = first.unit == "US" ? "" : first.unit;
  return volume_of_frames(source_of(first, files, std::move(runs)), {.grid = grid,
                                                                     .format = "DICOM",
                                                                     .unit = unit,
                                                                     .provenance = read_provenance_side_car(side_car),
                                                                     .scale = first.scale});
}

}  // namespace lepus
