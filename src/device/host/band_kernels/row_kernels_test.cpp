// SPDX-License-Identifier: Apache-2.0
// The inner loops on every SIMD target that this machine can run, against plain loops.
#include "device/host/band_kernels/row_kernels.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lepus::filters {
namespace {

constexpr std::int64_t lengths[]{1, 2, 7, 15, 16, 17, 47, 48, 49, 63, 64, 65, 257};

std::vector<float> random_values(std::int64_t n, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = uniform(random);
  return values;
}

TEST(RowKernels, EveryTargetIsThere) {
  std::set<std::string> names;
  for (const RowKernels& kernels : all_row_kernels()) names.insert(kernels.target);
  EXPECT_EQ(names.size(), all_row_kernels().size());
  EXPECT_EQ(all_row_kernels().front().target, std::string(row_kernels().target));
}

TEST(RowKernels, WeightedSum) {
  const std::vector<float> weights{0.1f, 0.5f, 0.2f, -0.3f, 0.4f};
  for (const RowKernels& kernels : all_row_kernels())
    for (const std::int64_t n : lengths) {
      const std::vector<float> line = random_values(n + 4, 1);  // nothing beyond it may be read
      std::vector<const float*> rows;
      for (int k = 0; k < 5; ++k) rows.push_back(line.data() + k);
      std::vector<float> out(static_cast<std::size_t>(n + 1), 7.0f);
      kernels.weighted_sum(rows.data(), weights.data(), 5, out.data(), n);
      EXPECT_EQ(out.back(), 7);
      for (std::int64_t x = 0; x < n; ++x) {
        double sum = 0;
        for (std::size_t k = 0; k < 5; ++k)
          sum += static_cast<double>(weights[k]) * static_cast<double>(line[static_cast<std::size_t>(x) + k]);
        // Five products and sums of magnitude 1.5 at most.
        EXPECT_NEAR(out[static_cast<std::size_t>(x)], sum, 1.5 * 7 * 0x1p-24) << kernels.target << ' ' << n;
      }
    }
}

TEST(RowKernels, Bilateral) {
  constexpr std::int64_t radius = 4, taps = 2 * radius + 1;
  std::vector<float> exponents;
  for (std::int64_t k = -radius; k <= radius; ++k) exponents.push_back(-0.1f * static_cast<float>(k * k));
  for (const RowKernels& kernels : all_row_kernels())
    for (const std::int64_t n : lengths)
      for (const float falloff : {0.0f, 3.0f, 1e6f, 1e20f}) {  // of the last two, weights fall below 2^-126
        const std::vector<float> near = random_values(n + 2 * radius + slack, 2),
                                 far = random_values(n + 2 * radius + slack, 3);
        const BilateralRow rows[]{{near.data(), 0}, {far.data(), -0.7f}};
        std::vector<float> out(static_cast<std::size_t>(n + slack));
        kernels.bilateral(rows, 2, exponents.data(), taps, falloff, near.data() + radius, out.data(), n);
        for (std::int64_t x = 0; x < n; ++x) {
          const auto centre = static_cast<double>(near[static_cast<std::size_t>(x + radius)]);
          double sum = 0, weights = 0;
          for (const BilateralRow& row : rows)
            for (std::int64_t k = 0; k < taps; ++k) {
              const auto value = static_cast<double>(row.line[x + k]);
              const double weight =
                  std::exp2(static_cast<double>(row.exponent + exponents[static_cast<std::size_t>(k)]) -
                            static_cast<double>(falloff) * (value - centre) * (value - centre));
              sum += weight * value;
              weights += weight;
            }
          // As in filter_cases_test.h; a steep falloff raises the exponents' rounding with the few that count.
          EXPECT_NEAR(out[static_cast<std::size_t>(x)], sum / weights, 2 * 0x1p-20)
              << kernels.target << ' ' << n << ' ' << falloff;
        }
      }
}

TEST(RowKernels, MoveCounts) {
  for (const RowKernels& kernels : all_row_kernels()) {
    std::vector<std::uint16_t> counts(160), enter(160), leave(160), expected(160);
    for (std::size_t i = 0; i < 160; ++i) {
      counts[i] = static_cast<std::uint16_t>(i * 400), enter[i] = static_cast<std::uint16_t>(i * 7);
      leave[i] = static_cast<std::uint16_t>(i * 300), expected[i] = static_cast<std::uint16_t>(i * 107);
    }
    kernels.move_counts(counts.data(), enter.data(), leave.data(), 160);
    EXPECT_EQ(counts, expected) << kernels.target;
  }
}

TEST(RowKernels, NthInWindow) {
  std::mt19937 random(4);
  constexpr std::size_t n = 300;
  std::vector<std::uint16_t> x(n + slack), y(n + slack);
  for (std::size_t i = 0; i < n; ++i) x[i] = random() % 40, y[i] = random() % 40;
  for (const RowKernels& kernels : all_row_kernels())
    for (const auto& [x0, y0, span] : {std::array<std::uint16_t, 3>{0, 0, 39}, {5, 30, 8}, {39, 0, 30}, {0, 20, 5}}) {
      std::int64_t k = 0;
      for (std::size_t i = 0; i < n; ++i)
        if (x[i] >= x0 && x[i] <= x0 + span && y[i] >= y0 && y[i] <= y0 + span) {
          EXPECT_EQ(kernels.nth_in_window(x.data(), y.data(), x0, y0, span, k), static_cast<std::int64_t>(i))
              << kernels.target;
          ++k;
        }
      EXPECT_GT(k, 0);
    }
}

}  // namespace
}  // namespace lepus::filters
