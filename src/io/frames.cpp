// SPDX-License-Identifier: Apache-2.0
// open_frames: which reader a list of files needs; what all readers share.
#include "io/frames.h"

#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/json_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

bool has_ending(const fs::path& path, std::initializer_list<const char*> endings) {
  const std::string ending = lower_extension(path);
  return std::any_of(endings.begin(), endings.end(), [&](const char* e) { return ending == e; });
}

}  // namespace

bool is_tiff_name(const fs::path& path) { return has_ending(path, {".tif", ".tiff", ".btf", ".tf8"}); }
bool is_hdf5_name(const fs::path& path) { return has_ending(path, {".h5", ".hdf5", ".hdf", ".nxs"}); }
bool is_raw_name(const fs::path& path) { return has_ending(path, {".raw", ".bin", ".dat", ".img", ".vol"}); }

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

std::unique_ptr<FrameSource> open_frames(const FrameFiles& files) {
  if (files.files.empty())
    throw Error(ErrorKind::input,
                {.what = "no frames", .where = {}, .why = "the list of files is empty", .hint = "check the pattern"});
  const fs::path& first = files.files.front();
  std::unique_ptr<FrameSource> source;
  if (files.raw) {
    source = open_raw_frames(files.files, *files.raw);
  } else if (is_tiff_name(first)) {
    source = open_tiff_frames(files.files);
  } else if (is_hdf5_name(first)) {
    source = open_hdf5_frames(files.files, files.dataset);
  } else if (is_raw_name(first)) {
    source = open_raw_frames(files.files, read_raw_layout(first));
  } else {
    throw Error(ErrorKind::unsupported,
                {.what = "unknown kind of frame file",
                 .where = first.string(),
                 .why = format("the ending '{}' is none of .tif .tiff .h5 .hdf5 .nxs .raw", first.extension().string()),
                 .hint = "convert the files, or describe them as raw"});
  }
  if (files.order == FrameOrder::sinograms) source = frames_from_sinograms(std::move(source));
  return source;
}

}  // namespace lepus
