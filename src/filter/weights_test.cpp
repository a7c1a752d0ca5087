// SPDX-License-Identifier: Apache-2.0
#include "filter/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "filter/test_scans.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace test_scans;

double cross2(Vec3 a, Vec3 b) { return a.x * b.y - a.y * b.x; }

// The column at which a view's ray leaves the source at the fan angle gamma, or (parallel) passes the axis at rho.
double column_of(const Camera& c, Beam beam, double v, double gamma, double rho) {
  const Vec3 a = c.column_step_mm;
  if (beam == Beam::parallel) {
    const Vec3 p = c.pixel_mm(0, v);
    return (rho - cross2(c.direction, p)) / cross2(c.direction, a);
  }
  const Vec3 e = Vec3{-c.source_mm.x, -c.source_mm.y, 0} / source_axis_mm(c);
  const Vec3 d{e.x * std::cos(gamma) - e.y * std::sin(gamma), e.x * std::sin(gamma) + e.y * std::cos(gamma), 0};
  return -cross2(d, c.pixel_mm(0, v) - c.source_mm) / cross2(d, a);
}

double remainder_of(double angle) { return std::remainder(angle, 2 * pi); }

std::vector<Named> one_row_scans() {
  const double shortest = 180 + 2 * 14.4;
  std::vector<Named> all{{"fan full", fan(angles(120, 360))},
                         {"fan short", fan(angles(150, shortest))},
                         {"fan short, cone matrices", fan(angles(150, shortest), Beam::cone)},
                         {"fan short, backwards", fan(angles(150, -shortest, 77))},
                         {"fan over-scan", fan(angles(150, 250, 33))},
                         {"fan almost full", fan(angles(150, 330))},
                         {"fan limited", fan(angles(90, 195))},
                         {"fan limited below half a turn", fan(angles(90, 165))},
                         {"fan full, shifted", with(fan(angles(120, 360)), 5.3, 0)},
                         {"fan full, displaced axis", with(fan(angles(120, 360)), 0, 4.1)},
                         {"fan short, shifted", with(fan(angles(150, shortest)), 5.3, 0)},
                         {"fan short, displaced axis", with(fan(angles(150, shortest)), 0, -4.1)},
                         {"fan over-scan, shifted and displaced", with(fan(angles(150, 250)), -7, 3)},
                         {"half-fan", with(fan(angles(120, 360)), 55, 0)},
                         {"half-fan, other side, displaced axis", with(fan(angles(120, 360)), -50, 3)},
                         {"gap in a full turn", without_views(fan(angles(120, 360)), 40, 55)},
                         {"two gaps", without_views(without_views(fan(angles(120, 360)), 80, 90), 10, 20)},
                         {"gap in an over-scan, shifted", without_views(with(fan(angles(150, 250)), 6, 0), 50, 60)},
                         {"parallel over-scan, shifted", with(fan(angles(92, 230), Beam::parallel), 5, 0)},
                         {"parallel full, shifted", with(fan(angles(100, 360), Beam::parallel), 4, 0)},
                         {"parallel half-fan", with(fan(angles(100, 360), Beam::parallel), 40, 0)}};
  CircularScan mirrored = with(fan(angles(150, shortest)), 5.3, 0);
  mirrored.mirror_columns = true;
  all.push_back({"fan short, shifted, mirrored columns", mirrored});
  return all;
}

