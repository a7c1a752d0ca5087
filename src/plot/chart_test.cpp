// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <regex>

#include <gtest/gtest.h>

#include "plot/drawing.h"
#include "plot/text.h"
#include <lepus/error.h>

namespace lepus::plot {
namespace {

std::vector<double> numbers(const std::string& text, const std::string& pattern) {
  std::vector<double> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i)
    found.push_back(std::stod((*i)[1]));
  return found;
}

TEST(Axis, StartsAtZeroAndEndsOnARoundTick) {
  const Axis axis({3, 87}, false, true);
  EXPECT_DOUBLE_EQ(axis.place(0), 0);
  EXPECT_DOUBLE_EQ(axis.ticks().back(), 100);
  EXPECT_DOUBLE_EQ(axis.place(50), 0.5);
  EXPECT_DOUBLE_EQ(axis.place(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Axis, LogarithmicStartsAndEndsOnRoundNumbers) {
  const Axis bars({0.02, 42.6, 0}, true, true);
  EXPECT_EQ(bars.ticks().size(), 4u) << "0.01, 0.1, 1, 10";
  EXPECT_NEAR(bars.place(0.01), 0, 1e-12);
  EXPECT_NEAR(bars.place(50), 1, 1e-12);
  EXPECT_NEAR(bars.place(std::sqrt(0.01 * 50)), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(bars.place(0), 0);
  const Axis sweep({1, 32}, true, false);
  EXPECT_EQ(sweep.ticks().size(), 6u) << "1, 2, 5, 10, 20, 50";
  EXPECT_NEAR(sweep.ticks().front(), 1, 1e-12);
  EXPECT_NEAR(sweep.ticks().back(), 50, 1e-9);
}

TEST(Axis, OneValueAndNone) {
  EXPECT_GT(Axis({5}, false, false).ticks().size(), 1u);
  EXPECT_GT(Axis({}, false, true).ticks().size(), 1u);
  EXPECT_GT(Axis({7}, true, true).ticks().size(), 1u);
}

TEST(BarChart, LengthsAreInProportion) {
  const std::string text =
      svg(BarChart{"t <&> \"u\"", "%", "limit", false, {{"one", 25, "25 %", 0}, {"two", 100, "100 %", 50}}});
  EXPECT_NE(text.find("t &lt;&amp;&gt; &quot;u&quot;"), std::string::npos);
  const auto bars = numbers(text, "width=\"([0-9.]+)\" height=\"[0-9.]+\" class=\"bar\"");
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_NEAR(bars[1] / bars[0], 4.0, 0.01);  // coordinates are written to 0.1
  EXPECT_EQ(numbers(text, "<line x1=\"([0-9.]+)\"[^/]*class=\"marker\"").size(), 2u) << "the tick and its legend";
}

TEST(BarChart, NotANumberIsNoBar) {
  const std::string text =
      svg(BarChart{"t", "s", "", true, {{"bad", std::nan(""), "wrong", 0}, {"good", 2, "2 s", 0}}});
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_NE(text.find("class=\"wrong\""), std::string::npos);
}

TEST(BarChart, StartsWhereItsNeighboursDo) {
  BarChart chart{"t", {}, {}, false, {{"short", 25, "25 %", 0}}};
  const auto start = [&] { return numbers(svg(chart), "<rect x=\"([0-9.]+)\"[^/]*class=\"bar\"").front(); };
  EXPECT_NEAR(start(), text_width("short") + 10, 0.1);
  chart.label_width = 300;
  EXPECT_NEAR(start(), 310, 0.1);
}

TEST(TickText, HasNoExponentWhereDigitsDo) {
  EXPECT_EQ(tick_text(1000), "1000");
  EXPECT_EQ(tick_text(20000), "20000");
  EXPECT_EQ(tick_text(0.01), "0.01");
  EXPECT_EQ(tick_text(50), "50");
}

TEST(LineChart, PointsThatCannotBeDrawnAreLeftOut) {
  const std::string text = svg(LineChart{"sweep", "K", "GUPS", true, true, {{"a", {1, 2, 4, 8}, {1, 0, 4, 8}}}});
  EXPECT_EQ(numbers(text, "cx=\"([0-9.]+)\"").size(), 3u);
  EXPECT_THROW(svg(LineChart{"sweep", "", "", false, false, {{"a", {1, 2}, {1}}}}), Error);
}

TEST(Page, StacksItsDrawings) {
  const Drawing one{100, 50, "<g/>"};
  const auto height = [](const std::string& text) { return numbers(text, "height=\"([0-9]+)\"").front(); };
  EXPECT_GE(height(svg_page({one, one})), height(svg_page({one})) + 50);
}

}  // namespace
}  // namespace lepus::plot
