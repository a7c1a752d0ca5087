// SPDX-License-Identifier: Apache-2.0
#include "run/air_level.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace lepus {
namespace {

// Transmission of a disc of radius 1 and line integral `through` along its diameter, seen by blocks across -half to
// half.
std::vector<float> disc(double half, double through, double level, double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> error(0, noise);
  std::vector<float> means;
  for (int i = 0; i < 400; ++i) {
    const double s = half * (2 * (i + 0.5) / 400 - 1);
    means.push_back(
        static_cast<float>(level * std::exp(-through * std::sqrt(std::max(0.0, 1 - s * s))) * (1 + error(random))));
  }
  return means;
}

TEST(AirLevel, IsFoundBesideAnObjectWhateverTheExposure) {
  for (const double level : {0.3, 0.8, 1.0, 1.25})
    for (const double noise : {0.0, 0.005, 0.02}) {
      const auto air = air_level(disc(1.1, 3, level, noise), noise * level);
      ASSERT_TRUE(air) << level << " " << noise;
      EXPECT_NEAR(*air, level, level * (0.005 + noise));
    }
}

TEST(AirLevel, IsNotSeenWhereTheObjectFillsTheView) {
  for (const double half : {0.2, 0.5, 0.8, 0.95})
    for (const double through : {0.5, 1.0, 3.0, 6.0})
      EXPECT_FALSE(air_level(disc(half, through, 1, 0.003), 0.003)) << half << " " << through;
}

TEST(AirLevel, CannotBeKnownInMuchNoiseOrFromFewBlocks) {
  EXPECT_FALSE(air_level(disc(1.3, 3, 1, 0.1), 0.1));
  EXPECT_FALSE(air_level(std::vector<float>(8, 1.0F), 0.001));
}

}  // namespace
}  // namespace lepus
