// SPDX-License-Identifier: Apache-2.0
#include "project/wavelet.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace lepus::rings {
namespace {

TEST(Daubechies, TapsAreOrthonormalWithVanishingMoments) {
  for (int moments = 1; moments <= 10; ++moments) {
    const auto h = daubechies(moments);
    ASSERT_EQ(h.size(), static_cast<std::size_t>(2 * moments));
    EXPECT_NEAR(std::accumulate(h.begin(), h.end(), 0.0), std::sqrt(2.0), 1e-15 * 20);
    for (std::size_t shift = 0; shift < h.size(); shift += 2) {
      double product = 0;
      for (std::size_t k = shift; k < h.size(); ++k) product += h[k] * h[k - shift];
      EXPECT_NEAR(product, shift == 0 ? 1 : 0, 1e-15) << moments << " " << shift;
    }
    const std::vector<double> g = high_pass(h);
    for (int power = 0; power < moments; ++power) {
      double moment = 0, size = 0;
      for (std::size_t k = 0; k < g.size(); ++k) {
        const double term = g[k] * std::pow(static_cast<double>(k), power);
        moment += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(moment, 0, 1e-15 * size) << moments << " " << power;  // roundings of the terms
    }
  }
}

TEST(Wavelet, BackAgainWithoutLoss) {
  for (const int moments : {1, 2, 5, 10})
    for (const int n : {1, 2, 3, 7, 64, 65}) {
      const auto low = daubechies(moments);
      const std::vector<double> high = high_pass(low);
      std::vector<double> line;
      for (int i = 0; i < n; ++i) line.push_back(std::sin(1.7 * i * i));
      const std::vector<double> a = synthesise(analyse(line, low), low, n),
                                d = synthesise(analyse(line, high), high, n);
      for (std::size_t i = 0; i < line.size(); ++i) EXPECT_NEAR(a[i] + d[i], line[i], 1e-14) << moments << " " << n;
    }
}

TEST(Wavelet, HaarByHandAndTheTransposeIsOne) {
  const auto haar = daubechies(1);
  const std::vector<double> sums = analyse({1, 3, 5}, haar);  // the line goes on with 5
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_NEAR(sums[0], 4 / std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(sums[1], 10 / std::sqrt(2.0), 1e-14);
  for (const int moments : {1, 4, 10}) {
    const auto h = daubechies(moments);
    std::vector<double> x, y;
    for (int i = 0; i < 11; ++i) x.push_back(std::cos(3.1 * i));
    const std::vector<double> forward = analyse(x, h);
    for (std::size_t i = 0; i < forward.size(); ++i) y.push_back(std::sin(2.3 * static_cast<double>(i) + 1));
    const std::vector<double> back = analyse_transposed(y, h, 11);
    EXPECT_NEAR(std::inner_product(forward.begin(), forward.end(), y.begin(), 0.0),
                std::inner_product(x.begin(), x.end(), back.begin(), 0.0), 1e-13);
  }
}

}  // namespace
}  // namespace lepus::rings
