// SPDX-License-Identifier: Apache-2.0
#include "correct/pixels/defect_map.h"

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <string>
#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/frames.h"
#include "io/number_file.h"
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
// A PNG as it was saved, 8 or 16 bits a channel. libpng's simplified interface would convert brightness for a screen,
// which makes small values of 16 bits zero.
class PngPicture {
public:
  explicit PngPicture(const std::filesystem::path& file) : stream_(std::fopen(file.c_str(), "rb")) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
  }
  ~PngPicture() {
    png_destroy_read_struct(&png_, &info_, nullptr);
    if (stream_) std::fclose(stream_);
  }
  PngPicture(const PngPicture&) = delete;
  PngPicture& operator=(const PngPicture&) = delete;

  bool read_header() {
    return stream_ && info_ && without_error([](PngPicture& self) {
             png_init_io(self.png_, self.stream_);
             png_read_info(self.png_, self.info_);
             png_set_expand(self.png_);  // palettes to colours, 1 to 4 bits to 8
             png_set_interlace_handling(self.png_);
             png_read_update_info(self.png_, self.info_);
           });
  }
  std::int64_t columns() const { return png_get_image_width(png_, info_); }
  std::int64_t rows() const { return png_get_image_height(png_, info_); }

  bool read_pixels() {
    const auto row_bytes = static_cast<std::int64_t>(png_get_rowbytes(png_, info_));
    bytes_ = Buffer<png_byte>(row_bytes * rows());
    for (std::int64_t row = 0; row < rows(); ++row) lines_.push_back(bytes_.data() + row * row_bytes);
    return without_error([](PngPicture& self) { png_read_image(self.png_, self.lines_.data()); });
  }

  // The pixels that are not black, however little; how transparent they are does not matter.
  std::vector<std::int64_t> not_black() const {
    const int channels = png_get_channels(png_, info_), sample = png_get_bit_depth(png_, info_) / 8;
    const bool alpha = (png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) != 0;
    const std::ptrdiff_t pixel = std::ptrdiff_t{channels} * sample, colours = pixel - (alpha ? sample : 0);
    std::vector<std::int64_t> list;
    for (std::int64_t row = 0; row < rows(); ++row)
      for (std::int64_t column = 0; column < columns(); ++column) {
        const png_byte* first = lines_[static_cast<std::size_t>(row)] + column * pixel;
        if (std::any_of(first, first + colours, [](png_byte byte) { return byte != 0; }))
          list.push_back(row * columns() + column);
      }
    return list;
  }

  const std::string& message() const { return message_; }

private:
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    static_cast<PngPicture*>(png_get_error_ptr(png))->message_ = message;
    png_longjmp(png, 1);
  }
  // libpng jumps here on an error: over its own frames and a step, which holds nothing that must be destroyed.
  bool without_error(void (*step)(PngPicture&)) {
    if (setjmp(png_jmpbuf(png_))) return false;
    step(*this);
    return true;
  }

  std::FILE* stream_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  Buffer<png_byte> bytes_;
  std::vector<png_bytep> lines_;
  std::string message_;
};

std::vector<std::int64_t> read_png_map(const std::filesystem::path& file, std::int64_t columns, std::int64_t rows) {
  PngPicture picture(file);
  const auto unreadable = [&] { refuse_map("cannot read the PNG picture", file.string(), picture.message(), ""); };
  if (!picture.read_header()) unreadable();
  check_size(file, picture.columns(), picture.rows(), columns, rows);
  if (!picture.read_pixels()) unreadable();
  return picture.not_black();
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
