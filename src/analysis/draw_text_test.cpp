// SPDX-License-Identifier: Apache-2.0
#include "analysis/draw_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "lepus/error.h"

namespace lepus {
namespace {

constexpr Colour white{255, 255, 255}, black{0, 0, 0};
constexpr double units_per_em = 2048;  // of share/fonts/Roboto-Regular-subset.ttf, from which the numbers below are too

Picture text_picture(const std::string& text, double size_px, std::int64_t margin = 0) {
  const TextStyle style{size_px, black};
  Picture picture(text_width(text, style) + 2 * margin, line_height(style) + 2 * margin, white);
  draw_text(picture, text, margin, margin, style);
  return picture;
}

double darkness(const Picture& picture, std::int64_t x, std::int64_t y) { return 1 - picture.at(x, y)[0] / 255.0; }

// The area that ink covers, in pixels, and its middle from left to right.
struct Ink {
  double area = 0, x = 0;
};
Ink ink_of(const Picture& picture) {
  Ink ink;
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const double dark = darkness(picture, x, y);
      ink.area += dark;
      ink.x += dark * (static_cast<double>(x) + 0.5);
    }
  ink.x /= ink.area;
  return ink;
}

// The part of the pixel from `pixel` to `pixel + 1` that lies between two positions.
double overlap(std::int64_t pixel, double first, double last) {
  const auto start = static_cast<double>(pixel);
  return std::max(0.0, std::min(start + 1, last) - std::max(start, first));
}

TEST(draw_text, each_pixel_is_as_dark_as_the_outline_covers_it) {
  // The minus sign is a rectangle from (168, 651) to (1003, 803) font units. FreeType's outlines have steps of 1/64
  // pixel, so that each of four edges is off by 1/128 of a pixel at most; bytes by half a level.
  constexpr double tolerance = 4.0 / 128 + 0.5 / 255;
  for (const double size : {9.0, 16.0, 23.75, 50.0}) {
    const double scale = size / units_per_em, base_line = std::ceil(1900 * scale);  // the ascent, in whole pixels
    const Picture picture = text_picture("\u2212", size);
    for (std::int64_t y = 0; y < picture.height; ++y)
      for (std::int64_t x = 0; x < picture.width; ++x) {
        const double covered =
            overlap(x, 168 * scale, 1003 * scale) * overlap(y, base_line - 803 * scale, base_line - 651 * scale);
        EXPECT_NEAR(darkness(picture, x, y), covered, tolerance) << size << " at " << x << ", " << y;
      }
  }
}

TEST(draw_text, glyphs_stand_where_their_advances_put_them_to_a_part_of_a_pixel) {
  // A bar is 500 units wide, 3.66 pixels of size 15: whole pixels would add up to 30 or 40 instead of 36.6.
  EXPECT_EQ(text_width("||||||||||", {15, black}), 37);
  const Ink one = ink_of(text_picture("|", 15)), ten = ink_of(text_picture("||||||||||", 15));
  EXPECT_NEAR(ten.area, 10 * one.area, 0.5);
  EXPECT_NEAR(ten.x, one.x + 4.5 * 500 * 15 / units_per_em, 0.1);
}

TEST(draw_text, widths_grow_with_text_and_size) {
  EXPECT_EQ(text_width("", {16, black}), 0);
  const std::string text = "0.5 mm\u00B2";
  for (std::size_t n = 1; n <= 6; ++n)
    EXPECT_GT(text_width(text.substr(0, n), {16, black}), text_width(text.substr(0, n - 1), {16, black})) << n;
  for (double size = 8; size < 40; size += 4) {
    EXPECT_GT(text_width(text, {size + 4, black}), text_width(text, {size, black})) << size;
    EXPECT_GT(line_height({size + 4, black}), line_height({size, black})) << size;
  }
  EXPECT_GT(text_width("WWW", {16, black}), 2 * text_width("iii", {16, black}));
}

TEST(draw_text, pairs_are_kerned) {
  // A and V, 1336 and 1304 units wide, stand 87 units closer.
  const double scale = 400 / units_per_em;
  EXPECT_NEAR(static_cast<double>(text_width("AV", {400, black})), (1336 + 1304 - 87) * scale, 1);
  EXPECT_NEAR(static_cast<double>(text_width("LL", {400, black})), 2 * 1103 * scale, 1);
}

TEST(draw_text, characters_have_glyphs_of_their_own) {
  const std::vector<std::uint8_t> box = text_picture("\u4E2D", 20).rgb;
  std::set<std::vector<std::uint8_t>> drawn{box};
  for (char c = 33; c < 127; ++c)
    EXPECT_TRUE(drawn.insert(text_picture(std::string(1, c), 20).rgb).second) << c << " looks like another";
  for (const char* c : {"µ", "°", "²", "³", "⁻", "×", "·", "−", "±", "≤", "≥", "α", "β", "γ", "δ", "θ",
                        "λ", "π", "σ", "φ", "Δ", "Ω", "ä", "é", "ñ", "ø", "Ł", "Ж", "…", "∞", "√", "≈"})
    EXPECT_TRUE(drawn.insert(text_picture(c, 20).rgb).second) << c << " looks like another";
  EXPECT_EQ(text_picture("\u0E01", 20).rgb, box);  // neither is in the font
}

TEST(draw_text, bytes_that_are_not_utf8_show) {
  const auto replacements = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "\uFFFD";
    return text_picture(text, 20).rgb;
  };
  EXPECT_EQ(text_picture("\xFF", 20).rgb, replacements(1));
  EXPECT_EQ(text_picture("\x80", 20).rgb, replacements(1));              // goes on with nothing
  EXPECT_EQ(text_picture("\xC2", 20).rgb, replacements(1));              // cut off
  EXPECT_EQ(text_picture("\xE2\x88", 20).rgb, replacements(2));          // cut off
  EXPECT_EQ(text_picture("\xC0\xAF", 20).rgb, replacements(2));          // overlong
  EXPECT_EQ(text_picture("\xE0\x80\xAF", 20).rgb, replacements(3));      // overlong
  EXPECT_EQ(text_picture("\xED\xA0\x80", 20).rgb, replacements(3));      // a surrogate
  EXPECT_EQ(text_picture("\xF4\x90\x80\x80", 20).rgb, replacements(4));  // beyond U+10FFFF
  EXPECT_NE(text_picture("\uFFFD", 20).rgb, text_picture("\u4E2D", 20).rgb);
  EXPECT_EQ(text_picture("\xC2"
                         "A",
                         20)
                .rgb,
            text_picture("\uFFFD"
                         "A",
                         20)
                .rgb);  // what follows a broken character is not lost
}

