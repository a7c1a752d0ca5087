// SPDX-License-Identifier: Apache-2.0
// open_frames: which reader a list of files needs; what all readers share.
#include "io/frames.h"

#include <algorithm>

#include "core/format.h"
#include "core/text.h"
#include "core/memory.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/frame_sources.h"
#include "io/header_text.h"
#include "io/json_text.h"
#include "io/pixels.h"
#include "io/stack.h"
#include "io/stored_array.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

// Any order of three axes is made of two exchanges: that of the first two, and that of the last two.
std::unique_ptr<FrameSource> in_order_of_views(std::unique_ptr<FrameSource> stored, FrameOrder order) {
  switch (order) {
    case FrameOrder::frames:
      return stored;
    case FrameOrder::sinograms:
      return frames_from_sinograms(std::move(stored));
    case FrameOrder::frames_turned:
      return turned_images(std::move(stored));
    case FrameOrder::sinograms_turned:
      return frames_from_sinograms(turned_images(std::move(stored)), turned_blocks);
    case FrameOrder::columns_turned:
      return turned_images(frames_from_sinograms(std::move(stored), turned_blocks));
    case FrameOrder::columns:
      return turned_images(frames_from_sinograms(turned_images(std::move(stored)), turned_blocks));
  }
  return stored;
}

namespace {

std::unique_ptr<FrameSource> in_selection(std::unique_ptr<FrameSource> all, const std::vector<std::int64_t>& images) {
  if (images.empty()) return all;
  const std::int64_t rows = all->rows();
  return select_frames(std::move(all), {images, 0, 1, rows});
}

// RTK's form: all frames in one file, whose third axis counts them.
StoredFrames open_single_stack(const std::vector<fs::path>& files, FileKind kind) {
  if (files.size() > 1)
    throw Error(ErrorKind::unsupported, {.what = "frames in several MetaImage or NRRD files",
                                         .where = files[1].string(),
                                         .why = "lepus reads one such file that holds all frames",
                                         .hint = "join them, or convert them to TIFF"});
  const auto read = kind == FileKind::nrrd ? read_nrrd : read_meta_image;
  StoredStack stack = read(files[0], StackOf::frames);
  return {std::move(stack.images), stack.info.scale};
}

// The first side-car says how the pixels lie in all files; those of the others, where there are any, may not contradict
// what it says of the values.
StoredFrames open_described_raw(const std::vector<fs::path>& files) {
  const StackDescription first = read_raw_side_car(files.front());
  std::error_code code;
  for (const fs::path& file : files)
    if (fs::exists(side_car_of(file), code))
      check_same_scale(read_raw_side_car(file).text.scale, first.text.scale, file);
  return {open_raw_frames(files, raw_layout(first)), first.text.scale};
}

std::unique_ptr<FrameSource> in_values(StoredFrames stored) {
  return converted_frames(std::move(stored.images),
                          stored.scale.is_identity() ? StoredNumber::pixel : StoredNumber::scaled, stored.scale);
}

}  // namespace

std::string image_name(const std::string& file, std::int64_t index, bool alone) {
  return alone ? file : format("{}[{}]", file, index);
}

void check_band(const FrameSource& source, std::int64_t frame, std::int64_t row0, std::int64_t row1) {
  if (frame >= 0 && frame < source.frames() && row0 >= 0 && row0 <= row1 && row1 <= source.rows()) return;
  throw Error(ErrorKind::internal, {.what = "rows outside the frames",
                                    .where = source.name(0),
                                    .why = format("rows [{}, {}) of frame {}, there are {} frames of {} rows", row0,
                                                  row1, frame, source.frames(), source.rows()),
                                    .hint = "report this"});
}

void throw_other_size(const std::string& where, const std::string& expected, const std::string& found,
                      const std::string& first) {
  throw Error(ErrorKind::input, {.what = "frame differs from the first one",
                                 .where = where,
                                 .why = format("expected {} as in {}, found {}", expected, first, found),
                                 .hint = "leave the file out or list it apart"});
}

void check_same_scale(const ValueScale& here, const ValueScale& first, const fs::path& file) {
  if (here == first) return;
  throw_unsupported_header(file,
                           format("a scale of the values ({}, {}) that is not that of the first file ({}, {})",
                                  here.slope, here.offset, first.slope, first.offset),
                           "write one scale for all of them");
}

