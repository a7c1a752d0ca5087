// SPDX-License-Identifier: Apache-2.0
// The smoothing filters' problem, for host and device: sinograms of 1400 x 360 (the Iowa State scan), radius 30.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/suite/parts.h"
#include "correct/filters/filter_reference.h"
#include "device/host/band_kernels/filter.h"

namespace lepus::bench {

struct SmoothingCase {
  const char* name;  // "median, radius 30"
  FilterKind kind;
  std::int64_t radius;
};
inline constexpr SmoothingCase smoothing_cases[] = {
    {"box, radius 30", FilterKind::box, 30},
    {"Gaussian, radius 30", FilterKind::gaussian, 30},
    {"bilateral, radius 30", FilterKind::bilateral, 30},
    {"median, radius 30", FilterKind::median, 30},
};
inline constexpr std::int64_t sinogram_columns = 1400, sinogram_views = 360;

FilterOptions smoothing_options(const SmoothingCase& c);
// Grey levels of 1: sums of 61 taps in another order; the median selects.
double smoothing_limit(FilterKind kind);

// Noise on an edge and a slope: grey levels, `count` pictures of height x width.
struct NoisyPictures {
  NoisyPictures(std::int64_t width, std::int64_t height, std::int64_t count = 1);
  Planes planes() { return {values.data(), width, height, width, count, width * height}; }
  std::int64_t width, height, count;
  std::vector<float> values;
};
// The largest difference; NaN counts as infinite.
double largest_difference(const std::vector<float>& got, const std::vector<float>& expected);
// Against the filter's definition in double precision, on a small picture.
double smoothing_error(const SmoothingCase& c, ThreadPool& threads);

measure::Figure smoothing_figure(const SmoothingCase& c, std::int64_t sinograms);
void bench_filters_cpu(Run& run);
void bench_filters_of(Run& run, const MeasuredDevice& measured);  // where it has them

}  // namespace lepus::bench
