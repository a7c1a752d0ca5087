// SPDX-License-Identifier: Apache-2.0
#include "post/percentiles.h"

#include <random>

#include <gtest/gtest.h>

#include "analysis/statistics.h"

namespace lepus::post {
namespace {

std::vector<double> found(const std::vector<float>& values, const std::vector<double>& percents, int threads,
                          std::int64_t piece) {
  ThreadPool pool(threads);
  PercentileFinder finder(percents, threads);
  const auto n = static_cast<std::int64_t>(values.size());
  for (int pass = 0; pass < 2; ++pass) {
    for (std::int64_t i = 0; i < n; i += piece) finder.add(values.data() + i, std::min(piece, n - i), pool);
    if (pass == 0) finder.start_second_pass();
  }
  return finder.percentiles();
}

TEST(Percentiles, AreThoseOfTheSortedValues) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.02f, 0.01f);
  std::vector<float> narrow{1000.0f}, plain, coarse;
  for (int i = 0; i < 70001; ++i) plain.push_back(normal(random));
  for (int i = 0; i < 5000; ++i) coarse.push_back(static_cast<float>(static_cast<int>(i * 7919LL % 13) - 6));
  for (int i = 0; i < 3000; ++i) narrow.push_back(std::nextafter(narrow.back(), 2000.0f));  // one upper half for many
  for (const auto& values : {plain, coarse, narrow, std::vector<float>{5.0f}, std::vector<float>{-0.0f, 0.0f, -3.0f}})
    for (const double percent : {0.0, 0.1, 12.3, 50.0, 99.9, 100.0})
      for (const int threads : {1, 3}) {
        const auto both = found(values, {percent, 100 - percent}, threads, 1021);
        EXPECT_EQ(both[0], percentile(values, percent)) << values.size() << " values, " << percent;
        EXPECT_EQ(both[1], percentile(values, 100 - percent));
      }
}

}  // namespace
}  // namespace lepus::post