void FrameSource::read(std::int64_t frame, std::int64_t row0, std::int64_t row1, float* out) const {
  if (pixel_type() == PixelType::f32) return read_native(frame, row0, row1, out);
  const std::int64_t pixel = bytes_per_pixel(pixel_type());
  // A few rows at a time: the scratch buffer stays in cache and out of the memory budget.
  const std::int64_t step = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / (columns() * pixel));
  Buffer<unsigned char> scratch(std::min(step, std::max<std::int64_t>(row1 - row0, 1)) * columns() * pixel);
  for (std::int64_t row = row0; row < row1; row += step) {
    const std::int64_t last = std::min(row + step, row1);
    read_native(frame, row, last, scratch.data());
    convert_to_float(pixel_type(), scratch.data(), (last - row) * columns(), out + (row - row0) * columns());
  }
}

namespace {

// Frames of 16-bit floats as those of 32: the corrections know no others.
class WidenedFrames final : public FrameSource {
public:
  explicit WidenedFrames(std::unique_ptr<FrameSource> halves) : halves_(std::move(halves)) {}
  std::int64_t columns() const override { return halves_->columns(); }
  std::int64_t rows() const override { return halves_->rows(); }
  std::int64_t frames() const override { return halves_->frames(); }
  PixelType pixel_type() const override { return PixelType::f32; }
  std::string name(std::int64_t frame) const override { return halves_->name(frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    halves_->read(frame, row0, row1, static_cast<float*>(out));
  }

private:
  std::unique_ptr<FrameSource> halves_;
};

}  // namespace

std::unique_ptr<FrameSource> open_frames(const FrameFiles& files) {
  if (files.files.empty())
    throw Error(ErrorKind::input,
                {.what = "no frames", .where = {}, .why = "the list of files is empty", .hint = "check the pattern"});
  const fs::path& first = files.files.front();
  std::unique_ptr<FrameSource> source;
  if (files.labelled)
    return in_selection(in_order_of_views(open_labelled_frames(files.files, *files.labelled), files.order),
                        files.images);
  const FileKind kind = files.raw ? FileKind::raw : kind_of_file(first);
  switch (kind) {
    case FileKind::tiff:
      source = in_values(open_tiff_frames(files.files));
      break;
    case FileKind::hdf5:
      source = in_values(open_hdf5_frames(files.files, files.dataset));
      break;
    case FileKind::meta_image:
    case FileKind::nrrd:
      if (!files.dataset.empty())
        throw Error(ErrorKind::usage,
                    {.what = "the file has no datasets",
                     .where = first.string(),
                     .why = format("it is {}, and {} was named", words_of(kind), shown(files.dataset)),
                     .hint = "leave the dataset out"});
      source = in_values(open_single_stack(files.files, kind));
      break;
    case FileKind::raw:
      source = files.raw ? open_raw_frames(files.files, *files.raw) : in_values(open_described_raw(files.files));
      break;
    case FileKind::npy:
    case FileKind::npz:
    case FileKind::matlab:
    case FileKind::fits:
    case FileKind::vff:
    case FileKind::isq:
    case FileKind::rek:
      source = open_array_frames(files.files, files.dataset);
      break;
    case FileKind::dicom:
      source = open_dicom_frames(files.files);
      break;
    case FileKind::zeiss:
      source = open_zeiss_frames(files.files, files.dataset);
      break;
    case FileKind::varian:
      source = open_varian_frames(files.files);
      break;
    case FileKind::his:
      source = open_his_frames(files.files);
      break;
    case FileKind::edf:
      source = open_edf_frames(files.files);
      break;
    default:
      throw Error(ErrorKind::unsupported,
                  {.what = "unknown kind of frame file",
                   .where = first.string(),
                   .why = kind == FileKind::unknown
                              ? format("neither its first bytes nor its ending '{}' are those of a format that lepus "
                                       "reads",
                                       first.extension().string())
                              : format("it is {}, no file of frames", words_of(kind)),
                   .hint = "convert the files to TIFF, or describe them as raw"});
  }
  if (source->pixel_type() == PixelType::f16) source = std::make_unique<WidenedFrames>(std::move(source));
  return in_selection(in_order_of_views(std::move(source), files.order), files.images);
}

}  // namespace lepus