// Every pair of views sees one common line (in a fan: at the fan angles +-(difference - 180 degrees) / 2). Where both
// measured it, their weights add up to 1; where the detector of one of them does not reach it, the other counts fully.
TEST(Weights, MeasurementsOfOneLineAddUpToOne) {
  for (const Named& named : one_row_scans()) {
    const ScanGeometry g = build_scan(named.scan);
    const FdkWeights weights(g);
    const auto last = static_cast<double>(g.columns) - 0.5;
    int both = 0, alone = 0;
    std::vector<Camera> cameras;
    for (std::int64_t i = 0; i < g.views(); ++i) cameras.push_back(camera_of(g, i));
    for (std::int64_t i = 0; i < g.views(); ++i)
      for (std::int64_t j = 0; j < g.views(); ++j) {
        const Camera &a = cameras[static_cast<std::size_t>(i)], &b = cameras[static_cast<std::size_t>(j)];
        double gamma = remainder_of(view_angle_rad(b) - view_angle_rad(a) - pi) / 2;
        std::vector<double> rhos{0};
        if (g.beam == Beam::parallel) {
          if (std::abs(gamma) > 1e-9) continue;
          rhos = {-70, -54, -49, -44.9, -20, -3, 0, 11, 37, 44.8, 49, 54, 60};
        }
        for (const double rho : rhos) {
          const double u = column_of(a, g.beam, 0, gamma, rho), other = column_of(b, g.beam, 0, -gamma, -rho);
          if (!(u > -0.5 && u < last)) continue;
          const double m = weights.redundancy(i, u, 0);
          ASSERT_GE(m, 0) << named.name;
          if (other > -0.5 && other < last) {
            ++both;
            ASSERT_NEAR(m + weights.redundancy(j, other, 0), 1, 1e-12) << named.name << " views " << i << ' ' << j;
          } else if (other < -0.51 || other > last + 0.01) {
            ++alone;
            ASSERT_NEAR(m, 1, 1e-12) << named.name << " views " << i << ' ' << j << " u " << u;
          }
        }
      }
    EXPECT_GT(both, 50) << named.name;
    if (named.name.find("shifted") != std::string::npos) {
      EXPECT_GT(alone, 10) << named.name;
    }
  }
}

// In an arc with gaps a line whose other view falls into a gap counts fully.
TEST(Weights, LinesSeenOnceCountFully) {
  for (const Named& named : one_row_scans()) {
    const ScanGeometry g = build_scan(named.scan);
    const FdkWeights weights(g);
    if (weights.coverage() != Coverage::short_scan && weights.coverage() != Coverage::limited) continue;
    const double step = std::abs(named.scan.angles_rad[1] - named.scan.angles_rad[0]);
    int counted = 0;
    std::vector<double> view_angles;
    for (std::int64_t j = 0; j < g.views(); ++j) view_angles.push_back(view_angle_rad(camera_of(g, j)));
    for (std::int64_t i = 0; i < g.views(); i += 3)
      for (double u = 0; u < static_cast<double>(g.columns); u += 1) {
        const Camera c = camera_of(g, i);
        const Vec3 d = c.ray(u, 0);
        const double opposite = std::atan2(d.y, d.x) + pi / 2;  // plus gamma: where the other source stands
        const Vec3 e = Vec3{-c.source_mm.x, -c.source_mm.y, 0};
        const double gamma = std::atan2(cross2(e, d), dot(e, d));
        double nearest = 10;
        for (const double angle : view_angles)
          nearest = std::min(nearest, std::abs(remainder_of(opposite + gamma - angle)));
        if (nearest < 0.5001 * step) continue;
        ++counted;
        ASSERT_NEAR(weights.redundancy(i, u, 0), 1, 1e-12) << named.name << " view " << i << " column " << u;
      }
    EXPECT_GT(counted, 100) << named.name;
  }
}

// Parker's and Silver's formula itself, with the arc that reaches half a step beyond the first and last views.
TEST(Weights, ShortScanIsParkersWeight) {
  const int n = 150;
  const double range = radians(210);
  const ScanGeometry g = build_scan(fan(angles(n, degrees(range))));
  const FdkWeights weights(g);
  EXPECT_EQ(weights.coverage(), Coverage::short_scan);
  EXPECT_NEAR(weights.arc_rad(), range, 1e-12);
  const double delta = (range - pi) / 2;
  for (int i = 0; i < n; ++i)
    for (double u = 0; u < 128; ++u) {
      const double beta = range * (i + 0.5) / n;
      const double gamma = -std::atan((u - 63.5) * 1.2 / 300);  // +u is to the right, clockwise
      double expected = 1;
      if (beta < 2 * (delta - gamma))
        expected = std::pow(std::sin(pi / 4 * beta / (delta - gamma)), 2);
      else if (beta > pi - 2 * gamma)
        expected = std::pow(std::sin(pi / 4 * (pi + 2 * delta - beta) / (delta + gamma)), 2);
      ASSERT_NEAR(weights.redundancy(i, u, 0), expected, 1e-9) << i << ' ' << u;
    }
}

