// SPDX-License-Identifier: Apache-2.0
// The reference against numbers made by hand; the CPU version against the reference over odd sizes; the same bits for
// any number of threads and any cut.
#include "device/host/band_kernels/rings.h"

#include <limits>

#include <gtest/gtest.h>

#include "device/host/band_kernels/matmul.h"
#include "correct/rings/ring_cases_test.h"
#include "project/stripe_columns.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using ring_cases::Case;
using ring_cases::Stack;

Planes planes_of(std::vector<float>& values, std::int64_t width) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {values.data(), width, n / width, width, 1, n};
}

TEST(RingsReference, TrendTakesAwayTheMeanOverViewsOfWhatTheMedianDoesNotFollow) {
  RingOptions options;
  options.filter = FilterKind::median;
  options.radius = 1;
  // Column 2 is 3 too high in one view and 1 too high in the other: 2 on average. All else follows the median.
  std::vector<float> values{1, 1, 4, 1, 1, 2, 2, 3, 2, 2};
  reference::remove_rings(planes_of(values, 5), options);
  EXPECT_EQ(values, (std::vector<float>{1, 1, 2, 1, 1, 2, 2, 1, 2, 2}));
  options.relative = true;  // 7 instead of 3: divided by 7/3
  values = {1, 1, 4, 1, 1, 2, 2, 3, 2, 2};
  reference::remove_rings(planes_of(values, 5), options);
  EXPECT_FLOAT_EQ(values[2], 4 * 3.0F / 7);
  EXPECT_FLOAT_EQ(values[7], 3 * 3.0F / 7);
  EXPECT_EQ(values[0], 1);
}

TEST(RingsReference, SortingSmoothsAlongRanksAndKeepsTheViewsOrder) {
  RingOptions options;
  options.method = RingMethod::sorting;
  options.small_size = 3;
  // Every column holds 1, 2, 3 in some order; column 2 is 10 higher.
  std::vector<float> values{1, 2, 13, 1, 2,  //
                            2, 3, 11, 2, 3,  //
                            3, 1, 12, 3, 1};
  reference::remove_rings(planes_of(values, 5), options);
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 1, 2, 2, 3, 1, 2, 3, 3, 1, 2, 3, 1}));
}

TEST(RingsReference, CombinedBridgesDeadColumnsAndReplacesLargeStripes) {
  constexpr int width = 201, height = 60;
  std::vector<float> values(width * height), clean;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      values[static_cast<std::size_t>(y * width + x)] =
          0.001F * static_cast<float>(x) + std::sin(0.7F * static_cast<float>(y)) +
          0.001F * std::sin(static_cast<float>(x * x % 101) + 3.0F * static_cast<float>(y));
  clean = values;
  for (int y = 0; y < height; ++y) {
    values[static_cast<std::size_t>(y * width + 50)] = 5;
    for (int x = 120; x < 132; ++x) values[static_cast<std::size_t>(y * width + x)] += 0.5F;
  }
  RingOptions options;
  options.method = RingMethod::combined;
  reference::remove_rings(planes_of(values, width), options);
  double worst = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 40; x < 160; ++x)
      worst = std::max(worst, std::abs(static_cast<double>(values[static_cast<std::size_t>(y * width + x)] -
                                                           clean[static_cast<std::size_t>(y * width + x)])));
  // A large stripe takes the median of 61 columns of a slope of 0.001 per column: 12 of them are too high, which
  // moves it by 6 columns, its own columns are up to 7 from its middle, and the noise comes to 0.001 on each side.
  EXPECT_LT(worst, 0.015);
  EXPECT_NEAR(static_cast<double>(values[50]), static_cast<double>(clean[50]), 0.003);
}

TEST(StripeColumns, MarksOutliersWithTheirNeighboursAndNoLongRuns) {
  std::vector<double> list(40), ascending;
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = 0.01 * static_cast<double>(i * 7 % 40);
  list[10] = 5;
  list[39] = -5;
  for (std::size_t i = 20; i < 26; ++i) list[i] = 4;
  ascending = list;
  std::sort(ascending.begin(), ascending.end());
  std::vector<unsigned char> mask(list.size(), 9);
  rings::mark_columns(list.data(), ascending.data(), 40, 3, 7, mask.data());
  for (std::size_t i = 0; i < list.size(); ++i)
    EXPECT_EQ(mask[i], (i >= 9 && i <= 11) || i >= 38 ? 1 : 0) << i;  // the run from 19 to 26 has 8 columns
  rings::mark_columns(list.data(), ascending.data(), 40, 3, 8, mask.data());
  EXPECT_EQ(mask[19], 1);
  EXPECT_EQ(mask[26], 1);
  EXPECT_EQ(mask[27], 0);
}

TEST(StripeColumns, WhatAStrongStripePullsAlongIsNotMarkedWithIt) {
  std::vector<double> list(200), ascending;
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = 0.001 * static_cast<double>(i * 7 % 200);
  for (std::size_t i = 80; i < 110; ++i) list[i] = i >= 92 && i < 98 ? 4 : 1.5;
  ascending = list;
  std::sort(ascending.begin(), ascending.end());
  std::vector<unsigned char> mask(list.size(), 9);
  rings::mark_columns(list.data(), ascending.data(), 200, 3, 30, mask.data());
  for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(mask[i], i >= 91 && i <= 98 ? 1 : 0) << i;
}

