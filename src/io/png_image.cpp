// SPDX-License-Identifier: Apache-2.0
// PNG through libpng's simplified interface, which reports errors without long jumps.
#include "io/png_image.h"

#ifdef LEPUS_HAVE_PNG

#include <png.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {

namespace {

std::string encoded_png(std::int64_t columns, std::int64_t rows, const std::uint8_t* pixels, const std::string& name,
                        png_uint_32 pixel_format) {
  constexpr std::int64_t largest = 1'000'000;  // libpng's own limit
  if (columns < 1 || rows < 1 || columns > largest || rows > largest)
    throw Error(ErrorKind::usage, {.what = "impossible picture",
                                   .where = name,
                                   .why = format("{} x {} pixels", columns, rows),
                                   .hint = "choose a smaller picture"});
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(columns);
  image.height = static_cast<png_uint_32>(rows);
  image.format = pixel_format;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);  // an upper bound: compressed once, not twice
  std::string png(bytes, '\0');
  if (!png_image_write_to_memory(&image, png.data(), &bytes, 0, pixels, 0, nullptr))
    throw Error(ErrorKind::internal,
                {.what = "cannot make the PNG picture", .where = name, .why = image.message, .hint = "report this"});
  png.resize(bytes);
  return png;
}

}  // namespace

bool png_available() { return true; }

std::string png_of_grey(std::int64_t columns, std::int64_t rows, const std::uint8_t* pixels, const std::string& name) {
  return encoded_png(columns, rows, pixels, name, PNG_FORMAT_GRAY);
}

std::string png_of_rgb(std::int64_t columns, std::int64_t rows, const std::uint8_t* pixels, const std::string& name) {
  return encoded_png(columns, rows, pixels, name, PNG_FORMAT_RGB);
}

}  // namespace lepus

#else

#include "io/file.h"

namespace lepus {

bool png_available() { return false; }

std::string png_of_grey(std::int64_t, std::int64_t, const std::uint8_t*, const std::string& name) {
  throw_missing_library("PNG", "libpng-dev", name);
}

std::string png_of_rgb(std::int64_t, std::int64_t, const std::uint8_t*, const std::string& name) {
  throw_missing_library("PNG", "libpng-dev", name);
}

}  // namespace lepus

#endif