TEST(Weights, CosineOfADisplacedAxisIsNotThatOfAShiftedDetector) {
  CircularScan scan = fan(angles(90, 360), Beam::cone);
  scan.rows = 40;
  const double pitch = 0.8, distance = 200;
  for (const double tau : {-20.0, 25.0}) {
    const ScanGeometry displaced = build_scan(with(scan, 0, tau)), shifted = build_scan(with(scan, -1.5 * tau, 0));
    const FdkWeights a(displaced, {.redundancy = false}), b(shifted, {.redundancy = false});
    double largest = 0;
    for (double u = 0; u < 128; u += 7)
      for (double v = 0; v < 40; v += 3) {
        // s and z on the plane through the axis, from the central ray; +tau is along +u.
        const double s = (u - 63.5) * pitch, z = (v - 19.5) * pitch;
        const double expected = radians(4) / 2 / pitch * (distance * distance + tau * s) /
                                (distance * std::sqrt(distance * distance + s * s + z * z));
        ASSERT_NEAR(a.at(17, u, v) / expected, 1, 1e-12) << tau << ' ' << u << ' ' << v;
        const double from_axis = s - tau;  // the shifted detector sees the axis in the same column
        const double plain = radians(4) / 2 / pitch * distance / std::hypot(distance, from_axis, z);
        ASSERT_NEAR(b.at(17, u, v) / plain, 1, 1e-12);
        largest = std::max(largest, std::abs(expected / plain - 1));
      }
    EXPECT_GT(largest, 5e-3);
  }
}

TEST(Weights, ParallelAndInPlaneRotation) {
  // Horizontal rays: 1/pitch. A detector turned in its plane by eta: a step along the row moves only cos(eta) pitch.
  CircularScan scan = fan(angles(90, 180), Beam::parallel);
  scan.rows = 20;
  const FdkWeights straight(build_scan(scan));
  EXPECT_EQ(straight.coverage(), Coverage::parallel_half_turn);
  EXPECT_NEAR(straight.at(5, 30, 4), radians(2) / 0.8, 1e-12);
  scan.in_plane_rad = radians(10);
  const FdkWeights turned(build_scan(scan));
  EXPECT_NEAR(turned.at(5, 30, 4), radians(2) / 0.8 / std::cos(radians(10)), 1e-12);
}

TEST(Weights, SharesOfTheArc) {
  const auto shares = [](const CircularScan& scan) {
    const FdkWeights weights(build_scan(scan));
    std::vector<double> all;
    for (std::size_t i = 0; i < scan.angles_rad.size(); ++i)
      all.push_back(weights.share_rad(static_cast<std::int64_t>(i)));
    return all;
  };
  const auto sum = [](const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
  // Unequal steps, in any order: half of both gaps, one turn together.
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 360);
  CircularScan scan = fan({});
  for (int i = 0; i < 200; ++i) scan.angles_rad.push_back(radians(uniform(random)));
  EXPECT_NEAR(sum(shares(scan)), 2 * pi, 0.1 * 2 * pi);  // the widest random gaps may count as gaps
  scan.angles_rad = {0, 1, 1.5, 3, 4, 5.5};
  const std::vector<double> uneven = shares(scan);
  EXPECT_NEAR(uneven[1], 0.75, 1e-12);
  EXPECT_NEAR(uneven[0], (1 + 2 * pi - 5.5) / 2, 1e-12);
  EXPECT_NEAR(sum(uneven), 2 * pi, 1e-12);
  // Every angle twice, one three times: they share equally.
  scan.angles_rad = angles(36, 360);
  for (const double a : angles(36, 360)) scan.angles_rad.push_back(a + 2 * pi * 1e-9);
  scan.angles_rad.push_back(radians(50));
  const std::vector<double> repeated = shares(scan);
  EXPECT_NEAR(repeated[4], radians(5), 1e-7);
  EXPECT_NEAR(repeated[5], radians(10) / 3, 1e-7);
  EXPECT_NEAR(sum(repeated), 2 * pi, 1e-7);
  // One view left out: its neighbours take over.
  const std::vector<double> missing = shares(without_views(fan(angles(360, 360)), 77, 78));
  EXPECT_NEAR(missing[76], radians(1.5), 1e-12);
  EXPECT_NEAR(sum(missing), 2 * pi, 1e-12);
}

