// SPDX-License-Identifier: Apache-2.0
// For tests: bands of noise with hot pixels, the rules to try on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "correct/correction.h"
#include "correct/pixels/hot_weights.h"
#include "device/host/test_host.h"

namespace lepus::pixels {

struct TestBand {
  std::int64_t columns, views, rows;
  std::vector<float> values;  // [row][view][column]

  TestBand(std::int64_t c, std::int64_t v, std::int64_t r)
      : columns(c), views(v), rows(r), values(static_cast<std::size_t>(c * v * r)) {}
  float& at(std::int64_t row, std::int64_t view, std::int64_t x) {
    return values[static_cast<std::size_t>((row * views + view) * columns + x)];
  }
  SinogramBand band() { return {values.data(), columns, views, {0, rows}, rows}; }
  // A copy of rows [first, last) as a band of its own.
  TestBand part(std::int64_t first, std::int64_t last) const {
    TestBand cut(columns, views, last - first);
    std::copy_n(values.begin() + first * views * columns, cut.values.size(), cut.values.begin());
    return cut;
  }
};

// Noise of 0.01 on a slope that moves with the view, and in every row some hot runs of 1 to 5 columns and one column
// that is far too quiet.
inline TestBand noisy_band(std::int64_t columns, std::int64_t views, std::int64_t rows, unsigned seed = 1) {
  TestBand band(columns, views, rows);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<float> offset(static_cast<std::size_t>(columns)), noise(static_cast<std::size_t>(columns), 0.01F);
    for (int run = 0; run < 1 + columns / 60; ++run) {
      const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns));
      const auto last = std::min(columns, first + 1 + static_cast<std::int64_t>(random() % 5));
      for (std::int64_t x = first; x < last; ++x) offset[static_cast<std::size_t>(x)] = random() % 2 ? 0.07F : -0.07F;
    }
    noise[random() % noise.size()] = 0.0001F;
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t x = 0; x < columns; ++x) {
        const auto i = static_cast<std::size_t>(x);
        const float slope = 0.5F + 0.001F * static_cast<float>(x) * static_cast<float>(view % 7);
        band.at(row, view, x) = slope + offset[i] + noise[i] * normal(random);
      }
  }
  return band;
}

inline std::vector<HotPixelOptions> hot_option_cases() {
  using enum HotMethod;
  using enum HotReplacement;
  return {
      {},
      {.method = classic, .tolerance = 3, .below = true, .replace_by = windows},
      {.method = classic, .replace_by = bridge},
      {.window = 2, .gap = 1, .tolerance = 2, .deviations = 1},
      {.window = 2, .gap = 5, .tolerance = 3, .normalise = false, .below = true, .replace_by = windows},
      {.window = 3, .gap = 2, .tolerance = 2.5, .below = true, .replace_by = windows},
      {.window = 8, .gap = 3, .deviations = 1},
      {.window = 32, .gap = 64},
      {.share_of_views = 0, .replace_by = windows},
      {.window = 2, .gap = 2, .share_of_views = 0.6},
  };
}

// With the windows of wide rows where none are given, however narrow the test's are.
inline HotPixelOptions hot_options(HotPixelOptions options = {}, int iterations = 3) {
  options.window = options.window.value_or(HotWindows{}.window);
  options.gap = options.gap.value_or(HotWindows{}.gap);
  options.iterations = iterations;
  return options;
}

inline ScanFacts facts_of(const TestBand& band, Stage stage = Stage::grey_levels) {
  ScanFacts facts;
  facts.columns = band.columns;
  facts.rows = band.rows;
  facts.views = band.views;
  facts.stage = stage;
  return facts;
}

}  // namespace lepus::pixels