TEST(draw_text, a_line_holds_its_ink) {
  // In a picture with room around it, nothing is drawn beyond the line's height; beside it a j's tail reaches
  // a tenth of its size.
  constexpr std::int64_t margin = 20;
  std::string all;
  for (char c = 32; c < 127; ++c) all += c;
  for (const double size : {9.0, 13.0, 16.0, 31.5})
    for (const std::string& text : {all, std::string("Äçÿµ°²³×·−–±≤Ωβφ"), std::string("jjj"), std::string("fff")}) {
      const Picture picture = text_picture(text, size, margin);
      const std::int64_t beside = std::lround(std::ceil(size / 10));
      double inside = 0;
      for (std::int64_t y = 0; y < picture.height; ++y)
        for (std::int64_t x = 0; x < picture.width; ++x) {
          const bool in_line = y >= margin && y < picture.height - margin;
          const bool in_width = x >= margin - beside && x < picture.width - margin + beside;
          if (in_line && in_width)
            inside += darkness(picture, x, y);
          else
            ASSERT_EQ(picture.at(x, y), white) << text << " of " << size << " at " << x << ", " << y;
        }
      EXPECT_GT(inside, size);
    }
}

TEST(draw_text, pictures_cut_text_at_their_edges) {
  const std::string text = "cut µm";
  const TextStyle style{20, {200, 0, 0}};
  constexpr std::int64_t margin = 40;
  Picture whole(200, 120, white);
  draw_text(whole, text, margin + 10, margin + 5, style);
  const std::int64_t width = text_width(text, style), height = line_height(style);
  const auto far = std::numeric_limits<std::int64_t>::max() / 4;
  Picture beyond(30, 16, white);
  for (const auto& [x, y] : {std::pair{far, std::int64_t{0}}, {-far, std::int64_t{0}}, {std::int64_t{0}, far}})
    draw_text(beyond, text, x, y, style);
  EXPECT_EQ(beyond.rgb, Picture(30, 16, white).rgb);
  for (std::int64_t x0 = margin; x0 < margin + width; x0 += 7)
    for (std::int64_t y0 = margin; y0 < margin + height; y0 += 5) {
      Picture part(30, 16, white), expected(30, 16, white);
      draw_text(part, text, margin + 10 - x0, margin + 5 - y0, style);
      for (std::int64_t y = 0; y < 16; ++y)
        for (std::int64_t x = 0; x < 30; ++x) expected.set(x, y, whole.at(x0 + x, y0 + y));
      EXPECT_EQ(part.rgb, expected.rgb) << x0 << ", " << y0;
    }
}

TEST(draw_text, edges_mix_with_what_is_below) {
  Picture picture(40, 24, {0, 0, 200});
  draw_text(picture, "S", 5, 0, {20, {200, 100, 0}});
  std::int64_t inside = 0, edge = 0;
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const Colour c = picture.at(x, y);
      inside += c == Colour{200, 100, 0} ? 1 : 0;
      edge += c != Colour{200, 100, 0} && c != Colour{0, 0, 200} ? 1 : 0;
      EXPECT_NEAR(c[0] + c[2], 200, 1);  // whatever the share of the two colours
      EXPECT_NEAR(c[0], 2 * c[1], 1.5);
    }
  EXPECT_GT(inside, 5);
  EXPECT_GT(edge, 20);
}

TEST(draw_text, sizes_that_cannot_be_drawn_are_refused) {
  Picture picture(10, 10, white);
  for (const double size : {std::nan(""), 0.0, -16.0, 3.9, 501.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(draw_text(picture, "a", 0, 0, {size, black}), Error) << size;
    EXPECT_THROW(text_width("a", {size, black}), Error) << size;
    EXPECT_THROW(line_height({size, black}), Error) << size;
  }
  EXPECT_EQ(picture.rgb, Picture(10, 10, white).rgb);
}

TEST(draw_text, threads_do_not_disturb_each_other) {
  std::vector<Picture> alone;
  for (int i = 0; i < 4; ++i) alone.push_back(text_picture("thread 0123 µm", 10 + 5 * i));
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) wrong[i] += text_picture("thread 0123 µm", 10 + 5 * i).rgb == alone[i].rgb ? 0 : 1;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(draw_text, minus_signs) {
  EXPECT_EQ(with_minus_signs("-1.5e-03"), "−1.5e−03");
  EXPECT_EQ(with_minus_signs("0.25"), "0.25");
}

}  // namespace
}  // namespace lepus
