// SPDX-License-Identifier: Apache-2.0
#include "filter/consistency.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "filter/test_scans.h"
#include "geometry/camera.h"

namespace lepus {
namespace {

using namespace test_scans;

struct Ellipse {
  double x, y, a, b, angle_rad, value;
};

const std::vector<Ellipse> phantom{
    {2, -3, 34, 28, 0.3, 0.02}, {14, 8, 7, 4, 1.1, 0.02}, {-12, 10, 5, 9, -0.4, -0.01}, {5, -16, 3, 3, 0, 0.05}};

// Exact integral along a horizontal ray.
double line_integral(const std::vector<Ellipse>& ellipses, Vec3 origin, Vec3 d) {
  double sum = 0;
  for (const Ellipse& e : ellipses) {
    const double c = std::cos(e.angle_rad), s = std::sin(e.angle_rad);
    const auto local = [&](double x, double y) { return Vec3{(c * x + s * y) / e.a, (c * y - s * x) / e.b, 0}; };
    const Vec3 o = local(origin.x - e.x, origin.y - e.y), r = local(d.x, d.y);
    const double half = dot(o, r), rest = half * half - dot(r, r) * (dot(o, o) - 1);
    if (rest > 0) sum += e.value * 2 * std::sqrt(rest) / dot(r, r);
  }
  return sum;
}

std::vector<float> sinogram_of(const CircularScan& scan, const std::vector<Ellipse>& ellipses, double noise = 0) {
  const ScanGeometry g = build_scan(scan);
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0, 1);
  std::vector<float> all;
  const auto v = static_cast<double>(consistency_row(g));
  for (std::int64_t i = 0; i < g.views(); ++i) {
    const Camera camera = camera_of(g, i);
    for (std::int64_t u = 0; u < g.columns; ++u) {
      const auto column = static_cast<double>(u);
      const double p = line_integral(ellipses, camera.ray_origin_mm(column, v), camera.ray(column, v));
      all.push_back(static_cast<float>(p + noise * normal(random)));
    }
  }
  return all;
}

Consistency checked(const CircularScan& claimed, const std::vector<float>& data) {
  const ScanGeometry g = build_scan(claimed);
  return check_turning({g, consistency_row(g), data.data()});
}

CircularScan reversed(CircularScan scan) {
  for (double& angle : scan.angles_rad) angle = -angle;
  return scan;
}

CircularScan flipped(CircularScan scan) {
  scan.mirror_columns = !scan.mirror_columns;
  return scan;
}

std::vector<Named> decidable() {
  CircularScan cone = fan(angles(200, 360), Beam::cone);
  cone.rows = 9;
  return {{"fan, full", fan(angles(200, 360))},
          {"fan, full, few views", fan(angles(60, 360))},
          {"fan, short", fan(angles(160, 209))},
          {"fan, over-scan", fan(angles(160, 260))},
          {"cone, full", cone},
          {"fan, full, displaced axis", with(fan(angles(200, 360)), 0, 4)},
          {"fan, full, shifted", with(fan(angles(200, 360)), 9, 0)},
          {"half-fan", with(fan(angles(300, 360)), 40, 0)}};
}

TEST(Consistency, SeesWhichWayTheScanTurns) {
  for (const Named& named : decidable())
    for (const double noise : {0.0, 0.06}) {  // 5 % of the largest line integral (about 1.3)
      const std::string name = named.name + " noise " + std::to_string(noise);
      const std::vector<float> data = sinogram_of(named.scan, phantom, noise);
      const Consistency right = checked(named.scan, data);
      EXPECT_EQ(right.verdict, Turning::as_given) << name << ": " << right.message;
      const Consistency wrong = checked(reversed(named.scan), data);
      EXPECT_TRUE(wrong.verdict == Turning::backwards || wrong.verdict == Turning::mirrored)
          << name << ": " << wrong.message;
      EXPECT_NE(wrong.message.find("mirrored or to turn backwards"), std::string::npos);
      EXPECT_EQ(checked(flipped(named.scan), data).verdict == Turning::as_given, false) << name;
    }
}

// Off the middle of the detector, mirrored frames and a backwards turn are different mistakes.
TEST(Consistency, TellsMirroredFromBackwardsWhereTheDetectorIsOffCentre) {
  const CircularScan scan = with(fan(angles(200, 360)), 9, 0);
  const std::vector<float> data = sinogram_of(scan, phantom, 0.02);
  const CircularScan mirrored = flipped(scan);  // the same detector, its columns read the other way
  const std::vector<float> from_mirrored = sinogram_of(mirrored, phantom, 0.02);
  EXPECT_EQ(checked(scan, from_mirrored).verdict, Turning::mirrored);
  EXPECT_EQ(checked(reversed(scan), data).verdict, Turning::backwards);
}

TEST(Consistency, SaysUndecidedRatherThanGuess) {
  // A disc on the axis looks the same both ways.
  const CircularScan scan = fan(angles(200, 360));
  EXPECT_EQ(checked(scan, sinogram_of(scan, {{0, 0, 20, 20, 0, 0.02}}, 0.01)).verdict, Turning::undecided);
  // Nothing but noise, and nothing at all.
  EXPECT_EQ(checked(scan, sinogram_of(scan, {}, 1)).verdict, Turning::undecided);
  EXPECT_EQ(checked(scan, sinogram_of(scan, {}, 0)).verdict, Turning::undecided);
  // The object drowned in noise: never the wrong answer.
  EXPECT_NE(checked(scan, sinogram_of(scan, phantom, 5)).verdict, Turning::backwards);
  // Opposite parallel rays agree whichever way the scan turns; a half turn has none.
  for (const double range : {180.0, 200.0, 360.0}) {
    const CircularScan parallel = fan(angles(180, range), Beam::parallel);
    const std::vector<float> data = sinogram_of(parallel, phantom, 0.02);
    EXPECT_EQ(checked(parallel, data).verdict, Turning::undecided) << range;
    EXPECT_EQ(checked(reversed(parallel), data).verdict, Turning::undecided) << range;
  }
  // Less than half a turn: no line twice.
  const CircularScan little = fan(angles(100, 140));
  const Consistency c = checked(little, sinogram_of(little, phantom));
  EXPECT_EQ(c.verdict, Turning::undecided);
  EXPECT_EQ(c.lines, 0);
}

TEST(Consistency, ScoresAreDifferencesOverVariance) {
  const CircularScan scan = fan(angles(400, 360));
  const Consistency c = checked(scan, sinogram_of(scan, phantom));
  EXPECT_LT(c.as_given, 1e-3);  // interpolation only
  EXPECT_GT(c.other_way, 20 * c.as_given);
  EXPECT_NEAR(checked(scan, sinogram_of(scan, {}, 1)).as_given, 1, 0.2);  // unrelated
}

std::string misfit(const CircularScan& claimed, const std::vector<float>& data, bool axis_was_sought = false) {
  const ScanGeometry g = build_scan(claimed);
  const std::int64_t row = consistency_row(g);
  return what_does_not_fit(
      g, row, {g, row, data.data()}, [](std::int64_t) -> std::vector<float> { throw std::logic_error("no other row"); },
      axis_was_sought);
}

// Wider than the detector, and off the axis.
const std::vector<Ellipse> wide_object{
    {2, -3, 74, 68, 0.3, 0.01}, {14, 8, 7, 4, 1.1, 0.02}, {-12, 10, 5, 9, -0.4, -0.01}, {5, -16, 3, 3, 0, 0.05}};
const std::vector<Ellipse> object_aside{{20, 10, 9, 7, 0.3, 0.05}};

TEST(WhatFits, NothingIsSaidOfRightScans) {
  const CircularScan parallel = fan(angles(120, 360), Beam::parallel);
  for (const CircularScan& scan : {fan(angles(120, 360)), fan(angles(60, 360)), fan(angles(100, 209)), parallel,
                                   with(fan(angles(200, 360)), 40, 0), with(fan(angles(120, 360)), 9, 3)})
    for (const auto& ellipses : {phantom, wide_object, object_aside})
      for (const double noise : {0.0, 0.06}) {
        std::vector<float> data = sinogram_of(scan, ellipses, noise);
        EXPECT_EQ(misfit(scan, data), "");
        // Beam hardening and a tenth of scatter, a dead column and a hot one.
        for (float& p : data) p = -std::log(std::exp(-p + 0.1F * p * p) + 0.05F);
        for (std::size_t i = 0; i < data.size(); i += 128) {
          data[i + 40] = 69;
          data[i + 77] = -5;
        }
        EXPECT_EQ(misfit(scan, data), "") << noise;
      }
  EXPECT_EQ(misfit(parallel, sinogram_of(parallel, phantom, 1)), "");  // more noise than object
  EXPECT_EQ(misfit(parallel, sinogram_of(parallel, {}, 1)), "");       // noise alone
  EXPECT_EQ(misfit(parallel, sinogram_of(parallel, {}, 0)), "");
}

TEST(WhatFits, NobodyIsToldToLookForTheAxisOnceMore) {
  const CircularScan stated = fan(angles(120, 360));
  const std::vector<float> data = sinogram_of(with(stated, 12, 0), phantom, 0.02);
  for (const bool sought : {false, true}) {
    const std::string said = misfit(stated, data, sought);
    EXPECT_NE(said.find("geometry.detector_shift_u_mm"), std::string::npos) << said;
    EXPECT_EQ(said.find("geometry.center") == std::string::npos, sought) << said;
  }
}

TEST(WhatFits, AnAxisElsewhereIsNamed) {
  struct Moved {
    CircularScan stated;
    std::vector<Ellipse> ellipses;
    int columns;
  };
  for (const auto& [stated, ellipses, columns] : {Moved{fan(angles(120, 360)), phantom, -12},
                                                  {fan(angles(100, 209)), object_aside, 3},
                                                  {fan(angles(120, 360), Beam::parallel), wide_object, 6},
                                                  {with(fan(angles(120, 360)), 40, 0), wide_object, -3}}) {
    CircularScan truth = stated;
    truth.detector_shift_u_mm -= columns * stated.pixel_width_mm;  // a detector to the left sees the axis to the right
    const std::string said = misfit(stated, sinogram_of(truth, ellipses, 0.02));
    const std::string fits = "the axis " + std::to_string(std::abs(columns)) + " columns to the ";
    EXPECT_NE(said.find(fits + (columns > 0 ? "right" : "left")), std::string::npos) << said;
    EXPECT_NE(said.find("geometry.detector_shift_u_mm"), std::string::npos) << said;
  }
}

TEST(WhatFits, PixelsOfAnotherWidthAreNamed) {
  const auto typed_wrong = [](CircularScan stated, double scale) {
    CircularScan truth = stated;
    truth.pixel_width_mm *= scale;
    return misfit(stated, sinogram_of(truth, object_aside, 0.005));
  };
  for (const double scale : {0.75, 1.3}) {
    const std::string said = typed_wrong(fan(angles(120, 360)), scale);
    const std::size_t at = said.find("with pixels ");
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_NEAR(std::stod(said.substr(at + 12)), scale, 0.03);
    EXPECT_NE(said.find("geometry.pixel_width_mm"), std::string::npos) << said;
  }
  // A detector far aside sees the axis on another column then, which is the larger part.
  EXPECT_NE(typed_wrong(with(fan(angles(120, 360)), 40, 0), 1.3).find("pixel_width_mm"), std::string::npos);
  // An axis that is a little off, or an arc that is, is no other width.
  const CircularScan stated = fan(angles(90, 360));
  CircularScan arc = stated;
  for (double& angle : arc.angles_rad) angle *= 0.97;
  for (const CircularScan& truth : {with(stated, 0.3 * 1.2, 0), with(stated, 0.8 * 1.2, 0), arc})
    for (const auto& ellipses : {wide_object, object_aside})
      EXPECT_EQ(misfit(stated, sinogram_of(truth, ellipses)).find("with pixels"), std::string::npos);
}

// Frames that were cropped along the axis, of a wide cone (in a narrow one the rays' slopes hardly matter): the plane
// of the orbit is seen twenty rows below the middle.
TEST(WhatFits, ARowElsewhereIsNamed) {
  CircularScan stated = fan(angles(90, 360), Beam::cone);
  stated.source_axis_mm = 80;
  stated.source_detector_mm = 120;
  stated.columns = 96;
  stated.rows = 63;
  CircularScan truth = stated;
  truth.detector_shift_v_mm = -20 * stated.pixel_height_mm;
  const ScanGeometry real = build_scan(truth), given = build_scan(stated);
  struct Ball {
    Vec3 centre;
    double radius;
  };
  const auto row_of = [&](std::int64_t row) {
    std::vector<float> data;
    for (std::int64_t i = 0; i < real.views(); ++i)
      for (std::int64_t u = 0; u < real.columns; ++u) {
        const Camera camera = camera_of(real, i);
        const Vec3 d = camera.ray(static_cast<double>(u), static_cast<double>(row));
        double p = 0;
        for (const Ball& ball : {Ball{{14, 6, 9}, 12}, Ball{{-10, 12, -6}, 9}, Ball{{2, -18, 4}, 8}}) {
          const Vec3 o = camera.source_mm - ball.centre;
          const double rest = ball.radius * ball.radius - (dot(o, o) - dot(o, d) * dot(o, d));
          if (rest > 0) p += 0.06 * std::sqrt(rest);
        }
        data.push_back(static_cast<float>(p));
      }
    return data;
  };
  const std::int64_t claimed = consistency_row(given), right = consistency_row(real);
  EXPECT_EQ(claimed, 31);
  EXPECT_EQ(right, 51);
  const std::string said = what_does_not_fit(given, claimed, {given, claimed, row_of(claimed).data()}, row_of);
  EXPECT_NE(said.find("those of about row 52 do"), std::string::npos) << said;
  EXPECT_NE(said.find("geometry.detector_shift_v_mm"), std::string::npos) << said;
  EXPECT_EQ(what_does_not_fit(real, right, {real, right, row_of(right).data()}, row_of), "");
}

// What a correction of rings leaves: not the same in every row.
TEST(WhatFits, ARowWithFewerStripesIsNotThePlaneOfTheOrbit) {
  CircularScan scan = fan(angles(120, 360), Beam::cone);
  scan.rows = 12;
  const ScanGeometry g = build_scan(scan);
  const std::int64_t middle = consistency_row(g);
  const auto row_of = [&](std::int64_t row) {
    std::vector<float> data = sinogram_of(scan, phantom, 0.005);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] += (row == middle ? 0.12F : 0.05F) * std::sin(0.7F * static_cast<float>(i % 128));
    return data;
  };
  const OppositeRays rays(g, middle, row_of(middle).data());
  EXPECT_GT(rays.compare({}).value, 0.012);
  EXPECT_GT(rays.compare({}).stripes, 0.9 * rays.compare({}).value);
  EXPECT_EQ(what_does_not_fit(g, middle, rays, row_of), "");
}

TEST(WhatFits, AnglesThatAreNotThoseOfTheFramesAreSaid) {
  for (const CircularScan& stated : {fan(angles(90, 360), Beam::parallel), fan(angles(90, 240))}) {
    CircularScan truth = stated;
    for (double& angle : truth.angles_rad) angle *= 0.53;
    const std::string said = misfit(stated, sinogram_of(truth, object_aside, 0.02));
    EXPECT_NE(said.find("The angles"), std::string::npos) << said;
  }
}

// Rays off the plane of the orbit do not coincide, and that is no fault.
TEST(WhatFits, ARowOutsideThePlaneOfTheOrbitIsNotJudged) {
  CircularScan cone = fan(angles(120, 360), Beam::cone);
  cone.rows = 9;
  const std::vector<float> wrong = sinogram_of(with(cone, 10, 0), phantom);
  EXPECT_NE(misfit(cone, wrong), "");
  CircularScan above = cone, turned = cone;
  above.detector_shift_v_mm = 20;
  turned.in_plane_rad = radians(10);
  EXPECT_EQ(misfit(above, wrong), "");
  EXPECT_EQ(misfit(turned, wrong), "");
}

}  // namespace
}  // namespace lepus
