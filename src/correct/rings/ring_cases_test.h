// SPDX-License-Identifier: Apache-2.0
// Sinograms and options that ring removal on every device is held against the reference with.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "correct/rings/rings_reference.h"
#include "device/host/band_kernels/rings.h"

namespace lepus::ring_cases {

struct Case {
  std::string name;
  RingOptions options;
  std::int64_t width, height, count;
  // Little noise, so that columns beside a strong stripe stand out with it, and columns with a few wild views, but none
  // that are bridged: a line that is rounded may sort otherwise than the reference's.
  bool quiet = false;
};

inline RingOptions options_for(RingMethod method, std::int64_t width) {
  RingOptions options;
  options.method = method;
  options.radius = std::min<std::int64_t>(30, width - 1);
  options.sigma_value = 0.5;
  options.levels = 1;
  while (options.levels < 5 && (2 << options.levels) <= width) ++options.levels;
  options.small_size = std::min<std::int64_t>(21, 2 * width - 1);
  options.large_size = std::min<std::int64_t>(61, 2 * width - 1);
  return options;
}

inline std::vector<Case> cases() {
  std::vector<Case> list;
  for (const RingMethod method :
       {RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting, RingMethod::combined})
    for (const auto& [width, height] : {std::pair<int, int>{2, 3}, {7, 1}, {63, 2}, {64, 17}, {65, 64}, {257, 41}}) {
      Case one{name_of(method), options_for(method, width), width, height, width == 65 ? 3 : 1};
      list.push_back(one);
      one.options.iterations = 2;
      one.options.relative = true;
      if (method == RingMethod::trend) one.options.filter = FilterKind::median;
      if (method == RingMethod::wavelet_fourier) {
        one.options.wavelet = 1 + width % 10;
        one.options.damping_sigma = 0.7;
      }
      one.name += " twice, relative";
      list.push_back(one);
    }
  // The bilateral trend with stripes that are factors, with other masks than the usual one, and in rows that a device
  // cuts into pieces (few of them: under qemu the reference takes longest there).
  for (const auto& [width, radius] : {std::pair<int, int>{257, 30}, {300, 13}, {130, 100}, {2100, 30}, {2100, 64}})
    for (const bool relative : {false, true}) {
      Case one{"bilateral trend", options_for(RingMethod::trend, width), width, width > 1000 ? 4 : 15, 1};
      one.options.radius = radius;
      one.options.relative = relative;
      list.push_back(one);
    }
  return list;
}

// An object, stripes of several kinds, noise. Rows are `gap` floats longer than the sinogram is wide and filled with
// `sentinel` there.
struct Stack {
  static constexpr std::int64_t gap = 5;
  static constexpr float sentinel = -12345.0F;
  std::vector<float> memory;
  Planes planes;

  explicit Stack(const Case& c) : memory(static_cast<std::size_t>(c.count * c.height * (c.width + gap)), sentinel) {
    planes = {memory.data(), c.width, c.height, c.width + gap, c.count, c.height * (c.width + gap)};
    std::mt19937 random(static_cast<unsigned>(c.width * 1000 + c.height));
    std::normal_distribution<float> normal;
    for (std::int64_t plane = 0; plane < c.count; ++plane)
      for (std::int64_t x = 0; x < c.width; ++x) {
        const bool dead = !c.quiet && x % 53 == 31, flutters = !c.quiet && x % 61 == 44,
                   large = x % 97 >= 70 && x % 97 < 80;
        const bool wild = c.quiet && x % 71 == 20;
        const float noise = c.quiet ? 1e-4F : 0.02F;
        const float stripe = (c.quiet ? 1e-4F : 0.05F) * normal(random) + (large ? 0.4F : 0.0F);
        for (std::int64_t y = 0; y < c.height; ++y) {
          const double t = (static_cast<double>(x) + 0.5) / static_cast<double>(c.width) - 0.5 -
                           0.1 * std::sin(6.28 * static_cast<double>(y) / static_cast<double>(c.height));
          const auto object = static_cast<float>(3 * std::sqrt(std::max(0.0, 0.16 - t * t)));
          float& value = planes.row(plane, y)[x];
          value = 0.3F + object + stripe + noise * normal(random);
          if (dead) value = 1;
          if (flutters) value += 0.5F * normal(random);
          if (wild && y % 25 == 7) value += 1;
        }
      }
  }
  Stack(const Stack& other) : memory(other.memory), planes(other.planes) { planes.data = memory.data(); }
  Stack& operator=(const Stack&) = delete;

  bool gaps_untouched() const {
    for (std::int64_t plane = 0; plane < planes.count; ++plane)
      for (std::int64_t y = 0; y < planes.height; ++y)
        for (std::int64_t x = planes.width; x < planes.row_stride; ++x)
          if (planes.row(plane, y)[x] != sentinel) return false;
    return true;
  }
};

// Largest difference. The values are of size 1, float sums of a few hundred of them err by some 1e-6, and a correction
// is such sums; the bilateral filter's float exponential errs by 1e-6 more. Twice that, for two iterations. NaN fails.
inline constexpr double tolerance = 8e-6;
inline double difference(const Planes& a, const Planes& b) {
  double largest = 0;
  for (std::int64_t plane = 0; plane < a.count; ++plane)
    for (std::int64_t y = 0; y < a.height; ++y)
      for (std::int64_t x = 0; x < a.width; ++x) {
        const double d = std::abs(static_cast<double>(a.row(plane, y)[x]) - static_cast<double>(b.row(plane, y)[x]));
        if (!(d <= largest)) largest = d;
      }
  return largest;
}

}  // namespace lepus::ring_cases
