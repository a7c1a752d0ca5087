// SPDX-License-Identifier: Apache-2.0
// A micro-benchmark checks its result before it is timed: a wrong one is reported as an error, and the test fails.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <benchmark/benchmark.h>

namespace lepus::micro {

// Whether to go on; NaN is wrong.
inline bool is_right(benchmark::State& state, double error, double limit) {
  if (error <= limit) return true;
  state.SkipWithError("the result is wrong");
  return false;
}

// The largest difference; infinite where one is not a number.
template <class T, class U>
double largest_difference(const T* got, const U* expected, std::size_t n) {
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(worst, d);
  }
  return worst;
}

// "pixels" a second beside the time.
inline void count_rate(benchmark::State& state, const char* what, std::int64_t per_iteration) {
  state.counters[what] = benchmark::Counter(static_cast<double>(per_iteration),
                                            benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

}  // namespace lepus::micro
