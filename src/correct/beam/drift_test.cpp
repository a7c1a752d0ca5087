// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "correct/beam/air_region.h"
#include "correct/beam/beam_reference.h"
#include "correct/beam/test_bands.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace test_bands;

double beam_of(std::int64_t view) { return 1 + 0.1 * std::sin(0.7 * static_cast<double>(view)); }

// A disc that swings from side to side in front of air, with noise of 1 %, under a beam that changes by 10 %.
// swing: of the disc's middle, in columns; the disc is half as wide as the frame.
TestScan swinging_disc(std::int64_t columns, std::int64_t rows, std::int64_t views, double swing) {
  TestScan scan = TestScan::of_size(columns, rows, views);
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 0.01);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t column = 0; column < columns; ++column) {
        const double middle = 0.5 * static_cast<double>(columns) + swing * std::sin(0.2 * static_cast<double>(view));
        const double x = (static_cast<double>(column) - middle) / (0.25 * static_cast<double>(columns));
        const double chord = x * x < 1 ? std::sqrt(1 - x * x) : 0;
        scan.at(row, view, column) = static_cast<float>(beam_of(view) * std::exp(-1.5 * chord) * (1 + noise(random)));
      }
  return scan;
}

std::string message_of(const DriftOptions& options, const ScanFacts& facts) {
  try {
    make_drift(options, facts);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Drift, ClippedMeanIgnoresOutliers) {
  std::vector<float> values{1, 1.1F, 0.9F, 1.05F, 0.95F, 50, -3};
  EXPECT_NEAR(clipped_mean(values), 1, 1e-6);
  std::vector<float> constant{2, 2, 2, 900};
  EXPECT_NEAR(clipped_mean(constant), 2, 1e-6);
  std::vector<float> one{4};
  EXPECT_EQ(clipped_mean(one), 4);
}

TEST(Drift, FoundAtTheEdgesAndCorrectedToTheNoise) {
  const TestScan scan = swinging_disc(160, 30, 40, 12);
  Facts f(scan, Stage::grey_levels);
  const std::vector<AirPart> parts = find_air({160, 30, 40, f.facts.band});
  ASSERT_EQ(parts.size(), 2U);
  // The disc reaches from 28 to 132 at most; a strip is an eighth of the frame at most.
  for (const AirPart& part : parts) EXPECT_TRUE(part.column1 <= 28 || part.column0 >= 132);
  const AirLevels air = measure_air({160, 30, 40, f.facts.band}, parts);
  // 1 % of noise over n pixels, known from the blocks to a tenth.
  const double expected = 0.01 / std::sqrt(static_cast<double>(air.pixels));
  EXPECT_NEAR(air.noise, expected, 0.2 * expected);
  double squares = 0;
  for (std::int64_t view = 0; view < 40; ++view)
    squares += std::pow(air.levels[static_cast<std::size_t>(view)] / beam_of(view) - 1, 2);
  EXPECT_LT(std::sqrt(squares / 40), 1.4 * expected);  // 40 numbers: their rms is known to 11 %
  const auto drift = make_drift({}, f.facts);
  EXPECT_TRUE(f.warnings.empty()) << f.warnings.front();
  const std::vector<float> out = corrected(*drift, scan, 30, 2);
  for (std::int64_t row = 0; row < 30; ++row)
    for (std::int64_t view = 0; view < 40; ++view) {
      const auto i = static_cast<std::size_t>((row * 40 + view) * 160 + 80);
      // The level is off by a few of its own deviations of 1.5e-4 at most.
      ASSERT_NEAR(out[i] / (scan.values[i] / beam_of(view)), 1, 5 * expected);
    }
}

TEST(Drift, MatchesTheReferenceInEveryCut) {
  for (const std::int64_t columns : {7, 64, 65, 257}) {
    const TestScan scan = TestScan::noise(columns, 5, 9, 0.9F, 1.1F);
    Facts f(scan, Stage::grey_levels);
    const auto drift = make_drift({.region = {{0, 5, 0, 5}}}, f.facts);
    const AirLevels air = measure_air({columns, 5, 9, f.facts.band}, {air_part(0, 5, 0, 5)});
    const std::vector<float> whole = corrected(*drift, scan, 5, 1);
    for (std::int64_t row = 0; row < 5; ++row) {
      const std::vector<double> expected = scale_views_reference(scan.sinogram(row), columns, air.levels);
      for (std::size_t i = 0; i < expected.size(); ++i)  // two roundings
        ASSERT_NEAR(whole[static_cast<std::size_t>(row) * expected.size() + i], expected[i], 1.3 * 1.3e-7);
    }
    for (const std::int64_t rows : {1, 2})
      for (const int threads : {1, 3}) EXPECT_TRUE(same_bits(whole, corrected(*drift, scan, rows, threads)));
  }
}

TEST(Drift, NoticesARegionInsideTheObject) {
  const TestScan scan = swinging_disc(160, 20, 40, 12);
  Facts f(scan, Stage::grey_levels);
  const std::string inside = message_of({.region = {{70, 90, 5, 15}}}, f.facts);
  EXPECT_NE(inside.find("does not look like air"), std::string::npos) << inside;
  EXPECT_NE(inside.find("region_px"), std::string::npos) << inside;
  // At its rim, with the threshold out of the way: it moves through, and the frame is brighter elsewhere.
  make_drift({.region = {{20, 50, 5, 15}}, .lowest_level = 0.1}, f.facts);
  ASSERT_FALSE(f.warnings.empty());
  EXPECT_NE(f.warnings.front().find("the object may pass through"), std::string::npos);
  // A disc that stands still inside: nothing moves, but much is brighter.
  const TestScan still = swinging_disc(160, 20, 40, 0);
  Facts g(still, Stage::grey_levels);
  make_drift({.region = {{70, 90, 5, 15}}, .lowest_level = 0.1}, g.facts);
  ASSERT_EQ(g.warnings.size(), 1U);
  EXPECT_NE(g.warnings.front().find("brighter"), std::string::npos);
}

TEST(Drift, SaysWhereThereIsNoAirAtTheEdges) {
  const TestScan scan = swinging_disc(160, 20, 40, 60);  // the disc leaves on both sides
  Facts f(scan, Stage::grey_levels);
  const std::string message = message_of({}, f.facts);
  EXPECT_NE(message.find("region_px"), std::string::npos) << message;
}

TEST(Drift, OneSideIsEnough) {
  TestScan scan = swinging_disc(160, 20, 40, 0);
  for (std::int64_t row = 0; row < 20; ++row)
    for (std::int64_t view = 0; view < 40; ++view)
      for (std::int64_t column = 0; column < 40; ++column) scan.at(row, view, column) *= 0.5F;
  Facts f(scan, Stage::grey_levels);
  const std::vector<AirPart> parts = find_air({160, 20, 40, f.facts.band});
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_GE(parts[0].column0, 132);
}

TEST(Drift, RefusesBadRegionsAndFramesWithoutBeam) {
  TestScan scan = TestScan::noise(20, 4, 9, 0.9F, 1.1F);
  Facts f(scan, Stage::grey_levels);
  for (const DriftOptions::Region& region :
       {DriftOptions::Region{0, 21, 0, 4}, {5, 5, 0, 4}, {-1, 4, 0, 4}, {0, 4, 0, 5}, {0, 4, 3, 0}})
    EXPECT_NE(message_of({.region = region}, f.facts).find("not a part of the detector"), std::string::npos);
  for (std::int64_t row = 0; row < 4; ++row)
    for (std::int64_t column = 0; column < 20; ++column) scan.at(row, 3, column) = 0;
  const std::string dark = message_of({.region = {{0, 5, 0, 4}}}, f.facts);
  EXPECT_NE(dark.find("view 3"), std::string::npos) << dark;
}

TEST(Dose, DividesByDoseOverReference) {
  const TestScan scan = TestScan::noise(65, 3, 4);
  Facts f(scan, Stage::grey_levels);
  const std::vector<double> doses{10, 11, 9, 10};
  const auto given = make_dose({.values = doses, .reference = 20}, f.facts);
  const auto by_mean = make_dose({.values = doses}, f.facts);  // 10
  const std::vector<float> a = corrected(*given, scan, 3, 1), b = corrected(*by_mean, scan, 2, 2);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double dose = doses[i / 65 % 4];
    ASSERT_NEAR(a[i], scan.values[i] * 20 / dose, 2.5 * 1.3e-7);
    ASSERT_NEAR(b[i], scan.values[i] * 10 / dose, 1.3 * 1.3e-7);
  }
}

TEST(Dose, RefusesWhatDoesNotFit) {
  const TestScan scan = TestScan::noise(8, 2, 3);
  Facts f(scan, Stage::grey_levels);
  EXPECT_THROW(make_dose({}, f.facts), Error);
  EXPECT_THROW(make_dose({.values = {1, 2}}, f.facts), Error);
  EXPECT_THROW(make_dose({.values = {1, 0, 2}}, f.facts), Error);
  EXPECT_THROW(make_dose({.values = {1, 1, 2}, .reference = -1}, f.facts), Error);
}

}  // namespace
}  // namespace lepus
