// SPDX-License-Identifier: Apache-2.0
// PNG through libpng's simplified interface, which reports errors without long jumps.
#include "io/png_image.h"

#include "io/file.h"

#ifdef LEPUS_HAVE_PNG

#include <png.h>

#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus {

namespace {

void write_png(const std::filesystem::path& path, std::int64_t columns, std::int64_t rows, const std::uint8_t* pixels,
               bool force, png_uint_32 pixel_format) {
  constexpr std::int64_t largest = 1'000'000;  // libpng's own limit
  if (columns < 1 || rows < 1 || columns > largest || rows > largest)
    throw Error(ErrorKind::usage, {.what = "impossible picture",
                                   .where = path.string(),
                                   .why = format("{} x {} pixels", columns, rows),
                                   .hint = "choose a smaller picture"});
  PartialFile file(path, force, 0);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(columns);
  image.height = static_cast<png_uint_32>(rows);
  image.format = pixel_format;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);  // an upper bound: compressed once, not twice
  Buffer<char> buffer(static_cast<std::int64_t>(bytes));
  if (!png_image_write_to_memory(&image, buffer.data(), &bytes, 0, pixels, 0, nullptr))
    throw Error(
        ErrorKind::internal,
        {.what = "cannot make the PNG picture", .where = path.string(), .why = image.message, .hint = "report this"});
  file.append(buffer.data(), static_cast<std::int64_t>(bytes));
  file.commit();
}

}  // namespace

bool png_available() { return true; }

void write_png_grey(const std::filesystem::path& path, std::int64_t columns, std::int64_t rows,
                    const std::uint8_t* pixels, bool force) {
  write_png(path, columns, rows, pixels, force, PNG_FORMAT_GRAY);
}

void write_png_rgb(const std::filesystem::path& path, std::int64_t columns, std::int64_t rows,
                   const std::uint8_t* pixels, bool force) {
  write_png(path, columns, rows, pixels, force, PNG_FORMAT_RGB);
}

}  // namespace lepus

#else

namespace lepus {

bool png_available() { return false; }

void write_png_grey(const std::filesystem::path& path, std::int64_t, std::int64_t, const std::uint8_t*, bool) {
  throw_missing_library("PNG", "libpng-dev", path.string());
}

void write_png_rgb(const std::filesystem::path& path, std::int64_t, std::int64_t, const std::uint8_t*, bool) {
  throw_missing_library("PNG", "libpng-dev", path.string());
}

}  // namespace lepus

#endif
