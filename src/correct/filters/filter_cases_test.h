// SPDX-License-Identifier: Apache-2.0
// Stacks of odd sizes for the tests of the filters on every backend, and how far each may be from the reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "core/format.h"
#include "correct/filters/filter_reference.h"
#include "device/host/band_kernels/filter.h"
#include <lepus/error.h>

namespace lepus::filter_test {

struct TestStack {
  std::int64_t width, height, count;
  std::vector<float> values;

  TestStack(std::int64_t w, std::int64_t h, std::int64_t n)
      : width(w), height(h), count(n), values(static_cast<std::size_t>(w * h * n)) {}
  Planes planes() { return {values.data(), width, height, width, count, width * height}; }
};

// Noise of [-1, 1) on a step, some of it in steps of 1/8, so that there are equal values; from a hash of the place.
inline TestStack noisy_stack(std::int64_t width, std::int64_t height, std::int64_t count, std::uint32_t seed = 1) {
  TestStack stack(width, height, count);
  std::uint32_t state = seed * 2654435761u + 12345u;
  for (std::size_t i = 0; i < stack.values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    float value = static_cast<float>(state >> 8) * 0x1p-23f - 1;
    if (state >> 31) value = std::round(value * 8) / 8;
    stack.values[i] = value + (static_cast<std::int64_t>(i) % width > width / 2 ? 0.5f : 0.0f);
  }
  return stack;
}

struct Case {
  std::int64_t width, height, count;
  FilterOptions options;
};

inline std::string name_of(const Case& c) {
  constexpr const char* kinds[]{"box", "gaussian", "median", "bilateral"};
  constexpr const char* borders[]{"keep", "zero", "partial", "wrap", "mirror", "clamp"};
  const FilterOptions& o = c.options;
  return format("{} {} {}x{}x{} radius {} dimensions {} iterations {}", kinds[static_cast<int>(o.kind)],
                borders[static_cast<int>(o.border)], c.width, c.height, c.count, o.radius, o.dimensions, o.iterations);
}

// Every filter and border that the size allows.
inline std::vector<Case> cases() {
  struct Size {
    std::int64_t width, height, count, radius;
    int dimensions, iterations;
  };
  const std::vector<Size> sizes{
      {2, 1, 1, 1, 1, 1},     {7, 3, 2, 1, 1, 1},     {7, 2, 3, 3, 1, 2},     {7, 1, 1, 6, 1, 1},
      {63, 5, 1, 5, 1, 1},    {64, 3, 2, 31, 1, 1},   {65, 3, 1, 32, 1, 3},   {257, 3, 2, 30, 1, 1},
      {257, 1, 1, 200, 1, 1}, {1100, 2, 1, 30, 1, 1}, {2100, 1, 1, 30, 1, 1}, {3, 3, 2, 1, 2, 1},
      {7, 9, 2, 3, 2, 2},     {65, 11, 1, 5, 2, 1},   {11, 65, 1, 5, 2, 1},   {64, 19, 1, 8, 2, 1},
      {3, 3, 3, 1, 3, 1},     {33, 9, 7, 2, 3, 1},    {9, 8, 9, 3, 3, 2}};
  std::vector<Case> all;
  for (const Size& s : sizes)
    for (int kind = 0; kind < 4; ++kind)
      for (int border = 0; border < 6; ++border) {
        FilterOptions options;
        options.kind = static_cast<FilterKind>(kind);
        options.border = static_cast<FilterBorder>(border);
        options.radius = s.radius;
        options.dimensions = s.dimensions;
        options.iterations = s.iterations;
        options.sigma = 0.4 * static_cast<double>(s.radius);
        options.sigma_value = 0.4;
        try {
          check_filter(options, s.width, s.height, s.count);
        } catch (const Error&) {
          continue;  // keep, where no pixel has a full mask
        }
        all.push_back({s.width, s.height, s.count, options});
      }
  return all;
}

// Values are within 1.5. The median selects, and is exact. A sum of n products rounds each, and each partial sum: less
// than n 2^-24 of the sum of magnitudes; the masks along the axes add up. The bilateral filter's weights are off by
// 2^-22 and by the rounding of their exponent, |t| 2^-23 of 2^t, which is at most 0.53 2^-23 of the largest weight:
// their mean stays below 2^-20 of the spread of values, which is within 3 (measured: 2^-21 in all). An iteration hands
// on the errors before it, the bilateral filter at most three times as large (its weights depend on them).
inline double limit_of(const FilterOptions& o) {
  const auto mask = static_cast<double>(2 * o.radius + 1);
  switch (o.kind) {
    case FilterKind::median:
      return 0;
    case FilterKind::bilateral:
      return 3 * 0x1p-20 * std::pow(3, o.iterations - 1);
    default:
      return 1.5 * (mask + 2) * 0x1p-24 * o.dimensions * o.iterations;
  }
}

}  // namespace lepus::filter_test
