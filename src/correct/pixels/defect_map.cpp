// SPDX-License-Identifier: Apache-2.0
#include "correct/pixels/defect_map.h"

#include <cmath>
#include <string>
#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/frames.h"
#include "scan/number_file.h"
#include <lepus/error.h>
#ifdef LEPUS_HAVE_PNG
#include <png.h>
#endif

namespace lepus::pixels {
namespace {

[[noreturn]] void refuse_map(std::string what, std::string where, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = std::move(where), .why = std::move(why), .hint = std::move(hint)});
}

void check_size(const std::filesystem::path& file, std::int64_t found_columns, std::int64_t found_rows,
                std::int64_t columns, std::int64_t rows) {
  if (found_columns != columns || found_rows != rows)
    refuse_map("the defect map has another size than the frames", file.string(),
               format("{} x {} pixels, the frames have {} x {}", found_columns, found_rows, columns, rows),
               "a map covers the whole recorded frame");
}

template <class Pixel>
std::vector<std::int64_t> not_zero(const Buffer<Pixel>& picture) {
  std::vector<std::int64_t> bad;
  for (std::int64_t i = 0; i < picture.size(); ++i)
    if (picture[i] != Pixel{0}) bad.push_back(i);
  return bad;
}

#ifdef LEPUS_HAVE_PNG
std::vector<std::int64_t> read_png_map(const std::filesystem::path& file, std::int64_t columns, std::int64_t rows) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, file.c_str()))
    refuse_map("cannot read the PNG picture", file.string(), image.message, "");
  image.format = PNG_FORMAT_RGBA;  // no conversion that could make a dark colour zero
  std::vector<std::int64_t> bad;
  try {
    check_size(file, image.width, image.height, columns, rows);
    Buffer<png_byte> pixels(static_cast<std::int64_t>(PNG_IMAGE_SIZE(image)));
    if (!png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr))
      refuse_map("cannot read the PNG picture", file.string(), image.message, "");
    for (std::int64_t i = 0; i < columns * rows; ++i)
      if (pixels[4 * i] || pixels[4 * i + 1] || pixels[4 * i + 2]) bad.push_back(i);
  } catch (...) {
    png_image_free(&image);
    throw;
  }
  return bad;
}
#else
std::vector<std::int64_t> read_png_map(const std::filesystem::path& file, std::int64_t, std::int64_t) {
  throw_missing_library("PNG", "libpng-dev", file.string());
}
#endif

std::vector<std::int64_t> read_tiff_map(const std::filesystem::path& file, std::int64_t columns, std::int64_t rows) {
  FrameFiles files;
  files.files = {file};
  const auto source = open_frames(files);
  check_size(file, source->columns(), source->rows(), columns, rows);
  if (source->frames() != 1)
    refuse_map("the defect map has several pages", file.string(), format("{} pages", source->frames()),
               "save one page");
  Buffer<float> picture(columns * rows);
  source->read(0, 0, rows, picture.data());
  return not_zero(picture);
}

std::vector<std::int64_t> read_text_map(const std::filesystem::path& file, std::int64_t columns, std::int64_t rows) {
  const NumberFile numbers = read_number_file(file);
  std::vector<std::int64_t> bad;
  for (std::size_t i = 0; i < numbers.values.size();) {
    std::size_t end = i + 1;
    while (end < numbers.values.size() && numbers.lines[end] == numbers.lines[i]) ++end;
    const std::string where = format("{}:{}", file.string(), numbers.lines[i]);
    if (end - i != 2 && end - i != 4)
      refuse_map("this is neither a pixel nor a rectangle", where, format("{} numbers", end - i),
                 "write \"column row\" or \"column0 row0 column1 row1\"");
    std::int64_t corner[4];
    for (std::size_t k = 0; k < 4; ++k) {
      const double value = numbers.values[i + (end - i == 4 ? k : k % 2)];
      const std::int64_t size = k % 2 == 0 ? columns : rows;
      if (!(value >= 0 && value < static_cast<double>(size)) || value != std::floor(value))
        refuse_map(format("{} is not a {} of the detector", value, k % 2 == 0 ? "column" : "row"), where,
                   format("there are {}, counted from 0", size), "");
      corner[k] = static_cast<std::int64_t>(value);
    }
    if (corner[2] < corner[0] || corner[3] < corner[1])
      refuse_map("the rectangle is empty", where, "its second corner lies before its first", "exchange them");
    for (std::int64_t row = corner[1]; row <= corner[3]; ++row)
      for (std::int64_t column = corner[0]; column <= corner[2]; ++column) bad.push_back(row * columns + column);
    i = end;
  }
  return bad;
}

}  // namespace

std::vector<std::int64_t> read_defect_map(const std::filesystem::path& file, std::int64_t columns, std::int64_t rows) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    refuse_map("cannot open the defect map", file.string(), "no such file",
               "names in a scan file are relative to its folder");
  const std::string ending = lower_extension(file);
  if (ending == ".png") return read_png_map(file, columns, rows);
  if (ending == ".tif" || ending == ".tiff") return read_tiff_map(file, columns, rows);
  return read_text_map(file, columns, rows);
}

}  // namespace lepus::pixels
