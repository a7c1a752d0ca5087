// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/ring_energy.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <lepus/math.h>

namespace lepus {
namespace {

struct Picture {
  std::int64_t width, height;
  std::vector<float> values;
  Picture(std::int64_t w, std::int64_t h) : width(w), height(h), values(static_cast<std::size_t>(w * h)) {}
  float& at(std::int64_t x, std::int64_t y) { return values[static_cast<std::size_t>(y * width + x)]; }
  Planes planes() { return {values.data(), width, height, width, 1, width * height}; }
};

TEST(RingEnergy, OfASingleStripeIsItsSquareOverTheColumns) {
  Picture p(100, 20);
  for (std::int64_t y = 0; y < 20; ++y)
    for (std::int64_t x = 0; x < 100; ++x) p.at(x, y) = 0.5F * static_cast<float>(y) + (x == 40 ? 0.25F : 0.0F);
  ThreadPool threads(1);
  const RingEnergy energy = ring_energy(p.planes(), threads);
  EXPECT_NEAR(energy.stripes, 0.0625 / 100, 1e-9);
  EXPECT_EQ(energy.flutter, 0);
  EXPECT_NEAR(decibels(0.1, 10), -20, 1e-12);
  EXPECT_EQ(decibels(0, 1), -200);
}

TEST(RingEnergy, AnObjectsEdgesDoNotCount) {
  Picture p(200, 90);
  for (std::int64_t y = 0; y < 90; ++y)
    for (std::int64_t x = 0; x < 200; ++x) {
      const double t = (static_cast<double>(x) - 100 - 60 * std::sin(0.07 * static_cast<double>(y))) / 30;
      p.at(x, y) = static_cast<float>(std::sqrt(std::max(0.0, 1 - t * t)));
    }
  ThreadPool threads(2);
  const double object = ring_energy(p.planes(), threads).total();
  for (std::int64_t y = 0; y < 90; ++y) p.at(77, y) += 0.05F;
  EXPECT_GT(ring_energy(p.planes(), threads).total(), 5 * object);
}

TEST(RingEnergy, FlutterIsTheNoiseBeyondTheNeighbours) {
  Picture p(100, 4000);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (float& v : p.values) v = 0.01F * normal(random);
  for (std::int64_t y = 0; y < 4000; ++y) p.at(33, y) *= 30;
  ThreadPool threads(1);
  // 0.3^2 - 0.01^2 in one of 100 columns. The median of 4000 independent values has a relative error of 1.2 /
  // sqrt(4000), that of bends that share views about 1.5 times as much, their square twice that: 6 %, and that 2.5
  // times.
  EXPECT_NEAR(ring_energy(p.planes(), threads).flutter, 0.0899 / 100, 0.15 * 0.0899 / 100);
  const StripeProfile profile = stripe_profile(p.planes(), 0, ring_energy_radius(p.width));
  EXPECT_TRUE(profile.unusual[33]);
  EXPECT_FALSE(profile.unusual[34]);
}

TEST(RingEnergy, OfASliceCountsRingsAboutTheAxisOnly) {
  Picture ring(121, 121), shifted(121, 121);
  for (std::int64_t y = 0; y < 121; ++y)
    for (std::int64_t x = 0; x < 121; ++x) {
      const double r = std::hypot(static_cast<double>(x) - 60, static_cast<double>(y) - 58);
      ring.at(x, y) = static_cast<float>(std::exp(-(r - 30) * (r - 30) / 2));
      const double s = std::hypot(static_cast<double>(x) - 75, static_cast<double>(y) - 45);
      shifted.at(x, y) = static_cast<float>(std::exp(-(s - 30) * (s - 30) / 2));
    }
  const double about_axis = slice_ring_energy(ring.planes(), 60, 58);
  // A Gaussian of width 1: its square's integral sqrt(pi), over 58 - 4 radii. Interpolation lowers the peak a little.
  EXPECT_NEAR(about_axis, std::sqrt(pi) / 54, 0.15 * std::sqrt(pi) / 54);
  EXPECT_LT(slice_ring_energy(shifted.planes(), 60, 58), 0.01 * about_axis);
  EXPECT_EQ(slice_ring_energy(ring.planes(), 1, 1), 0);  // no room for rings
}

}  // namespace
}  // namespace lepus
