// SPDX-License-Identifier: Apache-2.0
// The formulas on numbers that can be checked by hand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "project/detector_point.h"
#include "project/interpolate.h"

namespace lepus {
namespace {

// u = (2x + 3y + 4) / w, v = (5z - 1) / w, w = 0.5x + 1
constexpr std::array<double, 12> matrix{2, 3, 0, 4, 0, 0, 5, -1, 0.5, 0, 0, 1};

TEST(detector_point, cone_divides_both_coordinates) {
  const auto p = detector_point(matrix.data(), Beam::cone, 2.0, 1.0, 3.0);
  EXPECT_EQ(p.w, 2.0);
  EXPECT_EQ(p.u, 5.5);
  EXPECT_EQ(p.v, 7.0);
}

TEST(detector_point, fan_leaves_the_row_undivided) {
  const auto p = detector_point(matrix.data(), Beam::fan, 2.0, 1.0, 3.0);
  EXPECT_EQ(p.u, 5.5);
  EXPECT_EQ(p.v, 14.0);
}

TEST(detector_point, weight_is_the_inverse_square_but_for_parallel_beams) {
  EXPECT_EQ(distance_weight(Beam::cone, 2.0), 0.25);
  EXPECT_EQ(distance_weight(Beam::fan, 2.0f), 0.25f);
  EXPECT_EQ(distance_weight(Beam::parallel, 2.0), 1.0);
}

TEST(detector_point, behind_the_source_is_not_in_front) {
  EXPECT_TRUE(in_front_of_source(0.1));
  EXPECT_FALSE(in_front_of_source(0.0));
  EXPECT_FALSE(in_front_of_source(-1.0));
  EXPECT_FALSE(in_front_of_source(std::numeric_limits<double>::quiet_NaN()));
}

// Keys' kernel from its definition.
double keys(double x) {
  x = std::abs(x);
  if (x <= 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

TEST(interpolate, cubic_weights_are_keys_kernel) {
  for (double f = 0; f <= 1; f += 0.125) {
    double weight[4];
    cubic_weights(f, weight);
    for (int t = 0; t < 4; ++t) EXPECT_NEAR(weight[t], keys(f - (t - 1)), 4e-16) << f;  // a few roundings near 1
  }
}

constexpr std::int64_t columns = 7, rows = 6;

TEST(interpolate, reproduces_polynomials_inside) {
  const auto linear = [](std::int64_t c, std::int64_t r) { return 3.0 + 2.0 * double(c) - 0.5 * double(r); };
  const auto form = [](std::int64_t c, std::int64_t r) { return double(c * c) + double(c * r) - double(r * r); };
  for (double u = 1.0; u < 5; u += 0.3)
    for (double v = 1.0; v < 4; v += 0.3) {
      EXPECT_NEAR(sample(Interpolation::linear, columns, rows, u, v, linear), 3 + 2 * u - 0.5 * v, 1e-14);
      EXPECT_NEAR(sample(Interpolation::cubic, columns, rows, u, v, linear), 3 + 2 * u - 0.5 * v, 1e-14);
      // a = -1/2 makes the kernel exact for the second degree
      EXPECT_NEAR(sample(Interpolation::cubic, columns, rows, u, v, form), u * u + u * v - v * v, 1e-13);
    }
}

TEST(interpolate, nearest_takes_the_closest_and_rounds_half_up) {
  const auto index = [](std::int64_t c, std::int64_t r) { return double(10 * c + r); };
  EXPECT_EQ(sample(Interpolation::nearest, columns, rows, 2.4, 3.6, index), 24.0);
  EXPECT_EQ(sample(Interpolation::nearest, columns, rows, 2.5, 3.49, index), 33.0);
  EXPECT_EQ(sample(Interpolation::nearest, columns, rows, -0.5, 0.0, index), 0.0);
  EXPECT_EQ(sample(Interpolation::nearest, columns, rows, 6.49, 5.49, index), 65.0);
}

TEST(interpolate, fades_to_zero_outside) {
  const auto one = [](std::int64_t c, std::int64_t r) {
    EXPECT_TRUE(c >= 0 && c < columns && r >= 0 && r < rows) << "asked for pixel " << c << ", " << r;
    return 1.0;
  };
  EXPECT_DOUBLE_EQ(sample(Interpolation::linear, columns, rows, -0.25, 2.0, one), 0.75);
  EXPECT_DOUBLE_EQ(sample(Interpolation::linear, columns, rows, 6.75, 5.5, one), 0.25 * 0.5);
  for (const auto kind : {Interpolation::nearest, Interpolation::linear, Interpolation::cubic})
    for (const double far : {-2.0, -100.0, 1e30, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_EQ(sample(kind, columns, rows, far, 2.0, one), 0.0);
      EXPECT_EQ(sample(kind, columns, rows, 2.0, far, one), 0.0);
    }
}

}  // namespace
}  // namespace lepus