TEST(StripeColumns, LocalMedianMirrorsAtTheEdges) {
  const std::vector<double> list{5, 1, 4, 2, 3};
  EXPECT_EQ(rings::local_median(list.data(), 5, 0, 1), 1);  // 1 5 1
  EXPECT_EQ(rings::local_median(list.data(), 5, 2, 1), 2);
  EXPECT_EQ(rings::local_median(list.data(), 5, 2, 2), 3);
  EXPECT_EQ(rings::local_median(list.data(), 5, 4, 4), 3);  // 5 1 4 2 3 2 4 1 5
}

TEST(Matmul, OddSizesAgainstPlainSums) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const int m : {1, 3, 4, 9})
    for (const int n : {1, 7, 31, 32, 33, 70})
      for (const int k : {1, 13}) {
        std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)),
            c(static_cast<std::size_t>(m * (n + 3)), 5);
        for (float& v : a) v = uniform(random);
        for (float& v : b) v = uniform(random);
        rings::multiply({a.data(), k, 1, b.data(), n, c.data(), n + 3, m, k, n, true});
        for (int i = 0; i < m; ++i)
          for (int x = 0; x < n + 3; ++x) {
            double sum = 5;
            for (int j = 0; j < k && x < n; ++j)
              sum -= static_cast<double>(a[static_cast<std::size_t>(i * k + j)]) *
                     static_cast<double>(b[static_cast<std::size_t>(j * n + x)]);
            // 13 products below 1, rounded to 6e-8 of at most 18 each.
            ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * (n + 3) + x)]), sum, 1e-5);
          }
      }
}

TEST(Rings, HostIsTheReference) {
  ThreadPool threads(2);
  for (const Case& c : ring_cases::cases()) {
    const Stack before(c);
    Stack expected(before), got(before);
    reference::remove_rings(expected.planes, c.options);
    remove_rings(got.planes, c.options, threads);
    EXPECT_LE(ring_cases::difference(got.planes, expected.planes), ring_cases::tolerance)
        << c.name << " " << c.width << " x " << c.height;
    EXPECT_TRUE(got.gaps_untouched()) << c.name;
    if (c.width > 60 && c.height > 2) {
      EXPECT_GT(ring_cases::difference(got.planes, before.planes), 0.01) << c.name << " did nothing";
    }
  }
}

TEST(Rings, SameBitsForAnyThreadsAndAnyCut) {
  for (const RingMethod method :
       {RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting, RingMethod::combined}) {
    const Case c{"", ring_cases::options_for(method, 130), 130, 35, 5};
    const Stack before(c);
    Stack whole(before), cut(before);
    ThreadPool one(1), three(3);
    remove_rings(whole.planes, c.options, three);
    for (const auto& [first, count] : {std::pair<int, int>{0, 1}, {1, 3}, {4, 1}}) {
      Planes part = cut.planes;
      part.data = cut.planes.row(first, 0);
      part.count = count;
      remove_rings(part, c.options, one);
    }
    EXPECT_EQ(whole.memory, cut.memory) << name_of(method);
  }
}

TEST(Rings, NotANumberStaysInItsColumnsReachAndStopsNothing) {
  ThreadPool threads(1);
  for (const RingMethod method : {RingMethod::sorting, RingMethod::combined}) {
    const Case c{"", ring_cases::options_for(method, 150), 150, 30, 1};
    Stack stack(c);
    for (std::int64_t y = 0; y < 30; ++y) stack.planes.row(0, y)[60] = std::numeric_limits<float>::quiet_NaN();
    remove_rings(stack.planes, c.options, threads);
    for (std::int64_t y = 0; y < 30; ++y)
      for (const std::int64_t x : {0, 20, 100, 149}) EXPECT_TRUE(std::isfinite(stack.planes.row(0, y)[x])) << x;
  }
}

TEST(Rings, RefusesWhatDoesNotFit) {
  const auto refused = [](auto change, std::int64_t columns = 100) {
    RingOptions options;
    change(options);
    try {
      check_rings(options, columns, 50);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_FALSE(refused([](RingOptions&) {}));
  EXPECT_TRUE(refused([](RingOptions& o) { o.radius = 100; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.filter = FilterKind::box; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.sigma_value = 0; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.method = RingMethod::sorting, o.small_size = 20; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.method = RingMethod::sorting; }, 10));
  EXPECT_TRUE(refused([](RingOptions& o) { o.method = RingMethod::combined, o.large_size = 301; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.method = RingMethod::combined, o.snr = 0; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.method = RingMethod::wavelet_fourier, o.levels = 7; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.method = RingMethod::wavelet_fourier, o.wavelet = 11; }));
  EXPECT_TRUE(refused([](RingOptions& o) { o.method = RingMethod::wavelet_fourier, o.damping_sigma = 0; }));
}

}  // namespace
}  // namespace lepus
