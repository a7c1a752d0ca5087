// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "correct/pixels/hot_reference.h"
#include "device/host/band_kernels/hot_statistics.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"
#include <lepus/error.h>

namespace lepus::pixels {
namespace {

TEST(HotWeights, AreTheOriginalOnesForWindowsOfTwo) {
  const HotRules rules = hot_rules({.window = 2, .gap = 3}, 100);
  EXPECT_DOUBLE_EQ(one_sided_gain(rules.weights), std::sqrt(152.0));
  EXPECT_DOUBLE_EQ(two_sided_gain(rules.weights), std::sqrt(94.0));
  EXPECT_DOUBLE_EQ(rules.weights.one_scale, 1 / std::sqrt(152.0));
  const HotRules plain = hot_rules({.window = 2, .gap = 3, .normalise = false}, 100);
  EXPECT_EQ(plain.weights.one_scale, 1);
  EXPECT_EQ(plain.weights.two_scale, 1);
  EXPECT_EQ(plain.minimum_spread, deviation_rounding);
}

TEST(HotWeights, OfLargerWindowsCancelTrends) {
  for (const int window : {3, 4, 6, 8, 32})
    for (const int gap : {1, 5, 64}) {
      const NoiseWeights w = hot_rules({.window = window, .gap = gap}, 100).weights;
      double one_sum = 0, one_linear = 0, two_sum = 0, two_square = 0, scale = 0;
      for (int i = 0; i < window; ++i) {
        const double t = gap + i;
        one_sum += w.one[i];
        one_linear += w.one[i] * t;
        two_sum += 2.0 * w.two[i];
        two_square += 2.0 * w.two[i] * t * t;
        scale += std::fabs(w.one[i]) + std::fabs(w.two[i]);
      }
      // Weights are rounded to float: 6e-8 of each.
      const double rounding = 6e-8 * scale, t = gap + window;
      EXPECT_NEAR(one_sum, 1, rounding);
      EXPECT_NEAR(one_linear, 0, rounding * t);
      EXPECT_NEAR(two_sum, 1, 2 * rounding);
      EXPECT_NEAR(two_square, 0, 2 * rounding * t * t);
    }
}

// One view but for a second of zeros, so that d = |n|: the formulas of the detectors by hand.
TEST(HotReference, DeviationsByHand) {
  TestBand band(9, 2, 1);
  const float w[9] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
  std::copy_n(w, 9, band.values.begin());
  const HotRules classic = hot_rules({.method = HotMethod::classic}, 2);
  const auto d = reference_deviations(classic, band.band().sinograms({0, 1}), 0);
  EXPECT_DOUBLE_EQ(d.middle[4], std::fabs(6.0 * 5 - 5 * (1 + 9) + 2 * (4 + 2)));
  EXPECT_DOUBLE_EQ(d.middle[2], std::fabs(6.0 * 4 - 5 * (1 + 1) + 2 * (3 + 5)));
  EXPECT_EQ(d.middle[1], 0);
  EXPECT_EQ(d.middle[7], 0);
  const HotRules shifted = hot_rules({.window = 2, .gap = 3}, 2);
  const auto s = reference_deviations(shifted, band.band().sinograms({0, 1}), 0);
  EXPECT_NEAR(s.left[4], std::fabs(6.0 * 5 - 10 * 1 + 4 * 3) / std::sqrt(152.0), 1e-14);
  EXPECT_NEAR(s.right[4], std::fabs(6.0 * 5 - 10 * 6 + 4 * 5) / std::sqrt(152.0), 1e-14);
  EXPECT_NEAR(s.middle[4], std::fabs(6.0 * 5 - 5 * (1 + 6) + 2 * (3 + 5)) / std::sqrt(94.0), 1e-14);
  EXPECT_EQ(s.left[3], 0) << "its left window leaves the row";
  EXPECT_EQ(s.right[5], 0);
}

TEST(HotReference, ReplacesByTheMeanOfBothWindows) {
  const HotRules rules = hot_rules({.window = 2, .gap = 2, .replace_by = HotReplacement::windows}, 2);
  const float w[9] = {1, 2, 3, 50, 60, 70, 8, 13, 21};
  unsigned char hot[9] = {0, 0, 0, 1, 1, 1, 0, 0, 0};
  // Of the fifth pixel: pairs (2, 6) and (1, 7).
  EXPECT_FLOAT_EQ(replacement(rules, w, hot, 9, 4), (3 + 8 + 2 + 13) / 4.0F);
  // Of the fourth: the pair (1, 5) holds a hot pixel, (0, 6) is left.
  EXPECT_FLOAT_EQ(replacement(rules, w, hot, 9, 3), (1 + 8) / 2.0F);
  hot[1] = hot[0] = 1;  // no pair is left for the fourth: the line from pixel 2 to pixel 6
  EXPECT_FLOAT_EQ(replacement(rules, w, hot, 9, 3), 3 + (8 - 3) / 4.0F);
  EXPECT_FLOAT_EQ(replacement(rules, w, hot, 9, 0), 3) << "at the end of the row, the only good neighbour";
  std::fill(hot, hot + 9, static_cast<unsigned char>(1));
  EXPECT_EQ(replacement(rules, w, hot, 9, 4), 60) << "nothing good in the row";
  const HotRules bridge = hot_rules({.window = 2, .gap = 2}, 2);
  for (int x = 0; x < 9; ++x) hot[x] = x >= 3 && x < 6;
  EXPECT_FLOAT_EQ(replacement(bridge, w, hot, 9, 4), 3 + (8 - 3) * 2 / 4.0F);
  const HotRules classic = hot_rules({.method = HotMethod::classic}, 2);
  std::fill(hot, hot + 9, static_cast<unsigned char>(0));
  hot[3] = 1;
  EXPECT_FLOAT_EQ(replacement(classic, w, hot, 9, 3), (3 + 60) / 2.0F);
}

TEST(HotReference, FindsAKnownRunAndNothingElse) {
  TestBand band(200, 64, 1);
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  for (float& value : band.values) value = 1 + 0.01F * normal(random);
  for (std::int64_t view = 0; view < 64; ++view)
    for (std::int64_t x = 80; x < 85; ++x) band.at(0, view, x) += 0.1F;
  const auto hot = reference_hot_pixels(hot_rules({}, 64), 3, band.band().sinograms({0, 1}), 0);
  for (std::size_t x = 0; x < hot.size(); ++x) EXPECT_EQ(hot[x], x >= 80 && x < 85) << x;
  for (std::int64_t view = 0; view < 64; ++view)
    for (std::int64_t x = 80; x < 85; ++x) EXPECT_NEAR(band.at(0, view, x), 1, 0.04) << "noise of 0.0085 at most";
}

// A step that stays at its place deviates as much as a fault does, but only one side sees it; a fault that shows in one
// view in ten is no more than an outline that passes.
TEST(HotReference, AFaultStandsOutOnBothSidesAndInManyViews) {
  TestBand band(200, 100, 3);
  std::mt19937_64 random(6);
  std::normal_distribution<float> normal;
  for (float& value : band.values) value = 1 + 0.01F * normal(random);
  for (std::int64_t view = 0; view < 100; ++view) {
    for (std::int64_t x = 80; x < 200; ++x) band.at(0, view, x) -= 0.3F;
    if (view % 10 == 0) band.at(1, view, 100) += 0.5F;
    if (view % 2 == 0) band.at(2, view, 100) += 0.5F;
  }
  const HotRules asked = hot_rules({}, 100), unasked = hot_rules({.share_of_views = 0}, 100);
  const auto count = [&](const HotRules& rules, std::int64_t row) {
    TestBand copy = band;
    const auto hot = reference_hot_pixels(rules, 1, copy.band().sinograms({0, 3}), row);
    return std::accumulate(hot.begin(), hot.end(), 0);
  };
  EXPECT_GT(count(unasked, 0), 0) << "the step";
  EXPECT_EQ(count(asked, 0), 0);
  EXPECT_EQ(count(unasked, 1), 1) << "one view in ten";
  EXPECT_EQ(count(asked, 1), 0);
  EXPECT_EQ(count(asked, 2), 1) << "every other view";
}

// Differences of values up to 2.7 are rounded to 1.2e-7, products and sums of up to 64 terms to a few times that,
// against a noise of 0.01: some 1e-5 of d at worst. The largest over all cases is 8.7e-6.
TEST(HotStatistics, AgreeWithTheReference) {
  for (const HotPixelOptions& options : hot_option_cases())
    for (const std::int64_t columns : {1, 2, 7, 63, 64, 65, 257})
      for (const std::int64_t views : {2, 31, 33, 100}) {
        TestBand band = noisy_band(columns, views, 1);
        const HotRules rules = hot_rules(options, views);
        const Planes sinograms = band.band().sinograms({0, 1});
        const auto expected = reference_deviations(rules, sinograms, 0);
        HotScratch scratch;
        scratch.resize(columns);
        hot_statistics(rules, sinograms, 0, 0, columns, scratch);
        for (std::size_t x = 0; x < static_cast<std::size_t>(columns); ++x) {
          EXPECT_NEAR(scratch.deviation[1][x], expected.middle[x], deviation_rounding * expected.middle[x]);
          if (options.method == HotMethod::classic) continue;  // has no one-sided deviations
          EXPECT_NEAR(scratch.deviation[0][x], expected.left[x], deviation_rounding * expected.left[x]);
          EXPECT_NEAR(scratch.deviation[2][x], expected.right[x], deviation_rounding * expected.right[x]);
        }
      }
}

TEST(HotStatistics, OfAPartAreTheBitsOfTheWhole) {
  TestBand band = noisy_band(257, 70, 1);
  const HotRules rules = hot_rules({}, 70);
  const Planes sinograms = band.band().sinograms({0, 1});
  HotScratch whole, part;
  whole.resize(257);
  part.resize(257);
  hot_statistics(rules, sinograms, 0, 0, 257, whole);
  for (const std::int64_t first : {0, 3, 9, 100, 245})
    for (const std::int64_t last : {10, 11, 150, 250, 257}) {
      if (last < first) continue;
      hot_statistics(rules, sinograms, 0, first, last, part);
      for (int i = 0; i < 3; ++i)
        for (auto x = static_cast<std::size_t>(first); x < static_cast<std::size_t>(last); ++x)
          ASSERT_EQ(part.deviation[i][x], whole.deviation[i][x]);
    }
}

// Replaced values are the same expression of the same floats. A deviation within 1e-5 of its threshold could fall on
// the other side; in these cases none does.
TEST(HotPixels, AgreeWithTheReference) {
  const std::int64_t rows = 2;
  std::int64_t replaced = 0;
  for (const HotPixelOptions& options : hot_option_cases())
    for (const std::int64_t columns : {7, 41, 63, 64, 65, 257, 401})
      for (const auto& [views, iterations] :
           {std::pair<std::int64_t, std::int64_t>{33, 1}, {31, 3}, {33, 3}, {64, 3}}) {
        const HotRules rules = hot_rules(options, views);
        if (columns < (options.method == HotMethod::classic ? 7 : 4 * rules.reach())) continue;
        const TestBand original = noisy_band(columns, views, rows);
        TestBand expected = original, got = original;
        std::int64_t count = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
          const auto hot =
              reference_hot_pixels(rules, static_cast<int>(iterations), expected.band().sinograms({0, rows}), row);
          count += std::accumulate(hot.begin(), hot.end(), std::int64_t{0});
        }
        TestHost machine(2);
        const auto correction = make_hot_pixels(hot_options(options, iterations), facts_of(got));
        correction->apply(got.band(), {0, rows}, machine.queue());
        EXPECT_EQ(got.values, expected.values) << columns << " columns, window " << options.window.value_or(0);
        EXPECT_TRUE(correction->summary().starts_with(std::to_string(count) + " hot pixel")) << correction->summary();
        replaced += count;
      }
  EXPECT_GT(replaced, 200) << "the cases replace something";
}

TEST(HotPixels, AreTheSameForEveryCutAndNumberOfThreads) {
  const TestBand original = noisy_band(257, 50, 7);
  TestBand whole = original;
  TestHost one(1), three(3);
  make_hot_pixels(hot_options(), facts_of(whole))->apply(whole.band(), {0, 7}, one.queue());
  EXPECT_NE(whole.values, original.values);
  TestBand threaded = original;
  const auto correction = make_hot_pixels(hot_options(), facts_of(whole));
  correction->apply(threaded.band(), {0, 7}, three.queue());
  EXPECT_EQ(threaded.values, whole.values);
  const std::string all = correction->summary();
  const auto cuts = make_hot_pixels(hot_options(), facts_of(whole));
  for (const auto& [first, last] : {std::pair<std::int64_t, std::int64_t>{0, 2}, {2, 3}, {1, 4}, {3, 7}}) {
    TestBand part = original.part(first, last);
    const SinogramBand band{part.values.data(), 257, 50, {first, last}, 7};
    cuts->apply(band, {first, last}, three.queue());
    EXPECT_EQ(part.values, whole.part(first, last).values);
  }
  EXPECT_EQ(cuts->summary(), all) << "rows that come twice are counted once";
  // Rows that are not wanted are left alone.
  TestBand some = original;
  make_hot_pixels(hot_options(), facts_of(whole))->apply(some.band(), {2, 4}, one.queue());
  EXPECT_EQ(some.part(0, 2).values, original.part(0, 2).values);
  EXPECT_EQ(some.part(2, 4).values, whole.part(2, 4).values);
  EXPECT_EQ(some.part(4, 7).values, original.part(4, 7).values);
}

TEST(HotPixels, ConstantScansStayAsTheyAre) {
  TestBand band(100, 10, 2);
  std::fill(band.values.begin(), band.values.end(), 0.25F);
  const TestBand before = band;
  TestHost machine(1);
  for (const HotPixelOptions& options : hot_option_cases()) {
    if (options.window == 32) continue;
    const auto correction = make_hot_pixels(hot_options(options, 2), facts_of(band));
    correction->apply(band.band(), {0, 2}, machine.queue());
    EXPECT_EQ(band.values, before.values);
    EXPECT_EQ(correction->summary(), "0 hot pixels replaced in every view");
  }
}

TEST(HotPixels, RefuseWhatCannotWork) {
  const auto message = [](HotPixelOptions options, std::int64_t columns = 624, std::int64_t views = 100) {
    ScanFacts facts;
    facts.columns = columns;
    facts.views = views;
    facts.rows = 1;
    try {
      make_hot_pixels(hot_options(options), facts);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.parts().where, "correction \"hot-pixels\"");
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message({}), "accepted");
  EXPECT_EQ(message({}, 40), "accepted");
  EXPECT_NE(message({}, 39).find("39 columns is too short"), std::string::npos);
  EXPECT_NE(message({}, 624, 1).find("one view"), std::string::npos);
  EXPECT_NE(message({.deviations = 2}).find("deviations = 2"), std::string::npos);
  EXPECT_NE(message({.window = 33}).find("2 to 32"), std::string::npos);
  EXPECT_NE(message({.tolerance = 0}).find("positive"), std::string::npos);
  EXPECT_NE(message({.share_of_views = 1.5}).find("share_of_views = 1.5"), std::string::npos);
  EXPECT_NE(message({.normalise = false}).find("window_px = 2"), std::string::npos);
}

TEST(HotPixels, TooManyAreRefusedUnlessTheyAreAllowed) {
  TestBand band = noisy_band(257, 50, 3);
  TestHost machine(1);
  HotPixelOptions options = hot_options();
  options.maximum_share = 0.001;
  const auto correction = make_hot_pixels(options, facts_of(band));
  EXPECT_EQ(correction->judge(), "") << "nothing was looked at yet";
  correction->apply(band.band(), {0, 3}, machine.queue());
  EXPECT_THROW(correction->judge(), Error);
  options.maximum_share = 1;
  const auto allowed = make_hot_pixels(options, facts_of(band));
  band = noisy_band(257, 50, 3);
  allowed->apply(band.band(), {0, 3}, machine.queue());
  EXPECT_NE(allowed->judge().find("% of the pixels"), std::string::npos);
}

}  // namespace
}  // namespace lepus::pixels
