// SPDX-License-Identifier: Apache-2.0
// How fast the core really runs, where its counters are closed to us (containers, virtual machines).
#pragma once

namespace lepus::measure {

double seconds();            // a steady clock
double cpu_seconds();        // of all threads of this process: does not count while others have the core
double measured_clock_hz();  // from a chain of dependent additions, one cycle each; a few milliseconds

// The best of `repeats` runs, in seconds: what it takes when nobody disturbs.
template <class Work>
double best_seconds(int repeats, const Work& work) {
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    const double start = seconds();
    work();
    const double taken = seconds() - start;
    if (i == 0 || taken < best) best = taken;
  }
  return best;
}

// The best of each, run in turns: whoever disturbs, disturbs both.
struct TwoTimes {
  double first = 0, second = 0;
};
template <class First, class Second>
TwoTimes best_seconds_of_two(int repeats, const First& first, const Second& second) {
  TwoTimes best;
  for (int i = 0; i < repeats; ++i) {
    const double a = best_seconds(1, first), b = best_seconds(1, second);
    if (i == 0 || a < best.first) best.first = a;
    if (i == 0 || b < best.second) best.second = b;
  }
  return best;
}

}  // namespace lepus::measure
