// SPDX-License-Identifier: Apache-2.0
// How long a small piece of work takes, for what plans expect of the whole.
#pragma once

#include <algorithm>
#include <chrono>

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

}  // namespace lepus
