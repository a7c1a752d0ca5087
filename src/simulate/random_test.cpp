// SPDX-License-Identifier: Apache-2.0
// The generator against its published test vectors, and the variates against the statistics they must have.
#include "simulate/random.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace lepus {
namespace {

TEST(Random, PhiloxKnownAnswers) {
  // From the Random123 distribution, kat_vectors, philox4x32 with 10 rounds.
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, EveryPlaceHasItsOwnNumbers) {
  std::set<std::uint32_t> seen;
  for (const std::uint64_t seed : {1ull, 2ull, 1ull << 40})
    for (std::uint32_t stream : {1u, 2u})
      for (std::uint32_t index : {0u, 1u})
        for (std::uint64_t item : {0ull, 1ull, 1ull << 33}) seen.insert(Random(seed, stream, index, item).bits());
  EXPECT_EQ(seen.size(), 36u);
  Random a(1, 2, 3, 4), b(1, 2, 3, 4);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.bits(), b.bits());
}

TEST(Random, UniformFillsItsBins) {
  constexpr int n = 400000, bins = 64;
  std::vector<int> count(bins, 0);
  for (int i = 0; i < n; ++i) {
    const double u = Random(11, 1, 0, static_cast<std::uint64_t>(i)).uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    ++count[static_cast<std::size_t>(u * bins)];
  }
  double chi2 = 0;
  const double expected = static_cast<double>(n) / bins;
  for (const int c : count) chi2 += (c - expected) * (c - expected) / expected;
  // 63 degrees of freedom: mean 63, standard deviation sqrt(126) = 11.2; five of them either way.
  EXPECT_LT(chi2, 63 + 56);
  EXPECT_GT(chi2, 63 - 50);
}

TEST(Random, NormalMoments) {
  constexpr int n = 400000;
  double s1 = 0, s2 = 0, s4 = 0;
  for (int i = 0; i < n; ++i) {
    const double x = Random(12, 1, 0, static_cast<std::uint64_t>(i)).normal();
    s1 += x;
    s2 += x * x;
    s4 += x * x * x * x;
  }
  const double root = std::sqrt(static_cast<double>(n));  // standard errors: 1, sqrt 2, sqrt 96, over root
  EXPECT_NEAR(s1 / n, 0, 5 / root);
  EXPECT_NEAR(s2 / n, 1, 5 * std::sqrt(2.0) / root);
  EXPECT_NEAR(s4 / n, 3, 5 * std::sqrt(96.0) / root);
}

TEST(Random, PoissonMeanAndVariance) {
  constexpr int n = 200000;
  for (const double mean : {0.1, 0.7, 3.0, 9.99, 10.01, 15.0, 40.0, 250.0, 3e3, 5e4, 1e6}) {
    double s1 = 0, s2 = 0;
    for (int i = 0; i < n; ++i) {
      const double x =
          static_cast<double>(
              Random(13, static_cast<std::uint32_t>(mean * 10), 0, static_cast<std::uint64_t>(i)).poisson(mean)) -
          mean;
      s1 += x;
      s2 += x * x;
    }
    // Standard error of the mean: sqrt(mean/n); of the second moment: sqrt((2 mean^2 + mean) / n).
    EXPECT_NEAR(s1 / n, 0, 5 * std::sqrt(mean / n)) << mean;
    EXPECT_NEAR(s2 / n, mean, 5 * std::sqrt((2 * mean * mean + mean) / n)) << mean;
  }
  EXPECT_EQ(Random(1, 1, 1, 1).poisson(0), 0u);
}

TEST(Random, PoissonDistribution) {
  // Chi-square against the probabilities themselves, on both sides of the change of method.
  for (const double mean : {4.0, 12.0, 60.0}) {
    constexpr int n = 300000;
    std::vector<int> count(400, 0);
    for (int i = 0; i < n; ++i)
      ++count[std::min<std::uint64_t>(
          399, Random(14, static_cast<std::uint32_t>(mean), 0, static_cast<std::uint64_t>(i)).poisson(mean))];
    double chi2 = 0, rest = n, rest_expected = n;
    int degrees = 0;
    for (std::size_t k = 0; k < 400; ++k) {
      const double expected =
          n * std::exp(static_cast<double>(k) * std::log(mean) - mean - std::lgamma(static_cast<double>(k) + 1));
      if (expected < 20) continue;
      chi2 += (count[k] - expected) * (count[k] - expected) / expected;
      rest -= count[k];
      rest_expected -= expected;
      ++degrees;
    }
    if (rest_expected > 5) chi2 += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
    EXPECT_LT(chi2, degrees + 5 * std::sqrt(2.0 * degrees)) << mean;  // five standard deviations
    EXPECT_GT(degrees, 10);
  }
}

}  // namespace
}  // namespace lepus
