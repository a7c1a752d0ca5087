// SPDX-License-Identifier: Apache-2.0
// The filters on a known picture with known faults: a frame of steps and a disc, with noise or with impulses. Prints
// error after / error before, away from edges and near them, and holds each filter to what theory says of it. With
// LEPUS_PICTURES the pictures of docs/corrections/filters.md are written there.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/draw_text.h"
#include "device/host/band_kernels/filter.h"

namespace lepus {
namespace {

constexpr std::int64_t width = 320, height = 200;

struct Frame {
  std::vector<float> values = std::vector<float>(static_cast<std::size_t>(width * height));
  float& at(std::int64_t x, std::int64_t y) { return values[static_cast<std::size_t>(y * width + x)]; }
  Planes planes() { return {values.data(), width, height, width, 1, width * height}; }
};

// Grey levels: air 1, plates of 0.6 and 0.2 side by side, a disc of 0.5.
Frame clean_frame() {
  Frame frame;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      float value = x < 60 ? 1.0f : x < 120 ? 0.6f : x < 180 ? 0.2f : 1.0f;
      if (std::hypot(static_cast<double>(x) - 250, static_cast<double>(y) - 100) < 40) value = 0.5f;
      frame.at(x, y) = value;
    }
  return frame;
}

Frame with_noise(Frame frame, double sigma) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, sigma);
  for (float& value : frame.values) value += static_cast<float>(normal(random));
  return frame;
}

Frame with_impulses(Frame frame, double share) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (float& value : frame.values)
    if (uniform(random) < share) value += uniform(random) < 0.5 ? 0.5f : -0.5f;
  return frame;
}

Frame filtered(Frame& frame, const FilterOptions& options) {
  ThreadPool threads(2);
  Frame out;
  filter(frame.planes(), out.planes(), options, threads);
  return out;
}

// Root mean square of the error in a part of the frame: flat air without an edge in reach, or the two columns on either
// side of the step from 0.6 to 0.2.
double error_in(Frame& frame, Frame& truth, std::int64_t x0, std::int64_t x1) {
  double sum = 0, count = 0;
  for (std::int64_t y = 31; y < height - 31; ++y)
    for (std::int64_t x = x0; x < x1; ++x, ++count)
      sum += std::pow(static_cast<double>(frame.at(x, y)) - static_cast<double>(truth.at(x, y)), 2);
  return std::sqrt(sum / count);
}
double in_plate(Frame& frame, Frame& truth) { return error_in(frame, truth, 74, 106); }
double everywhere(Frame& frame, Frame& truth) { return error_in(frame, truth, 31, width - 31); }
double at_step(Frame& frame, Frame& truth) { return error_in(frame, truth, 118, 122); }

FilterOptions options_of(FilterKind kind, std::int64_t radius, double sigma, int dimensions) {
  FilterOptions options;
  options.kind = kind;
  options.radius = radius;
  options.sigma = sigma;
  options.dimensions = dimensions;
  return options;
}

struct Row {
  const char* name;
  FilterOptions options;
};

std::vector<Row> rows() {
  return {{"box, radius 3", options_of(FilterKind::box, 3, 1, 1)},
          {"Gaussian, sigma 1.5, radius 6", options_of(FilterKind::gaussian, 6, 1.5, 1)},
          {"median, radius 3", options_of(FilterKind::median, 3, 1, 1)},
          {"bilateral, defaults", options_of(FilterKind::bilateral, 30, 10, 1)},
          {"box, 2-D, radius 3", options_of(FilterKind::box, 3, 1, 2)},
          {"Gaussian, 2-D, sigma 1.5, radius 6", options_of(FilterKind::gaussian, 6, 1.5, 2)},
          {"median, 2-D, radius 3", options_of(FilterKind::median, 3, 1, 2)},
          {"bilateral, 2-D, sigma 3, radius 9", options_of(FilterKind::bilateral, 9, 3, 2)}};
}

