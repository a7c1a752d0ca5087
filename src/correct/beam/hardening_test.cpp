// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "correct/beam/beam_reference.h"
#include "correct/beam/hardening_curve.h"
#include "correct/beam/hardening_fit.h"
#include "correct/beam/test_bands.h"
#include "filter/test_scans.h"
#include "geometry/camera.h"
#include "geometry/helix.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace test_bands;

// What a beam of two energies loses on the way through t of a material that is 1 at one and 0.4 at the other.
double two_energies(double t) { return -std::log(0.5 * std::exp(-t) + 0.5 * std::exp(-0.4 * t)); }

TEST(Hardening, ReferenceByHand) {
  const std::vector<double> c{1, 0.1, 0.01};
  EXPECT_DOUBLE_EQ(linearise_reference(c, 10, 2), 2 + 0.4 + 0.08);
  EXPECT_DOUBLE_EQ(linearise_reference(c, 10, -0.5), -0.5);
  EXPECT_DOUBLE_EQ(linearise_reference(c, 2, 3), 2.48 + (1 + 0.4 + 0.12));
}

TEST(Hardening, MatchesTheReferenceInEveryCut) {
  for (const std::int64_t columns : {1, 2, 7, 63, 64, 65, 257}) {
    const TestScan scan = TestScan::noise(columns, 5, 7, -0.5F, 8);
    Facts f(scan, Stage::line_integrals);
    const std::vector<double> c{1.1, 0.05, -0.002, 0.0003};
    const auto hardening = make_hardening({.coefficients = c}, f.facts);
    const std::vector<float> whole = corrected(*hardening, scan, 5, 1);
    for (std::size_t i = 0; i < whole.size(); ++i)  // six products and sums of numbers up to 15
      ASSERT_NEAR(whole[i], linearise_reference(c, 20, scan.values[i]), 15 * 6 * 6e-8);
    EXPECT_TRUE(same_bits(whole, corrected(*hardening, scan, 1, 3)));
    EXPECT_TRUE(same_bits(whole, corrected(*hardening, scan, 2, 2)));
  }
}

// Beyond its maximum a polynomial would fold thick parts back onto thin ones: it goes on straight instead.
TEST(Hardening, NeverFalls) {
  const HardeningCurve curve = hardening_curve({1, 0.2, -0.05}, 1e9);
  EXPECT_NEAR(curve.limit, 4.18, 0.02);  // there 1 + 0.4 p - 0.15 p^2 = 0.05; it is 0 at 4.23
  float last = -2;
  for (float p = -1; p < 30; p += 0.01F) {
    const float value = linearised(curve, p);
    ASSERT_GT(value, last) << p;
    last = value;
  }
}

TEST(Hardening, CalibrationGivesTheThickness) {
  std::vector<HardeningOptions::Pair> pairs;
  for (int i = 0; i <= 20; ++i) pairs.push_back({0.25 * i, two_energies(0.25 * i)});
  TestScan scan = TestScan::of_size(50, 1, 1);
  for (int i = 0; i < 50; ++i) scan.values[static_cast<std::size_t>(i)] = static_cast<float>(two_energies(0.1 * i));
  Facts f(scan, Stage::line_integrals);
  const auto hardening = make_hardening({.calibration = pairs, .attenuation_per_mm = 0.7, .degree = 4}, f.facts);
  const std::vector<float> out = corrected(*hardening, scan, 1, 1);
  for (int i = 1; i < 50; ++i)  // a polynomial of degree 4 follows to half a per cent
    EXPECT_NEAR(out[static_cast<std::size_t>(i)] / (0.7 * 0.1 * i), 1, 5e-3) << i;
}

// Without a value for it, the attenuation is the mean of the pairs: here all agree on 0.5 per mm.
TEST(Hardening, CalibrationKeepsTheScale) {
  const std::vector<double> c = calibrated_coefficients({1, 2, 3, 4}, {0.5, 1, 1.5, 2}, 2);
  EXPECT_NEAR(c[0], 1, 1e-9);
  EXPECT_NEAR(c[1], 0, 1e-9);
}