TEST(Weights, BothEndsOfAHalfOrFullTurnCountHalf) {
  for (const double turn : {180.0, 360.0}) {
    CircularScan scan = fan(angles(90, turn), turn == 180 ? Beam::parallel : Beam::fan);
    scan.angles_rad.push_back(radians(turn));
    const FdkWeights weights(build_scan(scan));
    const double step = radians(turn / 90);
    EXPECT_NEAR(weights.share_rad(0), step / 2, 1e-9);
    EXPECT_NEAR(weights.share_rad(90), step / 2, 1e-9);
    EXPECT_NEAR(weights.share_rad(1), step, 1e-9);
    EXPECT_EQ(weights.coverage(), turn == 180 ? Coverage::parallel_half_turn : Coverage::full);
    EXPECT_TRUE(weights.warnings().empty());
  }
}

// Past 360 degrees: what several turns measure of the same ray adds up to one turn, and the weight fades at both ends.
TEST(Weights, OverlappingTurns) {
  for (const double range : {400.0, 540.0, 720.0, 1000.0}) {
    const int step = 4, n = static_cast<int>(range) / step;
    const FdkWeights weights(build_scan(fan(angles(n, range, 11))));
    EXPECT_EQ(weights.coverage(), Coverage::over_full);
    EXPECT_NEAR(weights.arc_rad(), radians(range), 1e-9);
    std::vector<double> at(90, 0.0);
    for (int i = 0; i < n; ++i) at[static_cast<std::size_t>(i % 90)] += weights.share_rad(i);
    for (const double share : at) ASSERT_NEAR(share, radians(step), 1e-9) << range;
    if (range != 720) {
      EXPECT_LT(weights.share_rad(0), 0.2 * radians(step));
    }
    EXPECT_NEAR(weights.redundancy(n / 2, 20, 0), 0.5, 1e-12);
  }
}

TEST(Weights, SaysWhatIsMissing) {
  // Half fan angle at the detector's edge: asin(200 sin(atan(64*1.2/300)) / 200) = 14.36 degrees.
  const FdkWeights limited(build_scan(fan(angles(400, 200))));
  EXPECT_EQ(limited.coverage(), Coverage::limited);
  ASSERT_EQ(limited.warnings().size(), 1U);
  EXPECT_NE(limited.warnings()[0].find("8.72 degrees too little"), std::string::npos) << limited.warnings()[0];
  EXPECT_NE(limited.warnings()[0].find("needs 208.72"), std::string::npos) << limited.warnings()[0];

  const FdkWeights enough(build_scan(fan(angles(400, 208.8))));
  EXPECT_EQ(enough.coverage(), Coverage::short_scan);
  EXPECT_TRUE(enough.warnings().empty());

  const FdkWeights gaps(build_scan(without_views(without_views(fan(angles(120, 360)), 40, 50), 10, 20)));
  EXPECT_EQ(gaps.coverage(), Coverage::short_scan);
  ASSERT_EQ(gaps.warnings().size(), 2U);
  EXPECT_NE(gaps.warnings()[0].find("33.00 degrees between views"), std::string::npos) << gaps.warnings()[0];
  // Gaps that face each other across the axis: some lines fall into both.
  const FdkWeights facing(build_scan(without_views(without_views(fan(angles(120, 360)), 80, 90), 10, 20)));
  EXPECT_EQ(facing.coverage(), Coverage::limited);
  // 120 views less 20, 3 degrees each; the gaps of 30 (to the middle of the next step) lie half a turn apart.
  EXPECT_NE(
      facing.warnings().back().find("cover 300.00 of 360 degrees, in 2 pieces; of the lines that the missing 60.00"),
      std::string::npos)
      << facing.warnings().back();
  EXPECT_NE(facing.warnings().back().find("one piece of 208.72 degrees"), std::string::npos)
      << facing.warnings().back();
  EXPECT_EQ(FdkWeights(build_scan(fan(angles(90, 140), Beam::parallel))).coverage(), Coverage::limited);
}

