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

// I0 of one row of a view.
std::vector<float> row_of(const FlatSeries& series, std::int64_t view, std::int64_t row) {
  const FlatShare s = series.share(view);
  const std::int64_t first = row * series.columns();
  std::vector<float> i0;
  for (std::int64_t i = first; i < first + series.columns(); ++i)
    i0.push_back(interpolated_flat(series.plane(s.before)[i], series.plane(s.after)[i], s.share));
  return i0;
}

TEST(FlatSeries, ByHand) {
  // Before view 0, before view 4 and after the last of 10: 100, 140, 80.
  const FlatSeries series(3, 2, 10, {0, 4, 10}, planes(6, {100, 140, 80}));
  EXPECT_FLOAT_EQ(row_of(series, 0, 1)[2], 100 + 40 * 0.5F / 4 + 5);
  EXPECT_FLOAT_EQ(row_of(series, 3, 0)[0], 135);
  EXPECT_FLOAT_EQ(row_of(series, 4, 0)[0], 135);
  EXPECT_FLOAT_EQ(row_of(series, 9, 0)[1], 85 + 1);
}

TEST(FlatSeries, MatchesTheReference) {
  const std::vector<double> positions{1.5, 2.25, 7, 30};
  const FlatSeries series(65, 3, 40, positions, planes(195, {1000, 900, 1100, 50}));
  const std::vector<FlatShare> shares = series.shares();
  ASSERT_EQ(shares.size(), 40U);
  for (std::int64_t view = 0; view < 40; ++view) {
    const std::vector<float> row = row_of(series, view, 2);
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
  for (std::int64_t view = 0; view < 5; ++view) EXPECT_EQ(row_of(series, view, 0), (std::vector<float>{7, 8}));
}

TEST(FlatSeries, RefusesWhatDoesNotFit) {
  EXPECT_THROW(FlatSeries(2, 2, 5, {}, {}), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0}, planes(4, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {5, 0}, planes(4, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0, 0}, planes(4, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0, 5}, planes(3, {1, 2})), Error);
  EXPECT_THROW(FlatSeries(2, 2, 5, {0}, planes(4, {std::nanf("")})), Error);
}

}  // namespace
}  // namespace lepus