TEST(Hardening, CalibrationThatSaysNothingIsRefused) {
  EXPECT_THROW(calibrated_coefficients({0, 1}, {0, 0.5}, 3), Error);
  EXPECT_THROW(calibrated_coefficients({1, 1, 1}, {0.5, 0.5, 0.5}, 3), Error);
  EXPECT_THROW(calibrated_coefficients({1, 2, 3}, {-0.5, -1, -1.5}, 2), Error);
}

TEST(Hardening, LeastSquaresByHand) {
  LeastSquares line(2);  // y = 2 x - 1 through three points, in columns of very different size
  for (const double x : {1.0, 2.0, 4.0}) line.add({x * 1e6, 1}, 2 * x - 1);
  const std::vector<double> solved = line.solve();
  ASSERT_EQ(solved.size(), 2U);
  EXPECT_NEAR(solved[0], 2e-6, 1e-15);
  EXPECT_NEAR(solved[1], -1, 1e-9);
  LeastSquares nothing(2);
  nothing.add({1, 1}, 1);
  nothing.add({2, 2}, 2);
  EXPECT_TRUE(nothing.solve().empty());
}

// An elliptic rod off the axis, hardened as two energies harden it, in every kind of scan.
TestScan hardened_rod(const CircularScan& circular, double centre_x, double centre_y, double radius,
                      double (*hardened)(double) = two_energies) {
  TestScan scan = TestScan::of_size(circular.columns, 1, static_cast<std::int64_t>(circular.angles_rad.size()));
  scan.geometry = build_scan(circular);
  for (std::int64_t view = 0; view < scan.views; ++view) {
    const Camera camera = camera_of(scan.geometry, view);
    for (std::int64_t u = 0; u < scan.columns; ++u) {
      const Vec3 origin = camera.ray_origin_mm(static_cast<double>(u), 0), d = camera.ray(static_cast<double>(u), 0);
      // Squeezed by 0.7 along y, the ellipse is a circle.
      const double ox = origin.x - centre_x, oy = (origin.y - centre_y) / 0.7, dx = d.x, dy = d.y / 0.7;
      const double a = dx * dx + dy * dy, b = ox * dx + oy * dy, c = ox * ox + oy * oy - radius * radius;
      const double chord = b * b > a * c ? 2 * std::sqrt(b * b - a * c) / a : 0;
      scan.at(0, view, u) = static_cast<float>(hardened(0.12 * chord));
    }
  }
  return scan;
}

TEST(Hardening, FittedToTheScanItIsFlat) {
  using namespace test_scans;
  const double shortest = 180 + 2 * 14.4;
  const std::vector<Named> all{{"full", fan(angles(120, 360))},
                               {"cone", fan(angles(120, 360), Beam::cone)},
                               {"short", fan(angles(100, shortest, 20))},
                               {"half-fan", with(fan(angles(160, 360)), 40, 0)},
                               {"parallel", fan(angles(90, 180), Beam::parallel)}};
  for (const Named& named : all) {
    const TestScan scan = hardened_rod(named.scan, 6, -4, 26);
    Facts f(scan, Stage::line_integrals);
    const HardeningFit fit = fit_hardening(scan.values.data(), 0, scan.geometry, 3, f.threads);
    EXPECT_GT(fit.cupping_before, 0.08) << named.name;
    EXPECT_LT(std::abs(fit.cupping_after), 0.01) << named.name;
    EXPECT_FALSE(fit.reaches_the_rim);
    // Applied to the line integrals themselves, and reconstructed on another grid.
    const auto hardening = make_hardening({.homogeneous = true}, f.facts);
    const std::vector<float> out = corrected(*hardening, scan, 1, 2);
    const MidPlane plane = reconstruct_mid_plane(out.data(), 0, scan.geometry, 100, f.threads);
    EXPECT_LT(std::abs(cupping(plane, object_of(plane))), 0.01) << named.name << ": " << hardening->summary();
    EXPECT_TRUE(f.warnings.empty()) << f.warnings.front();
  }
}

