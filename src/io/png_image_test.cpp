// SPDX-License-Identifier: Apache-2.0
// PNG pictures, read back by libpng.
#include "io/png_image.h"

#include "core/output_file.h"
#include "io/test_support.h"

#ifdef LEPUS_HAVE_PNG
#include <png.h>
#endif

namespace lepus {
namespace {

using namespace test;

void write_png_grey(const fs::path& path, std::int64_t columns, std::int64_t rows, const std::uint8_t* pixels,
                    bool force = false) {
  write_file(path, png_of_grey(columns, rows, pixels, path.string()), force);
}

#ifdef LEPUS_HAVE_PNG

std::vector<std::uint8_t> read_png(const fs::path& path, png_uint_32 wanted, std::int64_t columns, std::int64_t rows) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
  EXPECT_EQ(image.format, wanted);
  EXPECT_EQ(image.width, columns);
  EXPECT_EQ(image.height, rows);
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0) << image.message;
  return pixels;
}

TEST(PngImage, grey_and_colour_come_back) {
  const TempFolder folder;
  std::vector<std::uint8_t> pixels(37 * 23 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 31 % 256);
  write_file(folder / "c.png", png_of_rgb(37, 23, pixels.data(), "c.png"), false);
  EXPECT_EQ(read_png(folder / "c.png", PNG_FORMAT_RGB, 37, 23), pixels);
  pixels.resize(37 * 23);
  write_png_grey(folder / "g.png", 37, 23, pixels.data());
  EXPECT_EQ(read_png(folder / "g.png", PNG_FORMAT_GRAY, 37, 23), pixels);
  EXPECT_LEPUS_ERROR(write_png_grey(folder / "g.png", 37, 23, pixels.data()), ErrorKind::disk, "exists already");
  pixels[5] ^= 1;
  write_png_grey(folder / "g.png", 37, 23, pixels.data(), true);
  EXPECT_EQ(read_png(folder / "g.png", PNG_FORMAT_GRAY, 37, 23), pixels);
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(PngImage, impossible_sizes) {
  const TempFolder folder;
  const std::uint8_t pixel = 0;
  EXPECT_LEPUS_ERROR(write_png_grey(folder / "g.png", 0, 1, &pixel), ErrorKind::usage, "0 x 1");
  EXPECT_EQ(folder.entries(), 0u);
}

#else

TEST(PngImage, missing_library_is_named) {
  const TempFolder folder;
  const std::uint8_t pixel = 0;
  EXPECT_FALSE(png_available());
  EXPECT_LEPUS_ERROR(write_png_grey(folder / "g.png", 1, 1, &pixel), ErrorKind::unsupported, "libpng-dev");
}

#endif

TEST(OptionalFormats, missing_libraries_are_named) {
  const TempFolder folder;
  if (!have(".tif")) {
    EXPECT_LEPUS_ERROR(create_volume(folder / "v.tif", odd_grid()), ErrorKind::unsupported, "libtiff-dev");
    EXPECT_LEPUS_ERROR(create_volume(folder / "s/", odd_grid()), ErrorKind::unsupported, "libtiff-dev");
    EXPECT_LEPUS_ERROR(open_volume(folder / "v.tif"), ErrorKind::unsupported, "libtiff-dev");
    EXPECT_LEPUS_ERROR(open_frames({{folder / "v.tif"}, "", {}, {}}), ErrorKind::unsupported, "libtiff-dev");
  }
  if (!have(".h5")) {
    EXPECT_LEPUS_ERROR(create_volume(folder / "v.h5", odd_grid()), ErrorKind::unsupported, "libhdf5-dev");
    EXPECT_LEPUS_ERROR(open_volume(folder / "v.h5"), ErrorKind::unsupported, "libhdf5-dev");
    EXPECT_LEPUS_ERROR(open_frames({{folder / "v.h5"}, "", {}, {}}), ErrorKind::unsupported, "libhdf5-dev");
  }
  EXPECT_TRUE(have(".mha"));
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace lepus
