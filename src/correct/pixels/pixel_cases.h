// SPDX-License-Identifier: Apache-2.0
// For tests: bands of noise with hot pixels, the rules to try on them, and specifications as a scan file gives them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "correct/correction.h"
#include "correct/pixels/hot_weights.h"

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

inline std::vector<HotParameters> hot_parameter_cases() {
  return {
      {},
      {.classic = true, .tolerance = 3, .below = true, .bridge = false},
      {.classic = true},
      {.window = 2, .gap = 1, .tolerance = 2, .deviations = 1},
      {.window = 2, .gap = 5, .tolerance = 3, .normalise = false, .below = true, .bridge = false},
      {.window = 3, .gap = 2, .tolerance = 2.5, .below = true, .bridge = false},
      {.window = 8, .gap = 3, .deviations = 1},
      {.window = 32, .gap = 64},
      {.share_of_views = 0, .bridge = false},
      {.window = 2, .gap = 2, .share_of_views = 0.6},
  };
}

inline CorrectionSpec spec_named(std::string kind, std::map<std::string, ParameterValue> parameters = {}) {
  CorrectionSpec spec;
  spec.kind = std::move(kind);
  spec.parameters = std::move(parameters);
  spec.line = 7;
  return spec;
}

inline CorrectionSpec hot_spec(const HotParameters& parameters = {}, std::int64_t iterations = 3) {
  return spec_named("hot-pixels", {{"method", std::string(parameters.classic ? "classic" : "shifted-window")},
                                   {"tolerance", parameters.tolerance},
                                   {"window_px", std::int64_t{parameters.window}},
                                   {"gap_px", std::int64_t{parameters.gap}},
                                   {"deviations", std::int64_t{parameters.deviations}},
                                   {"normalise", parameters.normalise},
                                   {"below", parameters.below},
                                   {"share_of_views", parameters.share_of_views},
                                   {"replace_by", std::string(parameters.bridge ? "bridge" : "windows")},
                                   {"iterations", iterations}});
}

inline CorrectionSpec zinger_spec(std::string neighbours = "both", std::int64_t radius = 2, std::int64_t along = 3) {
  return spec_named(
      "zingers",
      {{"tolerance", 8.0}, {"radius_views", radius}, {"neighbours", std::move(neighbours)}, {"along_px", along}});
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
