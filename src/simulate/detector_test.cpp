// SPDX-License-Identifier: Apache-2.0
// Grey levels: the way back to line integrals, noise of the right size, faults where they are said to be.
#include "simulate/detector.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::int64_t columns = 120, rows = 90, pixels = columns * rows;

std::vector<std::uint16_t> frame(const Detector& d, Exposure kind, std::int64_t index, double beam,
                                 const std::vector<float>& p = {}, int threads = 2, std::int64_t* saturated = nullptr) {
  ThreadPool pool(threads);
  std::vector<std::uint16_t> out(pixels);
  const std::int64_t s = d.expose(kind, index, beam, p.empty() ? nullptr : p.data(), out.data(), pool);
  if (saturated) *saturated = s;
  return out;
}

TEST(Detector, LevelsGoBackToLineIntegrals) {
  const Detector d(columns, rows, {.gain_spread = 0.05, .offset_spread = 10});
  std::vector<float> p(pixels);
  for (std::size_t i = 0; i < pixels; ++i) p[i] = 5.0f * static_cast<float>(i) / pixels;
  const auto view = frame(d, Exposure::view, 0, 1, p), flat = frame(d, Exposure::flat, 0, 1),
             dark = frame(d, Exposure::dark, 0, 1);
  for (std::size_t i = 0; i < pixels; ++i) {
    const double net = view[i] - dark[i], open = flat[i] - dark[i];
    // Rounding moves each of the three levels by up to 1/2: one level of `net`, one of `open`.
    ASSERT_NEAR(-std::log(net / open), p[i], 1.0 / (net - 1) + 1.0 / open);
  }
}

TEST(Detector, NoiseIsPoissons) {
  const double photons = 2000, transmission = 0.25;
  const Detector d(columns, rows, {.photons = photons, .open_level = 50000, .offset_level = 200});
  const std::vector<float> p(pixels, static_cast<float>(-std::log(transmission)));
  const auto view = frame(d, Exposure::view, 3, 1, p);
  double s1 = 0, s2 = 0;
  for (const auto v : view) {
    const double n = (v - 200.0) / 50000 * photons - photons * transmission;
    s1 += n;
    s2 += n * n;
  }
  const double mean = photons * transmission;  // a level is 0.04 photons: rounding adds nothing
  EXPECT_NEAR(s1 / pixels, 0, 5 * std::sqrt(mean / pixels));
  EXPECT_NEAR(s2 / pixels, mean, 5 * std::sqrt((2 * mean * mean + mean) / pixels));
}

TEST(Detector, DarksHaveTheirNoiseAndNoBeam) {
  const Detector d(columns, rows, {.photons = 100, .offset_level = 300, .dark_current = 50, .electronic_noise = 4});
  double s1 = 0, s2 = 0;
  for (const auto v : frame(d, Exposure::dark, 0, 1)) {
    s1 += v - 350.0;
    s2 += (v - 350.0) * (v - 350.0);
  }
  const double variance = 50 + 16 + 1.0 / 12;  // Poisson, electronics, rounding
  EXPECT_NEAR(s1 / pixels, 0, 5 * std::sqrt(variance / pixels));
  EXPECT_NEAR(s2 / pixels, variance, 5 * std::sqrt(2.0 / pixels) * variance);
}

TEST(Detector, SameBitsForAnyThreadsOtherBitsForAnotherFrame) {
  const Detector d(columns, rows, {.photons = 500, .electronic_noise = 2, .seed = 77});
  EXPECT_EQ(frame(d, Exposure::flat, 5, 1, {}, 1), frame(d, Exposure::flat, 5, 1, {}, 3));
  EXPECT_NE(frame(d, Exposure::flat, 5, 1), frame(d, Exposure::flat, 6, 1));
  const Detector other(columns, rows, {.photons = 500, .electronic_noise = 2, .seed = 78});
  EXPECT_NE(frame(d, Exposure::flat, 5, 1), frame(other, Exposure::flat, 5, 1));
}

TEST(Detector, FaultsAreWhereItSays) {
  const Detector d(columns, rows,
                   {.offset_level = 100, .hot_pixels = 40, .dead_pixels = 30, .dead_columns = 2, .seed = 5});
  ASSERT_EQ(d.hot_pixels().size(), 40u);
  ASSERT_EQ(d.dead_pixels().size(), 30u);
  ASSERT_EQ(d.dead_columns().size(), 2u);
  const auto flat = frame(d, Exposure::flat, 0, 1);
  std::vector<int> expected(pixels, 50100);
  for (const auto c : d.dead_columns())
    for (std::int64_t r = 0; r < rows; ++r) expected[static_cast<std::size_t>(r * columns + c)] = 100;
  for (const auto p : d.dead_pixels()) expected[static_cast<std::size_t>(p)] = 100;
  for (const auto p : d.hot_pixels()) expected[static_cast<std::size_t>(p)] = 65535;
  for (std::size_t i = 0; i < pixels; ++i) ASSERT_EQ(flat[i], expected[i]) << i;
}

TEST(Detector, SaturatesAndCounts) {
  std::int64_t saturated = 0;
  const Detector bright(columns, rows, {.open_level = 70000});
  const std::vector<float> p(pixels, 0.0f);
  const auto view = frame(bright, Exposure::view, 0, 1, p, 2, &saturated);
  EXPECT_EQ(saturated, pixels);
  for (const auto v : view) ASSERT_EQ(v, 65535);
  const Detector twelve(columns, rows, {.open_level = 5000, .bits = 12});
  EXPECT_EQ(frame(twelve, Exposure::flat, 0, 1, {}, 2, &saturated)[7], 4095);
  EXPECT_EQ(saturated, pixels);
  frame(twelve, Exposure::flat, 0, 0.5, {}, 2, &saturated);
  EXPECT_EQ(saturated, 0);
}

TEST(Detector, BeamDriftsAndFlickers) {
  const Detector drift(columns, rows, {.beam_drift = -0.1});
  EXPECT_DOUBLE_EQ(drift.beam(0, 101), 1);
  EXPECT_DOUBLE_EQ(drift.beam(50, 101), 0.95);
  EXPECT_DOUBLE_EQ(drift.beam(100, 101), 0.9);
  const std::vector<float> p(pixels, 0.0f);
  EXPECT_EQ(frame(drift, Exposure::view, 100, drift.beam(100, 101), p)[0], 45100);
  const Detector flicker(columns, rows, {.beam_flicker = 0.02});
  double s1 = 0, s2 = 0;
  for (int i = 0; i < 4000; ++i) {
    const double b = flicker.beam(i, 4000) - 1;
    s1 += b;
    s2 += b * b;
  }
  EXPECT_NEAR(s1 / 4000, 0, 5 * 0.02 / std::sqrt(4000.0));
  EXPECT_NEAR(std::sqrt(s2 / 4000), 0.02, 5 * 0.02 / std::sqrt(8000.0));
}

TEST(Detector, RefusesSettingsOutOfRange) {
  const auto refused = [](SimulatedDetector o) { EXPECT_THROW(check(o, columns, rows), Error); };
  refused({.photons = -1});
  refused({.open_level = 0});
  refused({.gain_spread = 2});
  refused({.bits = 17});
  refused({.hot_pixels = pixels});
  refused({.dead_columns = columns});
  refused({.beam_drift = -1});
}

}  // namespace
}  // namespace lepus
