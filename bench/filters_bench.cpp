// SPDX-License-Identifier: Apache-2.0
// The filters on the CPU: nanoseconds of one core per pixel (CPU time of all threads, so that others on the machine do
// not count), and how the median's time grows from radius 5 to radius 50 (bar: 2.5). Each result is checked in a small
// stack against the reference before it is timed.
#include <algorithm>
#include <cstdio>

#include "bench/suite/smoothing.h"
#include "bench/measure/clock.h"
#include "device/host/band_kernels/row_kernels.h"

namespace lepus::bench {
namespace {

struct Problem {
  const char* name;
  FilterKind kind;
  std::int64_t radius;
  int dimensions;
};

FilterOptions options_of(const Problem& p) {
  FilterOptions options;
  options.kind = p.kind;
  options.radius = p.radius;
  options.dimensions = p.dimensions;
  options.sigma = static_cast<double>(p.radius) / 3;
  return options;
}

bool right(const Problem& p, ThreadPool& threads) {
  NoisyPictures in(2 * p.radius + 40, p.dimensions > 1 ? 2 * p.radius + 3 : 3), got = in, expected = in;
  filter(in.planes(), got.planes(), options_of(p), threads);
  reference::filter(in.planes(), expected.planes(), options_of(p));
  return largest_difference(got.values, expected.values) <= smoothing_limit(p.kind);
}

double ns_per_pixel(const Problem& p, ThreadPool& threads) {
  const bool slow = p.kind == FilterKind::bilateral && p.dimensions > 1;
  NoisyPictures in(1400, slow ? 90 : 360), out = in;
  double best = 1e30;
  for (int repeat = 0; repeat < 4; ++repeat) {
    const double start = measure::cpu_seconds();
    filter(in.planes(), out.planes(), options_of(p), threads);
    best = std::min(best, measure::cpu_seconds() - start);
  }
  return best / static_cast<double>(in.width * in.height) * 1e9;
}

int run() {
  ThreadPool threads(1);
  using enum FilterKind;
  std::printf("sinograms of 1400x360, one thread, %s\n", filters::row_kernels().target);
  for (const Problem& p :
       {Problem{"box, 1-D, radius 30", box, 30, 1}, Problem{"box, 2-D, radius 30", box, 30, 2},
        Problem{"Gaussian, 1-D, radius 30", gaussian, 30, 1}, Problem{"Gaussian, 2-D, radius 30", gaussian, 30, 2},
        Problem{"bilateral, 1-D, radius 30", bilateral, 30, 1},
        Problem{"bilateral, 2-D, radius 10", bilateral, 10, 2}}) {
    if (!right(p, threads)) return std::printf("%s: WRONG\n", p.name), 1;
    std::printf("%-28s %8.2f ns per pixel\n", p.name, ns_per_pixel(p, threads));
  }
  for (const int dimensions : {1, 2}) {
    double first = 0, last = 0;
    for (const std::int64_t radius : {5, 15, 30, 50}) {
      const Problem p{"median", median, radius, dimensions};
      if (!right(p, threads)) return std::printf("median of radius %d: WRONG\n", static_cast<int>(radius)), 1;
      last = ns_per_pixel(p, threads);
      if (first == 0) first = last;
      std::printf("median, %d-D, radius %-2d         %8.2f ns per pixel\n", dimensions, static_cast<int>(radius), last);
    }
    std::printf("median, %d-D: %.2f x from radius 5 to 50 (bar 2.5)\n", dimensions, last / first);
  }
  return 0;
}

}  // namespace
}  // namespace lepus::bench

int main() { return lepus::bench::run(); }
