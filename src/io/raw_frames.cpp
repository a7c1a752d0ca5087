// SPDX-License-Identifier: Apache-2.0
// Frames that lie uncompressed in files: raw files with a known layout, and whatever else was found to be plain.
#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

void read_pixels(const InputFile& file, std::int64_t offset, std::int64_t count, PixelType type, bool big_endian,
                 void* out, ReadPattern pattern) {
  const std::int64_t size = bytes_per_pixel(type);
  file.read(offset, out, count * size, pattern);
  if (big_endian) swap_bytes(out, count, size);
}

namespace {

class PlainFrames final : public FrameSource, public RunReader {
public:
  explicit PlainFrames(PlainImages images) : images_(std::move(images)), files_(images_.files) {
    for (const auto& run : images_.runs) {
      first_.push_back(frames_);
      frames_ += run.count;
    }
  }

  std::int64_t columns() const override { return images_.columns; }
  std::int64_t rows() const override { return images_.rows; }
  std::int64_t frames() const override { return frames_; }
  PixelType pixel_type() const override { return images_.type; }
  std::string name(std::int64_t frame) const override {
    const std::size_t k = run_of(frame);
    const auto& run = images_.runs[k];
    const std::string label = run.label.empty() ? images_.files[run.file].string() : run.label;
    return image_name(label, frame - first_[k], run.alone);
  }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    read_from(frame, row0, 0, (row1 - row0) * images_.columns, ReadPattern::sequential, out);
  }
  void read_run(std::int64_t frame, std::int64_t row, std::int64_t column, std::int64_t count, ReadPattern pattern,
                float* out) const override {
    check_band(*this, frame, row, row + (column + count + images_.columns - 1) / images_.columns);
    if (images_.type == PixelType::f32) return read_from(frame, row, column, count, pattern, out);
    std::vector<char> pixels(static_cast<std::size_t>(count * bytes_per_pixel(images_.type)));
    read_from(frame, row, column, count, pattern, pixels.data());
    convert_to_float(images_.type, pixels.data(), count, out);
  }

private:
  // `count` pixels from a column of a row on.
  void read_from(std::int64_t frame, std::int64_t row, std::int64_t column, std::int64_t count, ReadPattern pattern,
                 void* out) const {
    const std::size_t k = run_of(frame);
    const auto& run = images_.runs[k];
    const std::int64_t pixel = ((frame - first_[k]) * images_.rows + row) * images_.columns + column;
    read_pixels(*files_.open(run.file), run.offset + pixel * bytes_per_pixel(images_.type), count, images_.type,
                images_.big_endian, out, pattern);
  }
  std::size_t run_of(std::int64_t frame) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), frame) - first_.begin()) - 1;
  }

  PlainImages images_;
  InputFiles files_;
  std::vector<std::int64_t> first_;  // frame of each run
  std::int64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<FrameSource> plain_frames(PlainImages images) {
  return std::make_unique<PlainFrames>(std::move(images));
}

std::unique_ptr<FrameSource> open_raw_frames(const std::vector<fs::path>& files, const RawLayout& layout,
                                             TrailingBytes trailing) {
  const auto frame_bytes = checked_product(layout.columns, layout.rows, bytes_per_pixel(layout.type));
  if (!frame_bytes || layout.header_bytes < 0 || layout.frames_per_file < 0)
    throw Error(ErrorKind::input,
                {.what = "impossible raw layout",
                 .where = files.front().string(),
                 .why = format("{} columns, {} rows, {} frames per file, {} header bytes", layout.columns, layout.rows,
                               layout.frames_per_file, layout.header_bytes),
                 .hint = "give the size of one frame in pixels"});
  PlainImages images;
  images.files = files;
  images.columns = layout.columns;
  images.rows = layout.rows;
  images.type = layout.type;
  images.big_endian = layout.big_endian;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::int64_t size = InputFile(files[i]).size();
    const std::int64_t held = size < layout.header_bytes ? 0 : (size - layout.header_bytes) / *frame_bytes;
    // frames_per_file = 0: as many as the file holds.
    const std::int64_t count = layout.frames_per_file > 0 ? layout.frames_per_file : std::max<std::int64_t>(held, 1);
    const bool too_short = held < count;
    const bool too_long = !too_short && size != layout.header_bytes + count * *frame_bytes;
    if (too_short || (too_long && trailing == TrailingBytes::refuse))
      throw Error(ErrorKind::input,
                  {.what = too_short ? "raw file is truncated" : "raw file has another size",
                   .where = files[i].string(),
                   .why = format("expected {} header bytes and {} frames of {}, which is {} bytes each, found {} bytes",
                                 layout.header_bytes, count, describe(layout.columns, layout.rows, layout.type),
                                 *frame_bytes, size),
                   .hint = "check the size, the pixel type and the header of the raw files"});
    images.runs.push_back({.file = i, .offset = layout.header_bytes, .count = count, .label = {}, .alone = count == 1});
  }
  return plain_frames(std::move(images));
}

}  // namespace lepus
