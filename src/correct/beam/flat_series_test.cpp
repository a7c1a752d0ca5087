// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/flat_series.h"

#include <cmath>

#include <gtest/gtest.h>

#include <lepus/error.h>

namespace lepus {
namespace {

std::vector<Buffer<float>> planes(std::int64_t pixels, const std::vector<float>& levels) {
  std::vector<Buffer<float>> all;
  for (const float level : levels) {
    Buffer<float> plane(pixels);
    for (std::int64_t i = 0; i < pixels; ++i) plane[i] = level + static_cast<float>(i);
    all.push_back(std::move(plane));
  }
  return all;
}

TEST(FlatSeries, ByHand) {
  // Before view 0, before view 4 and after the last of 10: 100, 140, 80.
  const FlatSeries series(3, 2, 10, {0, 4, 10}, planes(6, {100, 140, 80}));
  std::vector<float> row(3);
  series.row(0, 1, row.data());
  EXPECT_FLOAT_EQ(row[2], 100 + 40 * 0.5F / 4 + 5);
  series.row(3, 0, row.data());
  EXPECT_FLOAT_EQ(row[0], 135);
  series.row(4, 0, row.data());
  EXPECT_FLOAT_EQ(row[0], 135);
  series.row(9, 0, row.data());
  EXPECT_FLOAT_EQ(row[1], 85 + 1);
}

TEST(FlatSeries, MatchesTheReference) {
  const std::vector<double> positions{1.5, 2.25, 7, 30};
  const FlatSeries series(65, 3, 40, positions, planes(195, {1000, 900, 1100, 50}));
  const std::vector<FlatShare> shares = series.shares();
  ASSERT_EQ(shares.size(), 40U);
  std::vector<float> row(65);
  for (std::int64_t view = 0; view < 40; ++view) {
    series.row(view, 2, row.data());
    for (std::int64_t x = 0; x < 65; ++x) {
      std::vector<double> values;
      for (std::int64_t flat = 0; flat < 4; ++flat) values.push_back(series.plane(flat)[2 * 65 + x]);
      // Three roundings of values up to 1300.
      EXPECT_NEAR(row[static_cast<std::size_t>(x)], interpolated_flat_reference(positions, values, view), 1300 * 2e-7);
    }
    const FlatShare s = shares[static_cast<std::size_t>(view)];
    EXPECT_GE(s.share, 0);
    EXPECT_LE(s.share, 1);
    EXPECT_TRUE(s.after == s.before || s.after == s.before + 1);
  }
}

TEST(FlatSeries, OneFlatServesAllViews) {
  const FlatSeries series(2, 1, 5, {3}, planes(2, {7}));
  std::vector<float> row(2);
  for (std::int64_t view = 0; view < 5; ++view) {
    series.row(view, 0, row.data());
    EXPECT_EQ(row[0], 7);
    EXPECT_EQ(row[1], 8);
  }
}

TEST(FlatSeries, RefusesWhatDoesNotFit) {
  EXPECT_THROW(FlatSeries(2, 2, 5, {}, {}), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0}, planes(4, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {5, 0}, planes(4, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0, 0}, planes(4, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0, 5}, planes(3, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0}, planes(4, {std::nanf("")})), Error);
}

TEST(FlatSeries, NamesPixelsWithoutBeam) {
  std::vector<Buffer<float>> flats = planes(4, {10, 20});
  flats[0][2] = 0;
  flats[1][3] = -1;
  const FlatSeries series(2, 2, 5, {0, 5}, std::move(flats));
  EXPECT_EQ(series.unusable(), (std::vector<std::int64_t>{2, 3}));
}

}  // namespace
}  // namespace lepus