// A beam of one energy needs nothing: what the fit does to it is what sampling (128 columns) does to a flat object,
// 0.07 % of the largest line integral.
TEST(Hardening, FittedToACleanScanItDoesNothing) {
  using namespace test_scans;
  const TestScan scan = hardened_rod(
      fan(angles(180, 360)), 6, -4, 26, +[](double integral) { return 0.7 * integral; });
  ThreadPool pool(2);
  const HardeningFit fit = fit_hardening(scan.values.data(), 0, scan.geometry, 3, pool);
  ASSERT_EQ(fit.coefficients.size(), 3U);
  for (double p = 0.2; p < fit.largest; p += 0.1)
    EXPECT_NEAR(linearise_reference(fit.coefficients, fit.largest, p), p, 0.002 * fit.largest) << p;
}

TEST(Hardening, SaysWhenTheScanCannotTell) {
  using namespace test_scans;
  TestScan empty = hardened_rod(fan(angles(60, 360)), 0, 0, 1);
  std::fill(empty.values.begin(), empty.values.end(), 0.0F);
  Facts f(empty, Stage::line_integrals);
  const HardeningOptions homogeneous{.homogeneous = true};
  EXPECT_THROW(make_hardening(homogeneous, f.facts), Error);
  const TestScan thin = hardened_rod(fan(angles(60, 360)), 0, 0, 1.5);
  Facts g(thin, Stage::line_integrals);
  EXPECT_THROW(make_hardening(homogeneous, g.facts), Error);
  const TestScan helix = hardened_rod(with_helix(fan(angles(120, 720), Beam::cone), 10), 0, 0, 26);
  Facts climbing(helix, Stage::line_integrals);
  EXPECT_THROW(make_hardening(homogeneous, climbing.facts), Error);
  EXPECT_NO_THROW(make_hardening({.coefficients = {1, 0.1}}, climbing.facts));
  const TestScan large = hardened_rod(fan(angles(60, 360)), 0, 0, 75);  // beyond the field of view of 49.6 mm
  Facts h(large, Stage::line_integrals);
  try {
    make_hardening(homogeneous, h.facts);
    EXPECT_FALSE(h.warnings.empty());
  } catch (const Error&) {
  }
}

TEST(Hardening, RefusesWhatContradicts) {
  const TestScan scan = TestScan::noise(8, 1, 2);
  Facts f(scan, Stage::line_integrals);
  EXPECT_THROW(make_hardening({}, f.facts), Error);
  EXPECT_THROW(make_hardening({.coefficients = {1}, .homogeneous = true}, f.facts), Error);
  EXPECT_THROW(make_hardening({.coefficients = {1}, .degree = 7}, f.facts), Error);
  EXPECT_THROW(make_hardening({.coefficients = {1}, .degree = 4}, f.facts), Error);
  EXPECT_THROW(make_hardening({.coefficients = {1}, .attenuation_per_mm = 0.5}, f.facts), Error);
  EXPECT_THROW(make_hardening({.calibration = std::vector<HardeningOptions::Pair>{}}, f.facts), Error);
  using List = std::vector<double>;
  for (const List& c : {List{0, 1}, List{-1}, List{1, std::nan("")}, List{1, 0, 0, 0, 0, 0, 1}})
    EXPECT_THROW(make_hardening({.coefficients = c}, f.facts), Error);
  Facts before(scan, Stage::grey_levels);
  EXPECT_THROW(make_hardening({.coefficients = {1}}, before.facts), Error);
}

}  // namespace
}  // namespace lepus
