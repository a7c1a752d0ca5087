// SPDX-License-Identifier: Apache-2.0
// How long a small piece of work takes, for what plans expect of the whole.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace lepus {

// Seconds of the fastest run: the first one also warms caches and wakes threads, and short ones are disturbed by
// whatever else the machine does, so that they are repeated for a twentieth of a second.
template <class Work>
double fastest_seconds(Work work) {
  double best = 1e30, all = 0;
  for (int run = 0; run < 2 || all < 0.05; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
    all += std::max(seconds, 1e-6);
  }
  return std::max(best, 1e-9);
}

// Seconds of the run in the middle, of many that are numbered: what a longer work of that kind will take each time, on
// a machine whose speed varies with its load and its heat. The first is not counted.
template <class Work>
double typical_seconds(Work work) {
  constexpr double all_seconds = 0.25;
  std::vector<double> runs;
  double all = 0;
  for (std::int64_t run = 0; run < 4 || all < all_seconds; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work(run);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run > 0) runs.push_back(seconds);
    all += std::max(seconds, 1e-6);
  }
  const auto middle = runs.begin() + std::ssize(runs) / 2;
  std::ranges::nth_element(runs, middle);
  return std::max(*middle, 1e-9);
}

}  // namespace lepus
