// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"
#include "device/host/band_kernels/zinger_medians.h"
#include "correct/pixels/zinger_reference.h"
#include <lepus/error.h>

namespace lepus::pixels {
namespace {

TestBand with_zingers(std::int64_t columns, std::int64_t views, std::int64_t rows, float height) {
  TestBand band = noisy_band(columns, views, rows, 3);
  std::mt19937_64 random(4);
  for (std::size_t i = 0; i < 3 + band.values.size() / 500; ++i) band.values[random() % band.values.size()] += height;
  return band;
}

TEST(Medians, OfEveryOrder) {
  const ExchangeFloats exchange;
  for (const int divisor : {1, 2})  // 2: some values are equal
    for (const int count : {3, 5, 7}) {
      std::vector<int> order;
      for (int i = 0; i < count; ++i) order.push_back(i);
      do {
        float v[7] = {};
        for (std::size_t i = 0; i < order.size(); ++i) v[i] = static_cast<float>(order[i] / divisor);
        const float got = count == 3   ? median_of_3(v[0], v[1], v[2], exchange)
                          : count == 5 ? median_of_5(v[0], v[1], v[2], v[3], v[4], exchange)
                                       : median_of_7(v[0], v[1], v[2], v[3], v[4], v[5], v[6], exchange);
        ASSERT_EQ(got, static_cast<float>(count / 2 / divisor));
      } while (std::ranges::next_permutation(order).found);
    }
}

TEST(Medians, OfRowsOfAnyLength) {
  for (const std::int64_t columns : {5, 7, 63, 64, 65, 257}) {
    TestBand band = noisy_band(columns, 7, 1);
    std::vector<float> got(static_cast<std::size_t>(columns));
    for (const int radius : {1, 2, 3}) {
      const float* rows[7];
      for (int i = 0; i < 7; ++i) rows[i] = &band.at(0, i, 0);
      view_medians(rows, radius, columns, got.data());
      for (std::int64_t x = 0; x < columns; ++x) {
        std::vector<float> values;
        for (int i = 0; i <= 2 * radius; ++i) values.push_back(band.at(0, i, x));
        std::ranges::sort(values);
        ASSERT_EQ(got[static_cast<std::size_t>(x)], values[static_cast<std::size_t>(radius)]);
      }
    }
    row_medians(&band.at(0, 0, 0), columns, got.data());
    for (std::int64_t x = 0; x < columns; ++x) {
      std::vector<float> values(&band.at(0, 0, 0) + first_neighbour(x, 2, columns),
                                &band.at(0, 0, 0) + first_neighbour(x, 2, columns) + 5);
      std::ranges::sort(values);
      ASSERT_EQ(got[static_cast<std::size_t>(x)], values[2]);
    }
  }
}

TEST(Zingers, MeanDistanceIsThatOfNormalNoise) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (const int radius : {1, 2, 3}) {
    double sum = 0;
    constexpr int draws = 200000;
    std::vector<double> values(static_cast<std::size_t>(2 * radius + 1));
    for (int i = 0; i < draws; ++i) {
      for (double& value : values) value = normal(random);
      const double first = values[0];
      std::ranges::nth_element(values, values.begin() + radius);
      sum += std::fabs(first - values[static_cast<std::size_t>(radius)]);
    }
    // |w - median| spreads by about 0.6: four standard errors of the mean are 4 * 0.6 / sqrt(200000).
    EXPECT_NEAR(sum / draws, mean_distance(radius), 0.0055) << radius;
  }
}

TEST(Zingers, ByHand) {
  // One column of five views is quiet but for one value; the row's median agrees.
  TestBand band(5, 5, 1);
  for (std::int64_t view = 0; view < 5; ++view)
    for (std::int64_t x = 0; x < 5; ++x) band.at(0, view, x) = static_cast<float>(10 + view);
  band.at(0, 1, 2) = 100;
  // Medians of all five views: 12 (the column: 10, 100, 12, 13, 14 -> 13). Distances in column 2: 3, 87, 1, 0, 1: mean
  // 18.4. 100 - 13 = 87 is above limit * 18.4 for limit 4, not for 5.
  for (const double limit : {4.0, 5.0}) {
    TestBand copy = band;
    ZingerRules rules;
    rules.limit = limit;
    EXPECT_EQ(reference_zingers(rules, copy.band().sinograms({0, 1}), 0), limit < 4.5 ? 1 : 0);
    EXPECT_EQ(copy.at(0, 1, 2), limit < 4.5 ? 13 : 100);
  }
}

// A bright line that moves by two columns a view is in each pixel for one view only, like a zinger; and it is in the
// neighbouring views, which a zinger is not.
TEST(Zingers, WhatMovesOnInTheNextViewStays) {
  TestBand band(60, 20, 1);
  std::mt19937_64 random(9);
  std::normal_distribution<float> normal;
  for (float& value : band.values) value = 0.5F + 0.001F * normal(random);
  for (std::int64_t view = 0; view < 20; ++view) band.at(0, view, 10 + 2 * view) += 0.1F;
  band.at(0, 10, 50) += 0.1F;
  const auto replaced = [&](int along) {
    TestBand copy = band;
    ZingerRules rules;
    rules.along = along;
    return reference_zingers(rules, copy.band().sinograms({0, 1}), 0);
  };
  EXPECT_EQ(replaced(0), 21);
  EXPECT_EQ(replaced(1), 21) << "the line moves by more than that";
  EXPECT_EQ(replaced(2), 1);
}

TEST(Zingers, AgreeWithTheReference) {
  std::int64_t replaced = 0;
  TestHost machine(2);
  for (const ZingerNeighbours neighbours : {ZingerNeighbours::both, ZingerNeighbours::views, ZingerNeighbours::row})
    for (const int radius : {1, 2, 3})
      for (const std::int64_t columns : {5, 7, 63, 64, 65, 257})
        for (const std::int64_t views : {7, 33})
          for (const Stage stage : {Stage::grey_levels, Stage::line_integrals}) {
            const TestBand original = with_zingers(columns, views, 2, stage == Stage::grey_levels ? 1.0F : -1.0F);
            TestBand expected = original, got = original;
            ZingerRules rules;
            rules.neighbours = neighbours;
            rules.radius = radius;
            rules.along = columns % 2 == 0 ? 0 : radius + 1;
            rules.limit = 8 / mean_distance(rules.neighbours == ZingerNeighbours::row ? 2 : rules.radius);
            rules.sign = stage == Stage::grey_levels ? 1.0F : -1.0F;
            std::int64_t count = 0;
            for (std::int64_t row = 0; row < 2; ++row)
              count += reference_zingers(rules, expected.band().sinograms({0, 2}), row);
            const auto correction = make_zingers(
                {.radius_views = radius, .neighbours = neighbours, .along = rules.along}, facts_of(got, stage));
            correction->apply(got.band(), {0, 2}, machine.queue());
            ASSERT_EQ(got.values, expected.values) << columns << " x " << views << ", " << static_cast<int>(neighbours);
            EXPECT_EQ(correction->summary(),
                      std::to_string(count) + (count == 1 ? " zinger replaced" : " zingers replaced"));
            replaced += count;
          }
  EXPECT_GT(replaced, 500) << "the cases replace something";
}

TEST(Zingers, AreTheSameForEveryCutAndNumberOfThreads) {
  const TestBand original = with_zingers(65, 40, 5, 1.0F);
  TestBand whole = original, threaded = original;
  TestHost one(1), three(3);
  make_zingers(ZingerOptions{}, facts_of(whole))->apply(whole.band(), {0, 5}, one.queue());
  EXPECT_NE(whole.values, original.values);
  make_zingers(ZingerOptions{}, facts_of(whole))->apply(threaded.band(), {0, 5}, three.queue());
  EXPECT_EQ(threaded.values, whole.values);
  for (std::int64_t row = 0; row < 5; ++row) {
    TestBand part = original.part(row, row + 1);
    make_zingers(ZingerOptions{}, facts_of(whole))
        ->apply({part.values.data(), 65, 40, {row, row + 1}, 5}, {row, row + 1}, three.queue());
    EXPECT_EQ(part.values, whole.part(row, row + 1).values);
  }
}

TEST(Zingers, RefuseWhatCannotWork) {
  const auto make = [](const ZingerOptions& options, std::int64_t columns, std::int64_t views) {
    ScanFacts facts;
    facts.columns = columns;
    facts.views = views;
    facts.rows = 1;
    make_zingers(options, facts);
  };
  EXPECT_NO_THROW(make({}, 5, 5));
  EXPECT_THROW(make({}, 5, 4), Error);
  EXPECT_NO_THROW(make({.neighbours = ZingerNeighbours::row}, 5, 1));
  EXPECT_THROW(make({}, 4, 5), Error);
  EXPECT_NO_THROW(make({.neighbours = ZingerNeighbours::views}, 1, 5));
  EXPECT_THROW(make({.radius_views = 4}, 9, 9), Error);
  EXPECT_THROW(make({.along = 17}, 9, 9), Error);
  EXPECT_THROW(make({.tolerance = 0}, 9, 9), Error);
}

}  // namespace
}  // namespace lepus::pixels
