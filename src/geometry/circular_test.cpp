// SPDX-License-Identifier: Apache-2.0
// The builder against points projected by hand: the ray from the source, met with the detector's plane, in coordinates
// that the test writes down itself.
#include <algorithm>
#include <cmath>
#include <random>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "geometry/arc.h"
#include "geometry/camera.h"
#include "geometry/helix.h"
#include <lepus/error.h>
#include <lepus/geometry.h>

namespace lepus {
namespace {

// Coordinates up to 1e3 pixels, a dozen operations in double: 1e3 * 12 * 1.1e-16 is about 1e-12. Ten times that.
constexpr double tolerance = 1e-11;

CircularScan plain_scan() {
  CircularScan s;
  s.source_axis_mm = 500;
  s.source_detector_mm = 1000;
  s.columns = 101;
  s.rows = 61;
  s.pixel_width_mm = 0.5;
  s.pixel_height_mm = 0.25;
  s.angles_rad = {0};
  return s;
}

struct Pixel {
  double u, v, w;
};
Pixel project(const ScanGeometry& g, Vec3 x, std::size_t view = 0) {
  const Vec3 h = transform(g.matrices[view], x);
  return g.beam == Beam::fan ? Pixel{h.x / h.z, h.y, h.z} : Pixel{h.x / h.z, h.y / h.z, h.z};
}
void expect_pixel(Pixel p, double u, double v, double w) {
  EXPECT_NEAR(p.u, u, tolerance);
  EXPECT_NEAR(p.v, v, tolerance);
  EXPECT_NEAR(p.w, w, tolerance);
}

TEST(BuildScan, ConeAtAngleZero) {
  const ScanGeometry g = build_scan(plain_scan());
  EXPECT_EQ(g.columns, 101);
  EXPECT_EQ(g.rows, 61);
  EXPECT_EQ(g.source_detector_mm, 1000);
  expect_pixel(project(g, {0, 0, 0}), 50, 30, 1);
  // (5, 0, 0): magnified twice to 10 mm, 20 columns of 0.5 mm to the right.
  expect_pixel(project(g, {5, 0, 0}), 70, 30, 1);
  // (0, 0, 2): up means a smaller row; 4 mm on the detector, 16 rows of 0.25 mm.
  expect_pixel(project(g, {0, 0, 2}), 50, 14, 1);
  // (3, 100, -1): 600 mm from the source, magnified 1000/600: 5 mm right, 5/3 mm down, w = 600/500.
  expect_pixel(project(g, {3, 100, -1}), 60, 30 + 20. / 3, 1.2);
}

TEST(BuildScan, AnglesTurnCounterClockwise) {
  CircularScan s = plain_scan();
  s.angles_rad = {pi / 2, -pi / 2, radians(30)};
  const ScanGeometry g = build_scan(s);
  // A quarter turn puts the source at R_z(90)(0,-500,0) = (500, 0, 0), looking along -x; right is then +y.
  expect_pixel(project(g, {0, 5, 2}, 0), 70, 14, 1);
  expect_pixel(project(g, {-100, 3, 0}, 0), 60, 30, 1.2);
  // A quarter turn back: the source at (-500, 0, 0), right is -y.
  expect_pixel(project(g, {0, 5, 2}, 1), 30, 14, 1);
  // Turning the point with the scan leaves its pixel where it was at angle 0.
  const double c = std::cos(radians(30)), n = std::sin(radians(30));
  expect_pixel(project(g, {3 * c - 100 * n, 3 * n + 100 * c, -1}, 2), 60, 30 + 20. / 3, 1.2);
  // Exact at quarter turns: kernels look for these zeros.
  EXPECT_EQ(g.matrices[0](2, 1), 0);
  EXPECT_EQ(g.matrices[0](2, 2), 0);
  EXPECT_EQ(g.matrices[2](2, 2), 0);
  EXPECT_EQ(g.matrices[2](0, 2), 0);
}

TEST(BuildScan, DetectorShiftAndMirroring) {
  CircularScan s = plain_scan();
  s.detector_shift_u_mm = 2;    // the middle is 4 columns right of the central ray, which so meets column 46
  s.detector_shift_v_mm = 1.5;  // and 6 rows below it: row 24
  expect_pixel(project(build_scan(s), {0, 0, 0}), 46, 24, 1);
  s.mirror_columns = true;  // counted from the right: 100 - 46
  expect_pixel(project(build_scan(s), {0, 0, 0}), 54, 24, 1);
  expect_pixel(project(build_scan(s), {5, 0, 0}), 34, 24, 1);
  s.mirror_rows = true;  // counted from below: 60 - 24; up means larger rows
  expect_pixel(project(build_scan(s), {0, 0, 2}), 54, 52, 1);
}

TEST(BuildScan, AxisOffsetIsNotADetectorShift) {
  CircularScan s = plain_scan();
  s.axis_offset_mm = 10;  // source (-10, -500, 0), detector's middle (-10, 500, 0)
  const ScanGeometry g = build_scan(s);
  // The origin is 10 mm right of the central ray, 500 mm from the source: 20 mm, 40 columns to the right of 50.
  expect_pixel(project(g, {0, 0, 0}), 90, 30, 1);
  // (0, 300, 0) too, but 800 mm from the source: 12.5 mm, 25 columns.
  expect_pixel(project(g, {0, 300, 0}), 75, 30, 1.6);
  // A detector shift that puts the axis on the same column leaves it there at every depth.
  s.axis_offset_mm = 0;
  s.detector_shift_u_mm = -20;
  expect_pixel(project(build_scan(s), {0, 300, 0}), 90, 30, 1.6);
}

TEST(BuildScan, EachTiltMovesTheSideThatTheDocumentationSays) {
  const double a = radians(20), c = std::cos(a), n = std::sin(a);
  CircularScan s = plain_scan();
  s.in_plane_rad = a;
  // The column direction turns towards v: a detector point at p mm along it is at (p c) right and (p n) down. The world
  // point half way (magnification 2) therefore has x = p c / 2, z = -p n / 2. Take p = 10: 20 columns.
  expect_pixel(project(build_scan(s), {5 * c, 0, -5 * n}), 70, 30, 1);
  s = plain_scan();
  s.yaw_rad = a;
  // Right-handed about v (down): depth turns towards u, so the right-hand side comes nearer to the source. The detector
  // point 10 mm along the columns is at x = 10 c, y = 500 - 10 n: any point on the ray to it from (0, -500, 0).
  const double depth = 1000 - 10 * n;
  expect_pixel(project(build_scan(s), {10 * c * 500 / depth, 0, 0}), 70, 30, 1 + n / c * (10 * c * 500 / depth) / 500);
  s = plain_scan();
  s.pitch_rad = a;
  // Right-handed about u: the rows turn from down towards depth, so the bottom goes away from the source. The detector
  // point 5 mm along the rows is at z = -5 c, y = 500 + 5 n.
  const double far = 1000 + 5 * n;
  expect_pixel(project(build_scan(s), {0, 0, -5 * c * 500 / far}), 50, 50, 1 - n / c * (5 * c * 500 / far) / 500);
}

TEST(BuildScan, TiltsAreYawThenPitchThenInPlane) {
  CircularScan s = plain_scan();
  s.yaw_rad = pi / 4;
  s.pitch_rad = pi / 6;
  s.in_plane_rad = pi / 2;
  // Yaw 45: u = (1,0,-1)/sqrt2 in (right, down, away), v = (0,1,0), n = (1,0,1)/sqrt2. Pitch 30 about that u:
  // v' = cos30 v + sin30 n. In-plane 90: columns run along v', rows along -u.
  const double h = std::sqrt(0.5), c = std::cos(pi / 6), n = 0.5;
  const Vec3 column{n * h, c, n * h}, row{-h, 0, h};  // right, down, away
  const ScanGeometry g = build_scan(s);
  for (const auto& [p, q] : {std::pair{3.0, 0.0}, {0.0, 2.0}, {-4.0, 1.5}}) {
    const Vec3 d = p * column + q * row;           // from the middle, millimetres
    const Vec3 on_detector{d.x, 500 + d.z, -d.y};  // in the world
    const Vec3 x = Vec3{0, -500, 0} + 0.4 * (on_detector - Vec3{0, -500, 0});
    const Pixel pixel = project(g, x);
    EXPECT_NEAR(pixel.u, 50 + p / 0.5, tolerance);
    EXPECT_NEAR(pixel.v, 30 + q / 0.25, tolerance);
  }
}

TEST(BuildScan, PerturbationMovesOneView) {
  CircularScan s = plain_scan();
  s.angles_rad = {0, 0};
  s.perturbations.resize(2);
  s.perturbations[1].source_mm = {1, 2, 100};     // source (1, -400, -2)
  s.perturbations[1].detector_mm = {3, -1, 100};  // middle (3, 600, 1)
  const ScanGeometry g = build_scan(s);
  expect_pixel(project(g, {0, 0, 0}, 0), 50, 30, 1);
  // From (1, -400, -2) through the origin to y = 600, 2.5 times as far: (1 - 2.5, 600, -2 + 5) = (-1.5, 600, 3):
  // 4.5 mm left of the middle and 2 mm above it.
  expect_pixel(project(g, {0, 0, 0}, 1), 50 - 9, 30 - 8, 1);
  s.perturbations[1] = {};
  s.perturbations[1].angle_rad = pi / 2;
  expect_pixel(project(build_scan(s), {0, 5, 2}, 1), 70, 14, 1);
}

TEST(BuildScan, ParallelBeam) {
  CircularScan s = plain_scan();
  s.beam = Beam::parallel;
  s.source_axis_mm = s.source_detector_mm = 0;
  s.axis_offset_mm = 1;  // the axis meets the detector 1 mm right of its middle
  const ScanGeometry g = build_scan(s);
  expect_pixel(project(g, {0, 0, 0}), 52, 30, 1);
  expect_pixel(project(g, {5, 123, 2}), 62, 22, 1);
  // Yawed by 60 degrees: lengths across the beam spread over twice as many columns.
  s.axis_offset_mm = 0;
  s.yaw_rad = pi / 3;
  expect_pixel(project(build_scan(s), {5, 123, 2}), 70, 22, 1);
}

TEST(BuildScan, FanBeam) {
  CircularScan s = plain_scan();
  s.beam = Beam::fan;
  s.detector_shift_v_mm = 0.5;
  const ScanGeometry g = build_scan(s);
  // u as in the cone, v from z alone and without magnification: (30 - 2) rows where z = 0, 8 rows up at z = 2.
  expect_pixel(project(g, {3, 100, 2}), 60, 20, 1.2);
  expect_pixel(project(g, {3, 100, 0}), 60, 28, 1.2);
}

TEST(BuildScan, ArcDetectorBecomesItsTangentPlane) {
  CircularScan s = plain_scan();
  s.arc = true;
  s.columns = 1201;
  s.detector_shift_u_mm = 0.125;  // a quarter of a column
  const ScanGeometry g = build_scan(s);
  ASSERT_TRUE(g.recorded_on_arc.has_value());
  EXPECT_NEAR(g.recorded_on_arc->central_column, 599.75, tolerance);
  const ArcMap map(g);
  // A point on the ray at gamma = 0.2 and 3 mm up where that ray meets the arc, 1000 mm from the source.
  const Vec3 x{400 * std::sin(0.2), -500 + 400 * std::cos(0.2), 0.4 * 3};
  const Pixel flat = project(g, x);
  const PixelPosition recorded = map.to_recorded({flat.u, flat.v});
  EXPECT_NEAR(recorded.column, 599.75 + 1000 * 0.2 / 0.5, tolerance);
  EXPECT_NEAR(recorded.row, 30 - 3 / 0.25, tolerance);
  // All recorded pixels lie on the flat detector, and no more than a pixel is wasted on any side.
  double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
  for (int column = 0; column < 1201; ++column)
    for (const int row : {0, 60}) {
      const PixelPosition p = map.to_flat({double(column), double(row)});
      const PixelPosition back = map.to_recorded(p);
      ASSERT_NEAR(back.column, column, tolerance);
      ASSERT_NEAR(back.row, row, tolerance);
      left = std::min(left, p.column), right = std::max(right, p.column);
      top = std::min(top, p.row), bottom = std::max(bottom, p.row);
    }
  EXPECT_GE(left, -tolerance);
  EXPECT_LT(left, 1);
  EXPECT_LE(right, double(g.columns - 1) + tolerance);
  EXPECT_GT(right, double(g.columns - 2));
  EXPECT_GE(top, -tolerance);
  EXPECT_LT(top, 1);
  EXPECT_LE(bottom, double(g.rows - 1) + tolerance);
  EXPECT_GT(bottom, double(g.rows - 2));
}

TEST(BuildScan, FanArcKeepsItsRows) {
  CircularScan s = plain_scan();
  s.beam = Beam::fan;
  s.arc = true;
  s.mirror_columns = true;
  s.detector_shift_v_mm = 0.5;
  const ScanGeometry g = build_scan(s);
  EXPECT_EQ(g.rows, 61);
  const Vec3 x{400 * std::sin(-0.02), -500 + 400 * std::cos(-0.02), 2};
  const Pixel flat = project(g, x);
  const PixelPosition recorded = ArcMap(g).to_recorded({flat.u, flat.v});
  EXPECT_NEAR(recorded.column, 50 + 1000 * 0.02 / 0.5, tolerance);
  EXPECT_NEAR(recorded.row, 28 - 8, tolerance);
}

TEST(BuildScan, RefusesWhatCannotBeAScan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<const char*, std::function<void(CircularScan&)>> cases[] = {
      {"source_axis_mm", [](auto& s) { s.source_axis_mm = 0; }},
      {"source_detector_mm", [](auto& s) { s.source_detector_mm = -1000; }},
      {"source_detector_mm", [&](auto& s) { s.source_detector_mm = nan; }},
      {"columns", [](auto& s) { s.columns = 0; }},
      {"pixel_width_mm", [](auto& s) { s.pixel_width_mm = 0; }},
      {"pixel_height_mm", [](auto& s) { s.pixel_height_mm = -0.1; }},
      {"angles_rad", [](auto& s) { s.angles_rad.clear(); }},
      {"view 0", [&](auto& s) { s.angles_rad[0] = nan; }},
      {"yaw_rad", [&](auto& s) { s.yaw_rad = nan; }},
      {"perturbations", [](auto& s) { s.perturbations.resize(2); }},
      {"view 0: the detector is not in front", [](auto& s) { s.yaw_rad = pi; }},
      {"view 0: the rotation centre",
       [](auto& s) {
         s.perturbations.resize(1);
         s.perturbations[0].source_mm.z = 700;
       }},
      {"arc", [](auto& s) { s.arc = true, s.pitch_rad = 0.01; }},
      {"80", [](auto& s) { s.arc = true, s.columns = 6001; }},
      {"fan", [](auto& s) { s.beam = Beam::fan, s.in_plane_rad = 0.01; }},
      {"arc", [](auto& s) { s.beam = Beam::parallel, s.arc = true; }},
  };
  for (const auto& [word, spoil] : cases) {
    CircularScan s = plain_scan();
    spoil(s);
    try {
      build_scan(s);
      ADD_FAILURE() << word << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::geometry);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      EXPECT_FALSE(error.parts().why.empty());
      EXPECT_FALSE(error.parts().hint.empty());
    }
  }
}

TEST(CentredGrid, IsCentred) {
  const VolumeGrid g = centred_grid(4, 5, 1, {0.5, 1, -2});
  EXPECT_EQ(g.origin_mm, (Vec3{-0.75, -2, 0}));
  EXPECT_EQ(g.centre(1.5, 2, 0), (Vec3{0, 0, 0}));
}

TEST(Helix, SourceAndDetectorRiseByThePitchInATurn) {
  CircularScan s;
  s.source_axis_mm = 500;
  s.source_detector_mm = 1000;
  s.columns = s.rows = 16;
  s.pixel_width_mm = s.pixel_height_mm = 2;
  for (int i = 0; i <= 8; ++i) s.angles_rad.push_back(2 * pi * i / 4);  // two turns
  const ScanGeometry helix = build_scan(with_helix(s, 30));
  EXPECT_NEAR(camera_of(helix, 0).source_mm.z, -30, 1e-9);
  EXPECT_NEAR(camera_of(helix, 4).source_mm.z, 0, 1e-9);
  EXPECT_NEAR(camera_of(helix, 8).source_mm.z, 30, 1e-9);
  // The point of the axis at the source's height is seen in the middle of the detector.
  const Vec3 seen = transform(helix.matrices[8], {0, 0, 30});
  EXPECT_NEAR(seen.x / seen.z, 7.5, 1e-9);
  EXPECT_NEAR(seen.y / seen.z, 7.5, 1e-9);
  EXPECT_TRUE(is_helical(helix));
  EXPECT_FALSE(is_helical(build_scan(s)));
  EXPECT_FALSE(is_helical(build_scan(with_helix(s, 0.1))));  // a scanner that wobbles
}

TEST(Helix, HeightsThatJitterAreNone) {
  CircularScan s;
  s.source_axis_mm = 200;
  s.source_detector_mm = 400;
  s.columns = s.rows = 40;
  s.pixel_width_mm = s.pixel_height_mm = 1;  // 20 mm at the axis
  for (int i = 0; i < 90; ++i) s.angles_rad.push_back(2 * pi * i / 90);
  const auto jittering = [&](double by_mm) {
    CircularScan shaken = s;
    shaken.perturbations.resize(90);
    std::mt19937 random(1);
    for (ViewPerturbation& view : shaken.perturbations)
      view.source_mm.y = std::uniform_real_distribution<double>(-by_mm, by_mm)(random);
    return shaken;
  };
  EXPECT_NO_THROW(refuse_helix(build_scan(jittering(2)), ""));
  EXPECT_THROW(refuse_helix(build_scan(jittering(8)), ""), Error);
  EXPECT_THROW(refuse_helix(build_scan(with_helix(jittering(1), 4)), ""), Error);
  // Of one turn and of three, taken in any order.
  for (const double turns : {1.0, 3.0}) {
    CircularScan helix = s;
    for (double& angle : helix.angles_rad) angle *= turns;
    helix = with_helix(helix, 5);
    CircularScan mixed = helix;
    for (std::size_t i = 0; i < 90; ++i) {
      mixed.angles_rad[i] = helix.angles_rad[37 * i % 90];
      mixed.perturbations[i] = helix.perturbations[37 * i % 90];
    }
    EXPECT_THROW(refuse_helix(build_scan(helix), ""), Error);
    EXPECT_THROW(refuse_helix(build_scan(mixed), ""), Error);
  }
}

}  // namespace
}  // namespace lepus
