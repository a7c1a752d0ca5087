// SPDX-License-Identifier: Apache-2.0
#include "filter/truncation.h"

#include <cmath>

#include <gtest/gtest.h>

#include "filter/test_scans.h"
#include "geometry/camera.h"

namespace lepus {
namespace {

using namespace test_scans;

// A disc of 0.02 /mm.
Truncation of_disc(const CircularScan& scan, double radius_mm, double x_mm = 0) {
  const ScanGeometry g = build_scan(scan);
  std::vector<float> sinogram;
  for (std::int64_t view = 0; view < g.views(); ++view) {
    const Camera camera = camera_of(g, view);
    for (std::int64_t u = 0; u < g.columns; ++u) {
      const auto column = static_cast<double>(u);
      const Vec3 o = camera.ray_origin_mm(column, 0) - Vec3{x_mm, 0, 0}, d = camera.ray(column, 0);
      const double distance = o.x * d.y - o.y * d.x, rest = radius_mm * radius_mm - distance * distance;
      sinogram.push_back(static_cast<float>(rest > 0 ? 0.04 * std::sqrt(rest) : 0));
    }
  }
  return truncation(g, 0, sinogram.data());
}

TEST(Truncation, IsSeenOnTheSideWhereItIs) {
  const CircularScan full = fan(angles(90, 360)), brief = fan(angles(60, 210));
  for (const CircularScan& scan : {full, brief, fan(angles(90, 180), Beam::parallel)}) {
    EXPECT_FALSE(of_disc(scan, 40).seen());
    EXPECT_TRUE(of_disc(scan, 60).seen());
    EXPECT_NE(of_disc(scan, 60).message().find("both sides"), std::string::npos);
    EXPECT_NE(of_disc(scan, 60).message("method.extend").find("set method.extend to"), std::string::npos);
  }
  // Half a turn of parallel rays sees every line once: a detector that stands 10 mm aside cuts a disc on one side.
  const CircularScan half = fan(angles(90, 180), Beam::parallel);
  const Truncation one = of_disc(with(half, 10, 0), 50);
  EXPECT_TRUE(one.seen());
  EXPECT_LT(one.last, 0.01);
  EXPECT_NE(one.message().find("column 0"), std::string::npos) << one.message();
  EXPECT_NE(of_disc(with(half, -10, 0), 50).message().find("last column"), std::string::npos);
}

TEST(Truncation, WhatIsAdvisedEndsWhereADiscDoes) {
  // The half-width of the row in the middle, by the disc whose edge it just sees.
  const CircularScan scan = fan(angles(90, 180), Beam::parallel);
  const double half_mm = 0.5 * static_cast<double>(scan.columns) * scan.pixel_width_mm;
  for (const double wider : {1.2, 1.5, 2.0}) {
    const Truncation found = of_disc(scan, wider * half_mm);
    EXPECT_NEAR(found.extrapolate(), 0.5 * (wider - 1), 0.03) << found.message();
    EXPECT_NE(found.message().find("extrapolate = 0."), std::string::npos);
  }
  EXPECT_EQ(of_disc(scan, 30 * half_mm).extrapolate(), 1) << "all of the row is inside";
}

// Its weights go from 0 to 1 with the views.
TEST(Truncation, AShortScanSaysOfADiscWhatAFullTurnSays) {
  for (const double radius : {60.0, 90.0}) {
    const Truncation full = of_disc(fan(angles(180, 360)), radius), brief = of_disc(fan(angles(110, 220)), radius);
    EXPECT_NEAR(brief.first, full.first, 0.02);
    EXPECT_NEAR(brief.last, full.last, 0.02);
    EXPECT_NEAR(brief.extrapolate(), full.extrapolate(), 0.03);
  }
}

// 128 columns that reach 74 mm to one side and 21 mm to the other.
TEST(Truncation, TheSideThatAHalfFanFadesOutIsNone) {
  for (const double side : {1.0, -1.0}) {
    const CircularScan scan = with(fan(angles(120, 360)), side * 42, 0);
    const Truncation inside = of_disc(scan, 60), wider = of_disc(scan, 85);
    EXPECT_FALSE(inside.seen()) << inside.message();
    EXPECT_EQ(inside.message(), "");
    EXPECT_TRUE(wider.seen());
    EXPECT_LT(side > 0 ? wider.first : wider.last, 0.1) << "the near side";
  }
}

}  // namespace
}  // namespace lepus
