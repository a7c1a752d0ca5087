// SPDX-License-Identifier: Apache-2.0
// The automatic method: the truth lies within three of the stated errors, or it is said that the axis is not known.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "align/axis_line.h"
#include "align/test_scans.h"

namespace lepus {
namespace {

using namespace align_test;

enum class Object { plain, noisy, wider_than_the_detector, off_the_axis };

struct AutoCase {
  const char* name;
  Beam beam;
  double arc_deg;
  Object object;
};

void PrintTo(const AutoCase& c, std::ostream* out) { *out << c.name; }

Phantom moved(const Phantom& phantom, Vec3 by) {
  std::vector<Shape> shapes = phantom.shapes();
  for (Shape& shape : shapes) {
    shape.centre_mm = shape.centre_mm + by;
    for (ClipPlane& clip : shape.clips) clip.offset_mm += dot(clip.normal, by);
  }
  return Phantom(phantom.name(), phantom.combine(), shapes);
}

CircularScan stated_scan(Beam beam, double arc_deg) {
  const auto views = static_cast<std::int64_t>(arc_deg / 4);
  return beam == Beam::parallel ? parallel_scan(64, 56, views, arc_deg) : cone_scan(64, 56, views, arc_deg);
}

struct Found {
  CenterResult result;
  AxisLine truth;
};

Found look(CircularScan stated, Object object, double angle_scale = 1, AxisSearch options = {},
           const char* phantom = "shepp-logan") {
  ThreadPool threads(2);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  if (object == Object::wider_than_the_detector) {
    stated.pixel_width_mm *= 0.55;
    stated.pixel_height_mm *= 0.55;
  }
  CircularScan truth = stated;
  truth.detector_shift_u_mm = 2.3 * stated.pixel_width_mm;
  truth.in_plane_rad = radians(0.4);
  for (double& angle : truth.angles_rad) angle *= angle_scale;
  const Phantom head = phantom_of(phantom);
  const CenterInput input = noisy_rows(object == Object::off_the_axis ? moved(head, {6, 4, 0}) : head, truth, stated, 3,
                                       object == Object::plain   ? 0
                                       : object == Object::noisy ? 2000
                                                                 : 20000,
                                       5, options, threads);
  return {find_center(input, context), axis_line(build_scan(truth), {})};
}

class Automatic : public testing::TestWithParam<AutoCase> {};

TEST_P(Automatic, TruthIsWithinThreeErrors) {
  const AutoCase& c = GetParam();
  const auto [found, truth] = look(stated_scan(c.beam, c.arc_deg), c.object);
  ASSERT_TRUE(found.known) << found.warnings.back();
  EXPECT_NE(found.method, CenterMethod::sharpness);
  ASSERT_GT(found.column_error, 0);
  EXPECT_LT(found.column_error, 0.3) << "a bar must say something";
  EXPECT_LE(std::abs(found.column - truth.column), 3 * found.column_error);
  if (!found.tilt_found) return;
  ASSERT_GT(found.in_plane_error_deg, 0);
  EXPECT_LE(std::abs(found.in_plane_deg - truth.in_plane_deg()), 3 * found.in_plane_error_deg);
}

INSTANTIATE_TEST_SUITE_P(Align, Automatic,
                         testing::Values(AutoCase{"full_plain", Beam::cone, 360, Object::plain},
                                         AutoCase{"full_noisy", Beam::cone, 360, Object::noisy},
                                         AutoCase{"full_wide", Beam::cone, 360, Object::wider_than_the_detector},
                                         AutoCase{"full_aside", Beam::cone, 360, Object::off_the_axis},
                                         AutoCase{"short_plain", Beam::cone, 200, Object::plain},
                                         AutoCase{"short_noisy", Beam::cone, 200, Object::noisy},
                                         AutoCase{"short_wide", Beam::cone, 200, Object::wider_than_the_detector},
                                         AutoCase{"short_aside", Beam::cone, 200, Object::off_the_axis},
                                         AutoCase{"half_plain", Beam::parallel, 180, Object::plain},
                                         AutoCase{"half_noisy", Beam::parallel, 180, Object::noisy},
                                         AutoCase{"half_aside", Beam::parallel, 180, Object::off_the_axis}),
                         [](const auto& given) { return std::string(given.param.name); });

std::string said(const CenterResult& r) {
  std::string all;
  for (const std::string& warning : r.warnings) all += warning + "\n";
  return all;
}

void expect_unknown(const CenterResult& r, const char* why) {
  EXPECT_FALSE(r.known);
  EXPECT_EQ(r.column, r.given_column);
  EXPECT_EQ(r.in_plane_deg, r.given_in_plane_deg);
  EXPECT_FALSE(r.tilt_found);
  EXPECT_NE(said(r).find(why), std::string::npos) << said(r);
}

AxisSearch no_tilt() {
  AxisSearch options;
  options.tilt = false;
  return options;
}

TEST(Automatic, BelowHalfATurnItIsSaidThatTheAxisCannotBeKnown) {
  for (const double arc : {90.0, 180.0})
    expect_unknown(look(stated_scan(Beam::cone, arc), Object::noisy, 1, no_tilt()).result, "cannot be found");
  expect_unknown(look(stated_scan(Beam::parallel, 160), Object::noisy, 1, no_tilt()).result,
                 "the views cover 160.00 degrees");
  // A full turn whose angles are radians that were taken for degrees.
  CircularScan radians_of_a_turn = stated_scan(Beam::cone, 360);
  for (double& angle : radians_of_a_turn.angles_rad) angle = radians(angle);
  expect_unknown(look(radians_of_a_turn, Object::noisy, 180 / pi, no_tilt()).result, "cover 6.28 degrees");
}

TEST(Automatic, AnglesThatDoNotFitAreSaid) {
  // Half as much as the scan file says, and degrees that were taken for radians.
  expect_unknown(look(stated_scan(Beam::cone, 360), Object::noisy, 0.53, no_tilt()).result, "no column makes");
  expect_unknown(look(stated_scan(Beam::cone, 220), Object::noisy, 0.53, no_tilt()).result, "no column makes");
  expect_unknown(look(stated_scan(Beam::parallel, 180), Object::noisy, 0.53, no_tilt()).result, "no telling");
  CircularScan degrees_as_radians = stated_scan(Beam::cone, 360);
  for (double& angle : degrees_as_radians.angles_rad) angle = degrees(angle);
  expect_unknown(look(degrees_as_radians, Object::noisy, pi / 180, no_tilt()).result, "no column makes");
}

// What sharpness says of a head that is wider than the detector, or of a quarter turn, is not to be trusted; the remedy
// that it names works.
TEST(Automatic, SharpnessSaysWhereItCannotWork) {
  AxisSearch options;
  options.method = CenterMethod::sharpness;
  options.tilt = false;
  const CenterResult wide = look(stated_scan(Beam::cone, 360), Object::wider_than_the_detector, 1, options).result;
  EXPECT_FALSE(wide.known);
  EXPECT_NE(said(wide).find("use the method conjugate"), std::string::npos) << said(wide);
  options.method = CenterMethod::conjugate;
  const auto [remedy, truth] = look(stated_scan(Beam::cone, 360), Object::wider_than_the_detector, 1, options);
  EXPECT_TRUE(remedy.known);
  EXPECT_NEAR(remedy.column, truth.column, 0.1);

  options.method = CenterMethod::sharpness;
  const CenterResult quarter = look(stated_scan(Beam::cone, 90), Object::noisy, 1, options).result;
  EXPECT_FALSE(quarter.known);
  EXPECT_NE(said(quarter).find("--column N --picture"), std::string::npos) << said(quarter);
}

// The figures of docs/center.md; minutes.
TEST(Automatic, ManyScans) {
  if (std::getenv("LEPUS_OFFSETS") == nullptr) GTEST_SKIP() << "set LEPUS_OFFSETS for the long form";
  int all = 0, declined = 0;
  double worst_column = 0, worst_angle = 0;
  for (const Beam beam : {Beam::cone, Beam::parallel})
    for (const double arc : {360.0, 270.0, 220.0, 200.0, 190.0, 180.0})
      for (const char* phantom : {"shepp-logan", "porous", "forbild"})
        for (const Object object :
             {Object::plain, Object::noisy, Object::wider_than_the_detector, Object::off_the_axis}) {
          if (beam == Beam::cone ? arc == 180 : arc != 180 && arc != 360) continue;
          const auto views = static_cast<std::int64_t>(arc / 3);
          const CircularScan stated =
              beam == Beam::cone ? cone_scan(96, 72, views, arc) : parallel_scan(96, 72, views, arc);
          const auto [found, truth] = look(stated, object, 1, {}, phantom);
          ++all;
          if (!found.known) {
            ++declined;
            continue;
          }
          worst_column = std::max(worst_column, std::abs(found.column - truth.column) / found.column_error);
          if (found.tilt_found)
            worst_angle =
                std::max(worst_angle, std::abs(found.in_plane_deg - truth.in_plane_deg()) / found.in_plane_error_deg);
        }
  std::printf("%d scans, %d not known; at worst %.1f errors of the column, %.1f of the angle\n", all, declined,
              worst_column, worst_angle);
  EXPECT_LE(worst_column, 3);
  EXPECT_LE(worst_angle, 3);
  EXPECT_LE(declined, 2);
}

}  // namespace
}  // namespace lepus
