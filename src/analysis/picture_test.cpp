// SPDX-License-Identifier: Apache-2.0
#include "analysis/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <unistd.h>

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

TEST(picture, blending) {
  Picture picture(2, 1, {100, 0, 255});
  picture.blend(0, 0, {200, 50, 0}, 0);
  EXPECT_EQ(picture.at(0, 0), (Colour{100, 0, 255}));
  picture.blend(0, 0, {200, 50, 0}, 51);  // a fifth
  EXPECT_EQ(picture.at(0, 0), (Colour{120, 10, 204}));
  picture.blend(0, 0, {200, 50, 0}, 255);
  EXPECT_EQ(picture.at(0, 0), (Colour{200, 50, 0}));
  for (const auto& [x, y] : {std::pair{-1, 0}, {2, 0}, {0, -1}, {0, 1}}) picture.blend(x, y, {1, 2, 3}, 255);
  EXPECT_EQ(picture.at(1, 0), (Colour{100, 0, 255}));
  EXPECT_EQ(picture.at(0, 0), (Colour{200, 50, 0}));
}

TEST(picture, a_panel_shows_every_slice_in_one_scale) {
  // 10 x 10 mm beside 10 x 5 mm: cells of 100 pixels give 10 pixels per millimetre to both.
  const std::vector<Slice> slices{slice_of(10, 10, std::vector<float>(100, 0.0F)),
                                  slice_of(10, 5, std::vector<float>(50, 0.0F))};
  PanelOptions options;
  options.cell_pixels = 100;
  const Picture panel = draw_panel({{"a", slices, {0, 1}, ColourMap::grey}}, options);
  std::int64_t black_pixels = 0;
  for (std::int64_t y = 0; y < panel.height; ++y)
    for (std::int64_t x = 0; x < panel.width; ++x) black_pixels += panel.at(x, y) == Colour{0, 0, 0} ? 1 : 0;
  EXPECT_GE(black_pixels, 100 * 100 + 100 * 50);
  EXPECT_LE(black_pixels, 100 * 100 + 100 * 50 + 16 * 100);  // the bar has black as well
}

// Whether all pixels along the edges of a picture have the colour of paper: nothing was cut off there.
bool edges_are_empty(const Picture& picture) {
  bool empty = true;
  const auto look = [&](std::int64_t x, std::int64_t y) { empty = empty && picture.at(x, y) == Colour{255, 255, 255}; };
  for (std::int64_t x = 0; x < picture.width; ++x) look(x, 0), look(x, picture.height - 1);
  for (std::int64_t y = 0; y < picture.height; ++y) look(0, y), look(picture.width - 1, y);
  return empty;
}

TEST(picture, a_panel_has_room_for_its_texts) {
  const std::vector<Slice> slices{slice_of(2, 2, {0, 1, 2, 3}), slice_of(2, 2, {0, 1, 2, 3})};
  PanelOptions options;
  options.cell_pixels = 20;
  // Each in its turn is wider than all the rest: the row's label, the bar's values, the title.
  const std::string lengthy = "a label much longer than the slices below it";
  for (const GreyWindow& window : {GreyWindow{0, 1}, GreyWindow{-1.2345e-17, 4.567e-17}})
    for (const std::string& label : {std::string(), lengthy})
      for (const std::string& title : {std::string(), lengthy + lengthy + lengthy}) {
        options.title = title;
        EXPECT_TRUE(edges_are_empty(draw_panel({{label, slices, window, ColourMap::grey}}, options)))
            << window.low << label << title;
      }
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