TEST(FilterFaults, PrintsErrorsAfterAndBefore) {
  Frame truth = clean_frame(), noisy = with_noise(truth, 0.03), spotted = with_impulses(truth, 0.02);
  std::printf(
      "| filter | noise in the plate | noise everywhere | impulses in the plate | impulses everywhere | clean step: "
      "error / step |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const Row& row : rows()) {
    Frame from_noisy = filtered(noisy, row.options), from_spotted = filtered(spotted, row.options);
    Frame from_clean = filtered(truth, row.options);
    const double noise = in_plate(from_noisy, truth) / in_plate(noisy, truth);
    const double impulses = in_plate(from_spotted, truth) / in_plate(spotted, truth);
    const double impulses_everywhere = everywhere(from_spotted, truth) / everywhere(spotted, truth);
    const double step = at_step(from_clean, truth) / 0.4;
    std::printf("| %s | %.3f | %.3f | %.3f | %.3f | %.3f |\n", row.name, noise,
                everywhere(from_noisy, truth) / everywhere(noisy, truth), impulses, impulses_everywhere, step);
    // Every filter must bring the noise of a flat part down, and the median must bring impulses down ten times where no
    // edge is near. Beside a step one impulse on the near side gives the majority to the far side.
    EXPECT_LT(noise, 0.5) << row.name;
    if (row.options.kind == FilterKind::median) {
      EXPECT_LT(impulses, 0.1) << row.name;
      EXPECT_LT(impulses_everywhere, 0.25) << row.name;
      EXPECT_EQ(step, 0) << row.name;  // a straight step is its own median
    }
    // The bilateral filter leaks across the step by the weight of a difference of 0.4 = 2.05 sigma: 0.12 of the near
    // side's weight, so 0.11 of the step. A Gaussian leaks nearly half.
    if (row.options.kind == FilterKind::bilateral) {
      EXPECT_LT(step, 0.12) << row.name;
    }
    if (row.options.kind == FilterKind::gaussian) {
      EXPECT_GT(step, 0.2) << row.name;
    }
  }
}

// In a flat part with independent noise the variance that is left is the sum of the squared weights; the median's is
// pi / 2 n for many pixels, and 0.2104 for 7 (tables of order statistics).
TEST(FilterFaults, NoiseFallsAsTheoryHasIt) {
  Frame truth;
  std::fill(truth.values.begin(), truth.values.end(), 1.0f);
  Frame noisy = with_noise(truth, 0.03);
  const auto left = [&](const FilterOptions& options) {
    Frame out = filtered(noisy, options);
    return everywhere(out, truth) / everywhere(noisy, truth);
  };
  // 35 000 pixels, of which one in 13 is independent: the ratio is known to 1.4 %; 4 % is three times that.
  EXPECT_NEAR(left(options_of(FilterKind::box, 3, 1, 1)), std::sqrt(1.0 / 7), 0.04 * 0.378);
  EXPECT_NEAR(left(options_of(FilterKind::gaussian, 6, 1.5, 1)), std::sqrt(1 / (2 * 1.5 * std::sqrt(M_PI))),
              0.04 * 0.434);
  EXPECT_NEAR(left(options_of(FilterKind::median, 3, 1, 1)), std::sqrt(0.2104), 0.04 * 0.459);
  EXPECT_NEAR(left(options_of(FilterKind::box, 3, 1, 2)), 1.0 / 7, 0.1 / 7);  // one pixel in 49 is independent: 2.7 %
}

// Where nothing but noise is near; beside steps the bilateral filter's leak adds up with every iteration.
TEST(FilterFaults, IterationsSmoothMore) {
  Frame truth;
  std::fill(truth.values.begin(), truth.values.end(), 1.0f);
  Frame noisy = with_noise(truth, 0.03);
  for (const Row& row : rows()) {
    FilterOptions options = row.options;
    Frame once = filtered(noisy, options);
    options.iterations = 2;
    Frame twice = filtered(noisy, options);
    EXPECT_LT(everywhere(twice, truth), 0.95 * everywhere(once, truth)) << row.name;
  }
}

Picture picture_of(Frame& frame) {
  Picture picture(width, height, {0, 0, 0});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      picture.set(x, y, colour_of(static_cast<double>(frame.at(x, y)), {0, 1.2}, ColourMap::grey));
  return picture;
}

TEST(FilterFaults, WritesPictures) {
  const char* folder = std::getenv("LEPUS_PICTURES");
  if (!folder) GTEST_SKIP() << "LEPUS_PICTURES names no folder";
  Frame truth = clean_frame(), faulty = with_impulses(with_noise(truth, 0.06), 0.02);
  Picture sheet(3 * width + 8, 2 * (height + 14) + 4, {255, 255, 255});
  std::int64_t place = 0;
  const auto paste = [&](Frame& frame, const char* label) {
    const std::int64_t x = place % 3 * (width + 4), y = place / 3 * (height + 18);
    draw_text(sheet, label, x + 2, y, {11, {0, 0, 0}});
    sheet.paste(picture_of(frame), x, y + 14);
    ++place;
  };
  paste(truth, "truth");
  paste(faulty, "noise 0.06, impulses 2 %");
  for (const Row& row : rows()) {
    if (row.options.dimensions == 1) continue;
    Frame out = filtered(faulty, row.options);
    paste(out, row.name);
  }
  save_png(sheet, std::filesystem::path(folder) / "filters.png", true);
}

}  // namespace
}  // namespace lepus