TEST(Weights, HalfFanNeedsAFullTurn) {
  EXPECT_EQ(FdkWeights(build_scan(with(fan(angles(120, 360)), 55, 0))).coverage(), Coverage::half_fan);
  EXPECT_EQ(FdkWeights(build_scan(with(fan(angles(120, 360), Beam::parallel), 40, 0))).coverage(), Coverage::half_fan);
  for (const Beam beam : {Beam::fan, Beam::cone, Beam::parallel})
    for (const double range : {180.0, 240.0, 345.0}) {
      try {
        const FdkWeights weights(build_scan(with(fan(angles(240, range), beam), 40, 0)));
        FAIL() << "accepted " << range;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::geometry);
        EXPECT_NE(std::string(error.what()).find("half-fan scan of less than 360 degrees"), std::string::npos);
      }
    }
  // Two or three views missing from a full turn are bridged, and said.
  const FdkWeights bridged(build_scan(without_views(with(fan(angles(1000, 360)), 55, 0), 500, 504)));
  EXPECT_EQ(bridged.coverage(), Coverage::half_fan);
  EXPECT_EQ(bridged.warnings().size(), 1U);
  // Beside the axis altogether.
  EXPECT_THROW(FdkWeights(build_scan(with(fan(angles(120, 360)), 100, 0))), Error);
}

// Half a turn of parallel rays, too, where views half a turn apart are folded together.
TEST(Weights, WhatASideCutsOffIsSaidWhereNoFullTurnMakesUpForIt) {
  const auto says = [](const CircularScan& scan) {
    for (const std::string& warning : FdkWeights(build_scan(scan)).warnings())
      if (warning.find("only objects within the smaller radius") != std::string::npos) return true;
    return false;
  };
  for (const CircularScan& brief :
       {fan(angles(90, 180), Beam::parallel), fan(angles(120, 240), Beam::parallel), fan(angles(120, 240))}) {
    EXPECT_TRUE(says(with(brief, 15, 0)));
    EXPECT_FALSE(says(with(brief, 2, 0)));
  }
  for (const Beam beam : {Beam::parallel, Beam::fan}) EXPECT_FALSE(says(with(fan(angles(180, 360), beam), 15, 0)));
}

std::vector<Named> scans_with_rows() {
  std::vector<Named> all = one_row_scans();
  for (Named& n : all) n.scan.rows = 3;
  CircularScan tilted = fan(angles(60, 215), Beam::cone);
  tilted.rows = 50;
  tilted.in_plane_rad = radians(3);
  tilted.pitch_rad = radians(-5);
  tilted.yaw_rad = radians(4);
  all.push_back({"tilted, short", tilted});
  all.push_back({"tilted, short, shifted", with(tilted, 6, 2)});
  tilted.angles_rad = angles(60, 360);
  all.push_back({"tilted, half-fan", with(tilted, 50, 2)});
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  CircularScan jittered = with(tilted, 20, -1);
  for (int i = 0; i < 60; ++i) {
    ViewPerturbation p;
    p.source_mm = {normal(random), normal(random), normal(random)};
    p.detector_mm = {normal(random), normal(random), normal(random)};
    p.in_plane_rad = 0.01 * normal(random);
    p.angle_rad = 0.01 * normal(random);
    jittered.perturbations.push_back(p);
  }
  all.push_back({"tilted, jittered, shifted", jittered});
  jittered.angles_rad = angles(60, 230);
  all.push_back({"tilted, jittered, short, shifted", jittered});
  CircularScan wide = fan(angles(80, 320), Beam::cone);
  wide.source_axis_mm = 50;
  wide.source_detector_mm = 60;
  all.push_back({"52 degrees to each side", wide});
  return all;
}

