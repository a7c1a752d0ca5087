// SPDX-License-Identifier: Apache-2.0
#include "analysis/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <unistd.h>

#include "analysis/font.h"
#include "analysis/panel.h"
#include "core/format.h"

namespace lepus {
namespace {

Slice slice_of(std::int64_t width, std::int64_t height, std::vector<float> values, double pixel_width = 1,
               double pixel_height = 1) {
  Slice slice;
  slice.width = width;
  slice.height = height;
  slice.values = std::move(values);
  slice.pixel_width_mm = pixel_width;
  slice.pixel_height_mm = pixel_height;
  return slice;
}

TEST(picture, grey_levels) {
  const GreyWindow window{-1, 1};
  EXPECT_EQ(colour_of(-2, window, ColourMap::grey), (Colour{0, 0, 0}));
  EXPECT_EQ(colour_of(0, window, ColourMap::grey), (Colour{128, 128, 128}));
  EXPECT_EQ(colour_of(1, window, ColourMap::grey), (Colour{255, 255, 255}));
  EXPECT_EQ(colour_of(std::nan(""), window, ColourMap::grey), (Colour{255, 0, 0}));
  EXPECT_EQ(colour_of(0, window, ColourMap::diverging), (Colour{255, 255, 255}));
  const Colour high = colour_of(1, window, ColourMap::diverging), low = colour_of(-1, window, ColourMap::diverging);
  EXPECT_GT(high[0], high[2] + 100);  // red
  EXPECT_GT(low[2], low[0] + 100);    // blue
}

TEST(picture, voxels_that_are_not_square_become_square_pixels) {
  const Picture tall = draw_slice(slice_of(2, 2, {0, 1, 1, 0}, 1, 3), {0, 1}, ColourMap::grey, 1);
  EXPECT_EQ(tall.width, 2);
  EXPECT_EQ(tall.height, 6);
  for (int y = 0; y < 6; ++y) EXPECT_EQ(tall.at(0, y)[0], y < 3 ? 0 : 255) << y;
  // Pixels of two voxels each show the mean.
  const Picture small = draw_slice(slice_of(4, 2, {0, 1, 0, 0, 1, 0, 0, 0}), {0, 1}, ColourMap::grey, 2);
  EXPECT_EQ(small.width, 2);
  EXPECT_EQ(small.height, 1);
  EXPECT_EQ(small.at(0, 0)[0], 128);
  EXPECT_EQ(small.at(1, 0)[0], 0);
}

TEST(picture, windows) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const GreyWindow window = percentile_window({slice_of(1000, 1, values)}, 0.5, 99.5);
  EXPECT_NEAR(window.low, 4.995, 1e-9);
  EXPECT_NEAR(window.high, 994.005, 1e-9);
  const GreyWindow flat = percentile_window({slice_of(2, 1, {3, 3})}, 0.5, 99.5);
  EXPECT_LT(flat.low, flat.high);
  const GreyWindow even = symmetric_window({slice_of(2, 1, {-3, 1})}, 100);
  EXPECT_EQ(even.low, -3);
  EXPECT_EQ(even.high, 3);
}

TEST(picture, every_printable_character_has_a_glyph_of_its_own) {
  std::vector<std::string> drawn;
  for (char c = 33; c < 127; ++c) {
    std::string bits;
    for (int row = 0; row < glyph_height; ++row)
      for (int column = 0; column < glyph_width; ++column) bits += glyph_pixel(c, column, row) ? '#' : '.';
    EXPECT_NE(bits.find('#'), std::string::npos) << c;
    EXPECT_EQ(std::count(drawn.begin(), drawn.end(), bits), 0) << c << " looks like another character";
    drawn.push_back(bits);
  }
  EXPECT_TRUE(glyph_pixel('L', 0, 0));
  EXPECT_FALSE(glyph_pixel('L', 4, 0));
  EXPECT_TRUE(glyph_pixel('L', 4, 6));
}

TEST(picture, a_panel_shows_every_slice_in_one_scale) {
  // 10 x 10 mm beside 10 x 5 mm: cells of 100 pixels give 10 pixels per millimetre to both.
  const std::vector<Slice> slices{slice_of(10, 10, std::vector<float>(100, 0.0F)),
                                  slice_of(10, 5, std::vector<float>(50, 0.0F))};
  PanelOptions options;
  options.cell_pixels = 100;
  const Picture panel = draw_panel({{"a", slices, {0, 1}, ColourMap::grey}}, options);
  std::int64_t black = 0;
  for (std::int64_t y = 0; y < panel.height; ++y)
    for (std::int64_t x = 0; x < panel.width; ++x) black += panel.at(x, y) == Colour{0, 0, 0} ? 1 : 0;
  EXPECT_GE(black, 100 * 100 + 100 * 50);
  EXPECT_LE(black, 100 * 100 + 100 * 50 + 16 * 100);  // the bar has black as well
}

TEST(picture, a_png_is_not_overwritten) {
  const auto path = std::filesystem::temp_directory_path() / format("lepus-picture-{}.png", ::getpid());
  const Picture picture(3, 2, {10, 20, 30});
  try {
    save_png(picture, path, false);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unsupported) GTEST_SKIP() << error.what();
    throw;
  }
  EXPECT_THROW(save_png(picture, path, false), Error);
  EXPECT_NO_THROW(save_png(picture, path, true));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace lepus
