// SPDX-License-Identifier: Apache-2.0
// RabbitCT's score worked out by hand.
#include "bench/rabbitct/score.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "bench/rabbitct/format.h"

namespace lepus::rabbitct {
namespace {

TEST(RabbitScore, HounsfieldUnitsAreRoundedAndClamped) {
  const HuScale scale{2.0F, 1.0F};
  EXPECT_EQ(scored_hu(-5.0F, scale), 0.0F);
  EXPECT_EQ(scored_hu(0.0F, scale), 0.0F);  // not 1: only values above zero are scaled
  EXPECT_EQ(scored_hu(0.2F, scale), 1.0F);
  EXPECT_EQ(scored_hu(0.25F, scale), 2.0F);  // 1.5 is rounded up
  EXPECT_EQ(scored_hu(1e6F, scale), 4095.0F);
  EXPECT_EQ(scored_hu(std::nanf(""), scale), 0.0F);
  EXPECT_DOUBLE_EQ(unrounded_hu(0.2, scale), 1.4);
  EXPECT_EQ(unrounded_hu(1e6, scale), 4095.0);
  EXPECT_EQ(unrounded_hu(-1.0, scale), 0.0);
}

TEST(RabbitScore, ErrorsAreCounted) {
  const HuScale scale{1.0F, 0.0F};
  const float values[] = {10.0F, 10.4F, 10.6F, 5.0F, 100.0F, 7.0F, -3.0F};
  const std::uint16_t reference[] = {10, 10, 10, 8, 50, not_computed, 0};
  Score score;
  score.add(values, reference, 7, scale);
  EXPECT_EQ(score.voxels, 6);
  EXPECT_EQ(score.largest, 50);
  const double mse = (1 + 9 + 2500) / 6.0;
  EXPECT_DOUBLE_EQ(score.mean_squared_error(), mse);
  EXPECT_DOUBLE_EQ(score.root_mean_squared_error(), std::sqrt(mse));
  EXPECT_DOUBLE_EQ(score.psnr_db(), 10 * std::log10(4095.0 * 4095.0 / mse));
  EXPECT_EQ(score.histogram, (std::array<std::int64_t, 11>{3, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(score.not_finite, 0);
  const float bad = std::numeric_limits<float>::quiet_NaN();
  score.add(&bad, reference, 1, scale);
  EXPECT_EQ(score.not_finite, 1);
}

TEST(RabbitScore, NoErrorIsInfinitelyGood) {
  const float value = 3;
  const std::uint16_t reference = 3;
  Score score;
  score.add(&value, &reference, 1, {1.0F, 0.0F});
  EXPECT_TRUE(std::isinf(score.psnr_db()));
  UnroundedScore unrounded;
  const double exact = 3.25;
  unrounded.add(&value, &exact, 1, {2.0F, 0.0F});
  EXPECT_DOUBLE_EQ(unrounded.root_mean_squared_error(), 0.5);
}

// What the page says of small errors: sigma HU score about sqrt(0.8 sigma). Values spread evenly over a HU,
// errors uniform in +-a (sigma = a / sqrt(3)): the part that rounds the other way is a/2, and each such voxel scores 1.
TEST(RabbitScore, SmallErrorsScoreByTheirRoot) {
  Score score;
  const double a = 0.01, sigma = a / std::sqrt(3.0);
  std::uint32_t state = 1;
  for (int i = 0; i < 400000; ++i) {
    state = state * 1664525U + 1013904223U;
    const double truth = 100 + 0.0025 * (i % 400);
    const auto value = static_cast<float>(truth + a * (2.0 * (state >> 8) * 0x1p-24 - 1));
    const auto reference = static_cast<std::uint16_t>(std::floor(truth + 0.5));
    score.add(&value, &reference, 1, {1.0F, 0.0F});
  }
  // sqrt(a / 2) = sqrt(0.866 sigma); 4e5 samples of which 2000 count: 2 % of the mean square, 1 % of its root.
  EXPECT_NEAR(score.root_mean_squared_error(), std::sqrt(0.866 * sigma), 0.05 * std::sqrt(0.866 * sigma));
}

}  // namespace
}  // namespace lepus::rabbitct
