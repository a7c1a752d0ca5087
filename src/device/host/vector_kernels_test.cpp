// SPDX-License-Identifier: Apache-2.0
// The host's vector kernels against plain loops in double precision.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "device/host/test_host.h"
#include "device/test_values.h"
#include "device/vector_kernels.h"

namespace lepus {
namespace {

using Values = std::vector<float>;

struct Field {
  explicit Field(std::int64_t n) : x(static_cast<std::size_t>(n)), y(x), z(x), at{x.data(), y.data(), z.data()} {}
  Field(const Field&) = delete;
  Values x, y, z;
  float* at[3];
};

TEST(VectorKernels, ElementByElement) {
  TestHost host(2);
  VectorKernels& kernels = host.device().vector_kernels();
  const std::int64_t n = 200003;  // blocks, and some more
  const Values x = random_values(n, 1);
  Values y = random_values(n, 2), out(x.size());
  y[7] = 0;
  kernels.combine(out.data(), 2, x.data(), -3, y.data(), n, host.queue());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_FLOAT_EQ(out[i], 2 * x[i] - 3 * y[i]);
  kernels.multiply(out.data(), x.data(), y.data(), n, host.queue());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], x[i] * y[i]);
  kernels.divide(out.data(), x.data(), y.data(), n, host.queue());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i == 7 ? 0 : x[i] / y[i]);
  kernels.clamp(out.data(), x.data(), -0.25F, 0.5F, n, host.queue());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], std::fmin(std::fmax(x[i], -0.25F), 0.5F));
  kernels.fill(out.data(), 3, n, host.queue());
  for (const float value : out) ASSERT_EQ(value, 3);
}

TEST(VectorKernels, SumsDoNotDependOnThreads) {
  const std::int64_t n = 300001;
  const Values x = random_values(n, 3), y = random_values(n, 4);
  double plain = 0, plain_sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    plain += static_cast<double>(x[i]) * y[i];
    plain_sum += x[i];
  }
  TestHost one(1), three(3);
  VectorKernels& kernels = one.device().vector_kernels();
  const double dot = kernels.dot(x.data(), y.data(), n, one.queue());
  EXPECT_NEAR(dot, plain, 1e-9);
  EXPECT_NEAR(kernels.sum(x.data(), n, one.queue()), plain_sum, 1e-9);
  EXPECT_EQ(dot, kernels.dot(x.data(), y.data(), n, three.queue()));
  EXPECT_EQ(kernels.sum(x.data(), n, one.queue()), kernels.sum(x.data(), n, three.queue()));
}

TEST(VectorKernels, LargestMagnitudeSeesNegativeValuesAndNan) {
  TestHost host(2);
  VectorKernels& kernels = host.device().vector_kernels();
  Values x = random_values(150000, 5);
  x[149999] = -4;
  EXPECT_EQ(kernels.largest_magnitude(x.data(), 150000, host.queue()), 4);
  x[3] = NAN;
  EXPECT_TRUE(std::isnan(kernels.largest_magnitude(x.data(), 150000, host.queue())));
}

TEST(VectorKernels, DivergenceIsTheNegativeTransposeOfTheGradient) {
  TestHost host(2);
  VectorKernels& kernels = host.device().vector_kernels();
  for (const VolumeShape& shape : {VolumeShape{7, 5, 3}, VolumeShape{1, 4, 6}, VolumeShape{33, 1, 1}}) {
    const std::int64_t n = shape.voxels();
    const Values x = random_values(n, 6);
    Field grad(n), field(n);
    Values back(x.size());
    field.x = random_values(n, 7);
    field.y = random_values(n, 8);
    field.z = random_values(n, 9);
    float* const random_field[3] = {field.x.data(), field.y.data(), field.z.data()};
    kernels.gradient(x.data(), grad.at, shape, host.queue());
    kernels.divergence(random_field, back.data(), shape, host.queue());
    double left = 0;
    for (int axis = 0; axis < 3; ++axis) left += kernels.dot(grad.at[axis], random_field[axis], n, host.queue());
    EXPECT_NEAR(left, -kernels.dot(x.data(), back.data(), n, host.queue()), 1e-5) << shape.nx;
    if (shape.nx == 7) {
      const auto at = static_cast<std::size_t>((1 * 5 + 2) * 7 + 3);
      EXPECT_EQ(grad.x[at], x[at + 1] - x[at]);
      EXPECT_EQ(grad.y[at], x[at + 7] - x[at]);
      EXPECT_EQ(grad.z[at], x[at + 35] - x[at]);
      EXPECT_EQ(grad.x[6], 0);
    }
  }
}

TEST(VectorKernels, LengthsAreLimited) {
  TestHost host(1);
  Field field(3);
  field.x = {3, 0.1F, 0};
  field.y = {4, 0.2F, 0};
  float* const at[3] = {field.x.data(), field.y.data(), field.z.data()};
  host.device().vector_kernels().limit_length(at, at, 2, 1, 3, host.queue());
  EXPECT_FLOAT_EQ(field.x[0], 0.6F);
  EXPECT_FLOAT_EQ(field.y[0], 0.8F);
  EXPECT_FLOAT_EQ(field.x[1], 0.2F);
  EXPECT_FLOAT_EQ(field.y[1], 0.4F);
  EXPECT_EQ(field.x[2], 0);
}

// A step along one axis: the minimiser is known. Left half 0, right half 1, both of n values: each plateau moves by
// strength / n towards the other.
TEST(VectorKernels, TotalVariationOfAStep) {
  TestHost host(2);
  const VolumeShape shape{20, 1, 1};
  Values step(20), out(20);
  for (std::size_t i = 10; i < 20; ++i) step[i] = 1;
  Field dual(20);
  host.device().vector_kernels().total_variation_step(step.data(), 1, -10, 10, 2000, dual.at, out.data(), shape,
                                                      host.queue());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(out[i], i < 10 ? 0.1 : 0.9, 1e-4) << i;
}

TEST(VectorKernels, TotalVariationStepLowersItsObjectiveWithinBounds) {
  TestHost host(2), other(1);
  VectorKernels& kernels = host.device().vector_kernels();
  const VolumeShape shape{16, 12, 9};
  const std::int64_t n = shape.voxels();
  const Values noisy = random_values(n, 10);
  Values out(noisy.size()), same(noisy.size());
  const float strength = 0.2F;
  const auto objective = [&](const Values& x) {
    Field grad(n);
    kernels.gradient(x.data(), grad.at, shape, host.queue());
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      value += 0.5 * std::pow(static_cast<double>(x[i]) - noisy[i], 2) +
               strength * std::hypot(grad.x[i], grad.y[i], grad.z[i]);
    return value;
  };
  double last = 1e300;
  for (const int steps : {0, 5, 20, 80}) {
    Field dual(n), again(n);
    kernels.total_variation_step(noisy.data(), strength, -0.5F, 0.5F, steps, dual.at, out.data(), shape, host.queue());
    for (const float value : out) ASSERT_LE(std::abs(value), 0.5F);
    EXPECT_LT(objective(out), last) << steps;
    last = objective(out);
    kernels.total_variation_step(noisy.data(), strength, -0.5F, 0.5F, steps, again.at, same.data(), shape,
                                 other.queue());
    EXPECT_EQ(out, same);
  }
}

}  // namespace
}  // namespace lepus
