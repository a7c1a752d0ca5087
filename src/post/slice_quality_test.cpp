// SPDX-License-Identifier: Apache-2.0
#include "post/slice_quality.h"

#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace lepus::post {
namespace {

Slice slice_of(std::int64_t side, const std::function<double(double, double)>& value) {
  Slice slice;
  slice.width = slice.height = side;
  slice.pixel_width_mm = slice.pixel_height_mm = 0.5;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x)
      slice.values.push_back(static_cast<float>(value(static_cast<double>(x), static_cast<double>(y))));
  return slice;
}

TEST(SliceQuality, NoiseIsWhatAPlaneLeaves) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0, 0.1);
  const Slice slice = slice_of(64, [&](double x, double y) { return 3 + 0.2 * x - 0.7 * y + normal(random); });
  // 1024 values: the standard deviation's own error is 0.1 / sqrt(2 * 1024), of which five are allowed.
  EXPECT_NEAR(noise_in(slice, {10, 20, 32}), 0.1, 5 * 0.1 / std::sqrt(2.0 * 1024));
  const Slice plane = slice_of(64, [](double x, double y) { return 3 + 0.25 * x - 0.5 * y; });
  EXPECT_NEAR(noise_in(plane, {10, 20, 32}), 0, 1e-12);
}

TEST(SliceQuality, TheFlattestRegionLiesInTheObject) {
  std::mt19937 random(6);
  std::normal_distribution<double> normal(0, 1);
  // Air without noise at the left, an object whose upper half is rough.
  const Slice slice =
      slice_of(96, [&](double x, double y) { return x < 40 ? 0.0 : 10 + (y < 48 ? 2.0 : 0.1) * normal(random); });
  const FlatRegion region = flattest_region(slice);
  EXPECT_GE(region.x, 40);
  EXPECT_GE(region.y, 48);
  EXPECT_EQ(region.side, 8);
  EXPECT_LT(noise_in(slice, region), 0.2);
}

TEST(SliceQuality, GradientEnergyOfARamp) {
  // 3 per pixel along x and 1 along y, pixels of 0.5 mm: (6^2 + 2^2) per mm^2.
  EXPECT_NEAR(gradient_energy(slice_of(33, [](double x, double y) { return 3 * x + y; })), 40, 1e-9);
  const auto blurred_step = [](double width) {
    return gradient_energy(slice_of(64, [=](double x, double) { return std::tanh((x - 31.5) / width); }));
  };
  EXPECT_GT(blurred_step(1), 1.5 * blurred_step(3));
  EXPECT_EQ(gradient_energy(slice_of(2, [](double x, double) { return x; })), 0);
}

}  // namespace
}  // namespace lepus::post
