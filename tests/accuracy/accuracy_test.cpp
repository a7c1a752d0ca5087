// SPDX-License-Identifier: Apache-2.0
// The bars of docs/accuracy.md, held over the same cases and by the same code that print its tables.
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "measure.h"
#include "noise.h"
#include "rtk_gate.h"
#include "sharpness.h"
#include "tilts.h"

namespace lepus::accuracy {
namespace {

ThreadPool& threads() {
  static ThreadPool pool;
  return pool;
}

// Of a cone, whose scans take most of the time, every one is tried, but many by one of the two phantoms alone;
// LEPUS_ACCURACY=all tries all by both.
std::vector<ScanCase> cases_of(PhantomKind phantom) {
  const bool all = std::getenv("LEPUS_ACCURACY") != nullptr;
  std::vector<ScanCase> cases = scan_cases();
  std::erase_if(cases, [&](const ScanCase& scan) {
    const bool by_ball = (static_cast<int>(scan.coverage) + static_cast<int>(scan.alignment)) % 3 == 0;
    if (all || scan.beam != BeamKind::cone) return false;
    return phantom == PhantomKind::ball ? !by_ball : by_ball && scan.coverage == CoverageKind::half_fan;
  });
  return cases;
}

class Ball : public testing::TestWithParam<ScanCase> {};

TEST_P(Ball, IsUniform) {
  const BallQuality q = measure_ball(GetParam(), threads());
  EXPECT_LE(std::abs(q.mean_error), ball_mean_bar);
  EXPECT_LE(std::abs(q.cupping), cupping_bar);
}

INSTANTIATE_TEST_SUITE_P(Accuracy, Ball, testing::ValuesIn(cases_of(PhantomKind::ball)),
                         [](const auto& given) { return given.param.name(); });

// Short scans are held against the full ones of the same alignment, so these two are one test.
class Ellipsoids : public testing::TestWithParam<ScanCase> {};

EllipsoidQuality expect_right_ellipsoids(const ScanCase& scan) {
  const EllipsoidQuality q = measure_ellipsoids(scan, threads());
  EXPECT_LE(std::abs(q.integral_error), integral_bar(scan)) << scan.name();
  EXPECT_LE(q.interior_rms, interior_bar) << scan.name();
  return q;
}

TEST_P(Ellipsoids, AreRight) {
  const EllipsoidQuality q = expect_right_ellipsoids(GetParam());
  if (GetParam().coverage != CoverageKind::full) return;
  ScanCase part = GetParam();
  part.coverage = CoverageKind::short_scan;
  EXPECT_GE(expect_right_ellipsoids(part).mid_plane_psnr, q.mid_plane_psnr - short_scan_loss_bar_db);
}

std::vector<ScanCase> all_but_short_scans() {
  std::vector<ScanCase> cases = cases_of(PhantomKind::ellipsoids);
  std::erase_if(cases, [](const ScanCase& scan) { return scan.coverage == CoverageKind::short_scan; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Accuracy, Ellipsoids, testing::ValuesIn(all_but_short_scans()),
                         [](const auto& given) { return given.param.name(); });

class Tilts : public testing::TestWithParam<TiltCase> {};

TEST_P(Tilts, MidPlanesAreRight) {
  const TiltQuality q = measure_tilt(GetParam(), threads());
  EXPECT_LE(std::abs(q.ball_error - GetParam().ball_lost_by_fdk()), tilt_mean_bar);
  EXPECT_LE(std::abs(q.cylinder_error), tilt_mean_bar);
}

INSTANTIATE_TEST_SUITE_P(Accuracy, Tilts, testing::ValuesIn(tilt_cases()),
                         [](const auto& given) { return given.param.name(); });

TEST(Accuracy, RtkGate) {
  const RtkGate q = measure_rtk_gate(threads());
  EXPECT_LE(q.whole_mean_absolute_error, rtk_mean_error_bar);
  EXPECT_GE(q.whole_psnr, rtk_psnr_bar);
  EXPECT_GT(q.seen, 0.4);  // the mask must not hide the object
}

TEST(Sharpness, EdgesAreAsSharpAsPredicted) {
  for (const SharpnessCase& which : sharpness_cases()) {
    const Sharpness sharpness = measure_sharpness(which, 0, threads());
    EXPECT_GE(sharpness.points.size(), 25u) << which.name();
    EXPECT_LE(sharpness.largest_error(), sharpness_bar) << which.name();
  }
}

// The smallest blur that the check must see mixes a twentieth of each neighbour into a pixel.
TEST(Sharpness, ABlurredScanFails) {
  for (const double share : {0.05, 0.25})
    for (const Beam beam : {Beam::parallel, Beam::cone})
      EXPECT_GT(
          measure_sharpness({.beam = beam, .filter = {}, .interpolation = Interpolation::linear}, share, threads())
              .largest_error(),
          2 * sharpness_bar);
}

TEST(NoiseOfAScan, VarianceIsAsPredicted) {
  for (const NoiseCase& which : noise_cases()) {
    const Noise noise = measure_noise(which, threads());
    EXPECT_LE(noise.statistical_error, statistical_error_bar) << which.name();
    EXPECT_LE(std::abs(noise.error()), noise_bar) << which.name();
  }
}

}  // namespace
}  // namespace lepus::accuracy