// Single precision against double: about ten roundings in the cosine; in the redundancy weight the fan angle's error
// (2e-7) over the fade, which is at least half a step (here 1e-2): 2 * 2e-7 / 1e-2 * slope pi/2 = 6e-5 of 1, in the
// corner of a short scan only; elsewhere the fade is tens of degrees and 4e-6 bounds it.
TEST(Weights, FastAgreesWithReference) {
  for (const Named& named : scans_with_rows()) {
    const ScanGeometry g = build_scan(named.scan);
    const FdkWeights weights(g), halves(g, {.redundancy = false});
    const auto size = static_cast<std::size_t>(g.columns * g.rows);
    double squares = 0;
    for (std::int64_t view = 0; view < g.views(); ++view) {
      std::vector<float> frame(size, 1.0F);
      weights.apply(view, 0, g.rows, frame.data());
      for (std::int64_t v = 0; v < g.rows; ++v)
        for (std::int64_t u = 0; u < g.columns; ++u) {
          const double full = weights.at(view, static_cast<double>(u), static_cast<double>(v));
          const double scale = 2 * halves.at(view, static_cast<double>(u), static_cast<double>(v));
          const double off = (frame[static_cast<std::size_t>(v * g.columns + u)] - full) / scale;
          squares += off * off;
          ASSERT_TRUE(std::abs(off) < 6e-5)
              << named.name << " view " << view << " u " << u << " v " << v << " off " << off;
        }
    }
    const double rms = std::sqrt(squares / static_cast<double>(size) / static_cast<double>(g.views()));
    EXPECT_LT(rms, 1e-6) << named.name;
  }
}

TEST(Weights, SameBitsWhateverTheCut) {
  for (const Named& named : scans_with_rows()) {
    const ScanGeometry g = build_scan(named.scan);
    const FdkWeights weights(g);
    for (const std::int64_t view : {std::int64_t{0}, g.views() / 3, g.views() - 1}) {
      std::vector<float> whole(static_cast<std::size_t>(g.columns * g.rows), 3.7F), cut = whole;
      weights.apply(view, 0, g.rows, whole.data());
      for (std::int64_t v = 0, size = 1; v < g.rows; v += size, ++size)
        weights.apply(view, v, std::min(g.rows, v + size), cut.data() + v * g.columns);
      ASSERT_EQ(whole, cut) << named.name;
    }
  }
}

TEST(Weights, FewViewsGiveFiniteWeights) {
  for (const Beam beam : {Beam::fan, Beam::parallel})
    for (const int n : {1, 2, 3, 4, 5}) {
      const FdkWeights full(build_scan(fan(angles(n, 360), beam))), half(build_scan(fan(angles(n, 180), beam)));
      double sum = 0;
      for (int i = 0; i < n; ++i) {
        ASSERT_GT(full.at(i, 64, 0), 0);
        ASSERT_TRUE(std::isfinite(half.at(i, 3, 0)));
        sum += full.share_rad(i) * full.redundancy(i, 63.5, 0);
      }
      if (n >= 3) {
        EXPECT_NEAR(sum, pi, 1e-9) << n;  // every line once: half a turn of them
      }
      if (n == 1) {
        EXPECT_EQ(full.coverage(), Coverage::limited);
      }
      EXPECT_EQ(full.warnings().empty(), n >= 3);
    }
  EXPECT_THROW(FdkWeights(ScanGeometry{}), Error);
}

TEST(Weights, WithoutRedundancyEveryRayCountsHalf) {
  for (const Named& named : one_row_scans()) {
    const FdkWeights weights(build_scan(named.scan), {.redundancy = false});
    EXPECT_EQ(weights.redundancy(3, 10, 0), 0.5) << named.name;
  }
}

}  // namespace
}  // namespace lepus
