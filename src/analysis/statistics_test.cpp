// SPDX-License-Identifier: Apache-2.0
#include "analysis/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/array_volume.h"
#include "core/test_context.h"

namespace lepus {
namespace {

TEST(statistics, by_hand) {
  TestContext f;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ArrayVolume volume({2, 2, 2, {}, {1, 1, 1}}, {1, 2, 3, 4, 5, 6, nan, std::numeric_limits<float>::infinity()});
  const VolumeStatistics s = volume_statistics(volume, 1, f.context);  // a slice at a time at least
  EXPECT_EQ(s.voxels, 8);
  EXPECT_EQ(s.not_finite, 2);
  EXPECT_EQ(s.smallest, 1);
  EXPECT_EQ(s.largest, 6);
  EXPECT_DOUBLE_EQ(s.mean, 3.5);
  EXPECT_NEAR(s.standard_deviation, std::sqrt(35.0 / 12), 1e-14);
}

// A large mean and a small spread: sums of squares would lose the spread altogether.
TEST(statistics, small_spread_on_a_large_mean) {
  TestContext f;
  std::vector<float> values;
  for (int i = 0; i < 8000; ++i) values.push_back(i % 2 == 0 ? 1e6F : 1e6F + 0.5F);
  const VolumeStatistics s = volume_statistics(ArrayVolume({20, 20, 20, {}, {1, 1, 1}}, values), 1 << 20, f.context);
  EXPECT_NEAR(s.standard_deviation, 0.25, 1e-9);
}

TEST(statistics, nothing_finite) {
  TestContext f;
  const ArrayVolume volume({1, 1, 1, {}, {1, 1, 1}}, {std::numeric_limits<float>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(volume_statistics(volume, 1, f.context).mean));
}

TEST(statistics, percentiles_as_numpy_has_them) {
  const std::vector<float> values{4, 1, 3, 2, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_DOUBLE_EQ(percentile(values, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(values, 100), 4);
  EXPECT_DOUBLE_EQ(percentile(values, 50), 2.5);
  EXPECT_DOUBLE_EQ(percentile(values, 25), 1.75);
  EXPECT_DOUBLE_EQ(percentile({}, 50), 0);
}

}  // namespace
}  // namespace lepus
