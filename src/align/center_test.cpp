// SPDX-License-Identifier: Apache-2.0
// The axis as a line on the detector, and the three methods on small scans whose axis is known.
#include "align/circular.h"
#include "align/center.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "align/axis_line.h"
#include "align/center_picture.h"
#include "align/center_score.h"
#include "align/test_scans.h"
#include "align/trial_slice.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace align_test;

struct Tools {
  explicit Tools(int n = 2) : threads(n) {}
  ThreadPool threads;
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
};

TEST(AxisLine, KnowsShiftTiltAndMirror) {
  CircularScan scan = cone_scan(101, 81, 8);
  scan.detector_shift_u_mm = 3.5 * scan.pixel_width_mm;
  scan.in_plane_rad = radians(0.7);
  for (const bool mirrored : {false, true}) {
    scan.mirror_columns = mirrored;
    const AxisLine line = axis_line(build_scan(scan), {});
    // The axis is 3.5 columns across from the middle; along the slanted row that is 3.5 / cos.
    EXPECT_NEAR(line.column, 50 - (mirrored ? -1 : 1) * 3.5 / std::cos(scan.in_plane_rad), 1e-9);
    EXPECT_NEAR(line.in_plane_deg(), 0.7, 1e-9);
    EXPECT_NEAR(line.column_at(60) - line.column, (mirrored ? -1 : 1) * 20 * std::tan(scan.in_plane_rad), 1e-9);
  }
}

TEST(AxisLine, UnequalPixels) {
  CircularScan scan = parallel_scan(101, 81, 8);
  scan.pixel_height_mm = 2 * scan.pixel_width_mm;
  scan.in_plane_rad = radians(-0.4);
  const AxisLine line = axis_line(build_scan(scan), {});
  EXPECT_NEAR(line.aspect, 2, 1e-9);
  EXPECT_NEAR(line.in_plane_deg(), -0.4, 1e-9);
}

// Moving the geometry that the scan file has to what was found gives the geometry of the frames.
TEST(AxisLine, CentredGeometryIsTheTrueOne) {
  for (const CenterKey key : {CenterKey::detector_shift, CenterKey::axis_offset}) {
    const CircularScan stated = cone_scan(120, 90, 12);
    CircularScan truth = stated;
    truth.in_plane_rad = radians(0.5);
    (key == CenterKey::detector_shift ? truth.detector_shift_u_mm : truth.axis_offset_mm) = 4 * stated.pixel_width_mm;
    const ScanGeometry real = build_scan(truth);
    const AxisLine line = axis_line(real, {});
    CenterResult found;
    found.column = line.column;
    found.middle_row = line.middle_row;
    found.in_plane_deg = line.in_plane_deg();
    const ScanGeometry moved = centred(build_scan(stated), found, key);
    for (std::size_t view = 0; view < moved.matrices.size(); ++view)
      for (const Vec3 x : {Vec3{0, 0, 20}, Vec3{25, 10, -15}, Vec3{-10, 30, 5}}) {
        const Vec3 a = transform(moved.matrices[view], x), b = transform(real.matrices[view], x);
        // The shift is along the row, not across the axis: 4 columns times sin 0.5 deg in v, and as much times that
        // again in u.
        EXPECT_NEAR(a.x / a.z, b.x / b.z, 2e-3);
        EXPECT_NEAR(a.y / a.z, b.y / b.z, 8 * std::sin(radians(0.5)));
      }
  }
}

// On an arc the frames move against the central ray, and the flat detector that covers them with them.
TEST(AxisLine, CentredArcIsTheTrueOne) {
  for (const Beam beam : {Beam::cone, Beam::fan})
    for (const CenterKey key : {CenterKey::detector_shift, CenterKey::axis_offset}) {
      CircularScan stated = cone_scan(120, 90, 6);
      stated.beam = beam;
      stated.arc = true;
      stated.mirror_columns = true;
      if (key == CenterKey::detector_shift) stated.axis_offset_mm = 2;
      CircularScan truth = stated;
      (key == CenterKey::detector_shift ? truth.detector_shift_u_mm : truth.axis_offset_mm) += 12.3;
      const ScanGeometry real = build_scan(truth);
      CenterResult found;
      found.column = recorded_axis_column(real);
      found.middle_row = 44.5;
      const ScanGeometry moved = centred(build_scan(stated), found, key);
      EXPECT_NEAR(recorded_axis_column(moved), found.column, 1e-9);
      EXPECT_NEAR(moved.recorded_on_arc->central_column, real.recorded_on_arc->central_column, 1e-9);
      EXPECT_EQ(moved.columns, real.columns);
      EXPECT_EQ(moved.rows, real.rows);
      for (std::size_t view = 0; view < moved.matrices.size(); ++view)
        for (std::size_t i = 0; i < 12; ++i)
          EXPECT_NEAR(moved.matrices[view].m[i], real.matrices[view].m[i], 1e-9) << view << ' ' << i;
    }
}

// The axis is put somewhere as detector_shift_u_mm would put it: rows that are slanted move up or down, a yawed
// detector comes nearer or goes away.
TEST(AxisLine, ItIsMovedAsTheKeyOfTheScanFileMovesIt) {
  for (const Beam beam : {Beam::cone, Beam::parallel}) {
    CircularScan scan = beam == Beam::cone ? cone_scan(64, 56, 12) : parallel_scan(64, 56, 12);
    scan.in_plane_rad = radians(0.8);
    if (beam == Beam::cone) scan.yaw_rad = radians(9), scan.pitch_rad = radians(2), scan.axis_offset_mm = 25;
    const double turn = beam == Beam::cone ? std::atan2(25, scan.source_axis_mm) : 0;
    const ScanGeometry before = build_scan(scan);
    scan.detector_shift_u_mm = 7.3;
    const ScanGeometry wanted = build_scan(scan);
    const AxisLine line = axis_line(wanted, {});
    const ScanGeometry moved = with_axis_at(before, line.middle_row, line.column, CenterKey::detector_shift, turn);
    EXPECT_NEAR(moved.source_detector_mm, wanted.source_detector_mm, 1e-9);
    for (std::size_t view = 0; view < moved.matrices.size(); ++view)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j)
          EXPECT_NEAR(moved.matrices[view](i, j), wanted.matrices[view](i, j), 1e-9) << view << ": " << i << ", " << j;
  }
}

TEST(RowFan, OppositeRaysMakeOppositeAngles) {
  CircularScan scan = cone_scan(200, 10, 8);
  scan.axis_offset_mm = 5;
  const ScanGeometry geometry = build_scan(scan);
  const double axis = axis_line(geometry, {}).column;
  const RowFan fan(geometry, axis, 4.5);
  for (const double x : {-80.0, -3.0, 1.0, 60.0}) EXPECT_NEAR(fan.angle_rad(fan.opposite(x)), -fan.angle_rad(x), 1e-10);
  // To the right (+u) is clockwise from above; the axis ray is 300 mm long, a column at the axis 0.5 mm.
  EXPECT_NEAR(fan.angle_rad(10), -std::atan(5.0 / 300), 1e-3);
  const RowFan straight(build_scan(parallel_scan(64, 4, 8)), 31.5, 2);
  EXPECT_EQ(straight.opposite(7), -7);
  EXPECT_EQ(straight.angle_rad(7), 0);
}

TEST(SplineWeights, SumToOneAndKeepPlaces) {
  for (const double f : {0.0, 0.2, 0.5, 0.9}) {
    const auto w = spline_weights(f);
    EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1, 1e-6);
    EXPECT_NEAR(-w[0] + w[2] + 2 * w[3], f, 1e-6);  // a slope comes out where it is
  }
}

TEST(CenterBands, LieOnTheDetector) {
  for (const std::int64_t rows : {1, 2, 7, 40, 63, 257})
    for (const std::int64_t count : {1, 3, 9}) {
      const auto bands = center_bands(build_scan(cone_scan(257, rows, 8)), count, {});
      EXPECT_EQ(static_cast<std::int64_t>(bands.size()), std::min(count, rows));
      for (const RowBand& band : bands) {
        EXPECT_GE(band.first, 0);
        EXPECT_LE(band.last, rows);
        EXPECT_GE(band.size(), 1);
      }
    }
}

// The blur leaves constants and slopes as they are, and says which rows are left.
TEST(BlurredRows, KeepSlopes) {
  Tools tools;
  CenterBand band{3, 21, {}};
  for (int row = 0; row < 21; ++row)
    for (int i = 0; i < 2 * 5; ++i) band.line_integrals.push_back(static_cast<float>(row));
  const CenterBand out = blurred_across_rows(band, 2, 5, 1, tools.context);
  EXPECT_EQ(out.middle(), band.middle());
  for (std::int64_t row = 0; row < out.rows; ++row)
    EXPECT_NEAR(out.line_integrals[static_cast<std::size_t>(row * 10)], out.first_row - 3 + static_cast<double>(row),
                1e-5);
}

CircularScan shifted(CircularScan scan, double columns) {
  scan.detector_shift_u_mm = columns * scan.pixel_width_mm;
  return scan;
}

double found_column(const CircularScan& stated, double shift, AxisSearch options, int threads = 2) {
  Tools tools(threads);
  options.tilt = false;
  const CenterInput input =
      noisy_rows(phantom_of("porous"), shifted(stated, shift), stated, 1, 20000, 3, options, tools.threads);
  return find_center(input, tools.context).column;
}

// Bars are the 0.1 column; what is measured is far below for the first two.
TEST(FindCenter, ConjugateInConesFansAndShortScans) {
  EXPECT_NEAR(found_column(cone_scan(96, 5, 96), 2.3, {}), 47.5 - 2.3, 0.03);
  EXPECT_NEAR(found_column(cone_scan(96, 5, 96, 240), -3.7, {}), 47.5 + 3.7, 0.05);
  CircularScan fan = cone_scan(96, 5, 96);
  fan.beam = Beam::fan;
  EXPECT_NEAR(found_column(fan, 1.4, {}), 47.5 - 1.4, 0.03);
}

// The wedge is cut out of a coarse spectrum: up to 0.08 columns off on this object, with or without noise.
TEST(FindCenter, WedgeOnHalfATurn) {
  AxisSearch options;
  options.first = 42;
  options.last = 56;
  for (const double shift : {2.3, -5.1}) {
    const CircularScan stated = parallel_scan(96, 5, 120);
    EXPECT_NEAR(found_column(stated, shift, options), 47.5 - shift, 0.1);
  }
}

TEST(FindCenter, SharpnessRefinesToATwentieth) {
  AxisSearch options;
  options.method = CenterMethod::sharpness;
  options.first = 42;
  options.last = 49;
  EXPECT_NEAR(found_column(cone_scan(96, 5, 120), 2.3, options), 47.5 - 2.3, 0.1);
}

// Half a turn of a parallel beam sees every edge once: a wrong axis hardly blurs, and the curve is noise.
TEST(FindCenter, SharpnessSaysWhereItsMaximumHardlyStandsOut) {
  Tools tools;
  AxisSearch options;
  options.method = CenterMethod::sharpness;
  options.tilt = false;
  const auto warnings = [&](const CircularScan& stated) {
    return find_center(
               noisy_rows(phantom_of("porous"), shifted(stated, 2.3), stated, 1, 20000, 3, options, tools.threads),
               tools.context)
        .warnings;
  };
  const std::vector<std::string> vague = warnings(parallel_scan(96, 5, 120));
  ASSERT_EQ(vague.size(), 2U);
  EXPECT_NE(vague[0].find("hardly a line is seen from both ends"), std::string::npos);
  EXPECT_NE(vague[1].find("other columns are about as sharp"), std::string::npos);
  options.first = 40;
  options.last = 51;
  EXPECT_TRUE(warnings(cone_scan(96, 5, 120)).empty());
}

// A quarter of the detector to both sides would make a half fan of a short scan, which cannot be reconstructed.
TEST(FindCenter, SharpnessTriesWhatAShortScanCanMake) {
  AxisSearch options;
  options.method = CenterMethod::sharpness;
  const CircularScan full = cone_scan(96, 5, 120), brief = cone_scan(96, 5, 120, 240);
  const auto possible = [](const CircularScan& scan, double column) {
    return trial_is_possible({build_scan(scan), {{2, 1, {}}}, {}, {}}, column, 0);
  };
  EXPECT_TRUE(possible(full, 47.5) && possible(full, 23.5) && possible(brief, 47.5));
  EXPECT_FALSE(possible(brief, 23.5) || possible(brief, 71.5));
  EXPECT_NO_THROW(found_column(brief, 1.3, options));
}

TEST(FindCenter, SameBitsForAnyNumberOfThreads) {
  for (const CenterMethod method : {CenterMethod::conjugate, CenterMethod::sharpness}) {
    AxisSearch options;
    options.method = method;
    options.first = 44;
    options.last = 47;
    EXPECT_EQ(found_column(cone_scan(96, 3, 60), 2.3, options, 1), found_column(cone_scan(96, 3, 60), 2.3, options, 3));
  }
}

TEST(FindCenter, AxisOffsetIsTheSameColumn) {
  Tools tools;
  AxisSearch options;
  options.tilt = false;
  options.key = CenterKey::axis_offset;
  const CircularScan stated = cone_scan(96, 5, 96);
  CircularScan truth = stated;
  truth.axis_offset_mm = 1.7;
  const CenterInput input = noisy_rows(phantom_of("shepp-logan"), truth, stated, 1, 0, 1, options, tools.threads);
  const CenterResult r = find_center(input, tools.context);
  EXPECT_NEAR(r.column, axis_line(build_scan(truth), {}).column, 0.05);
}

Error error_of(const CenterInput& input) {
  Tools tools;
  try {
    find_center(input, tools.context);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::internal, {});
}

TEST(FindCenter, BadInputIsSaid) {
  const auto input = [](const CircularScan& scan, float value) {
    CenterInput in{build_scan(scan), {}, {}, {}};
    in.bands.push_back(
        {1, 1, std::vector<float>(static_cast<std::size_t>(in.geometry.views() * in.geometry.columns), value)});
    return in;
  };
  EXPECT_EQ(error_of(input(cone_scan(64, 3, 20), 0.5F)).parts().what, "there is nothing to see in the rows");
  EXPECT_NE(error_of(input(cone_scan(64, 3, 4), 0)).parts().what.find("too few views"), std::string::npos);
  EXPECT_NE(error_of(input(cone_scan(16, 3, 20), 0)).parts().what.find("too few columns"), std::string::npos);
  CenterInput holes = input(cone_scan(64, 3, 20), 0.5F);
  holes.bands[0].line_integrals[77] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(error_of(holes).parts().what.find("not numbers"), std::string::npos);
  CenterInput quarter = input(parallel_scan(64, 3, 20, 90), 0.5F);
  quarter.bands[0].line_integrals[77] = 1;
  quarter.options.method = CenterMethod::conjugate;
  EXPECT_NE(error_of(quarter).parts().what.find("both ends"), std::string::npos);
  quarter.options.method = CenterMethod::wedge;
  EXPECT_NE(error_of(quarter).parts().what.find("half a turn"), std::string::npos);
  CenterInput backwards = input(cone_scan(64, 3, 20), 0.5F);
  backwards.options.first = 40;
  backwards.options.last = 30;
  EXPECT_EQ(error_of(backwards).kind(), ErrorKind::usage);
}

TEST(FindCenter, AnOrbitThatIsNoCircleIsSaid) {
  const CircularScan scan = cone_scan(64, 16, 40);
  EXPECT_LT(deviation_from_circle(build_scan(scan)).rms_px, 1e-9);
  CircularScan tilted = scan;
  tilted.in_plane_rad = 0.02;
  tilted.yaw_rad = 0.05;
  tilted.axis_offset_mm = 1.5;
  tilted.detector_shift_u_mm = 7;
  EXPECT_LT(deviation_from_circle(build_scan(tilted)).rms_px, 1e-9) << "a circle all the same";
  // A helix: the world moves down by a pixel at the axis in every view. The 40 shifts spread by up to 19.5 from their
  // mean; points before and behind the axis are magnified by more and less, which adds 1 %.
  CenterInput helix{build_scan(scan), {}, {}, {}};
  const double pitch = pitch_at_axis(camera_of(helix.geometry, 0)).height_mm;
  for (std::size_t view = 0; view < 40; ++view)
    for (int r = 0; r < 3; ++r) {
      Matrix34& p = helix.geometry.matrices[view];
      p(r, 3) -= p(r, 2) * pitch * static_cast<double>(view);
    }
  const OrbitDeviation deviation = deviation_from_circle(helix.geometry);
  EXPECT_NEAR(deviation.rms_px, 19.5, 0.25);
  EXPECT_TRUE(deviation.view == 0 || deviation.view == 39);
  helix.bands.push_back({1, 1, std::vector<float>(2560, 0.5F)});
  const Error error = error_of(helix);
  EXPECT_EQ(error.kind(), ErrorKind::geometry);
  EXPECT_NE(error.parts().what.find("circle"), std::string::npos);
  EXPECT_NE(error.parts().why.find("19.6 pixels"), std::string::npos) << error.parts().why;
}

TEST(FindCenter, AMaximumAtTheEndIsWarnedOf) {
  Tools tools;
  AxisSearch options;
  options.tilt = false;
  options.first = 44;
  options.last = 46;
  const CircularScan stated = cone_scan(96, 5, 60);
  const CenterInput input = noisy_rows(phantom_of("shepp-logan"), stated, stated, 1, 0, 1, options, tools.threads);
  EXPECT_EQ(find_center(input, tools.context).warnings.size(), 1U);
}

// A picture of the axis is summed by the backprojector, the lines that are judged by a loop of their own: the same
// slice.
TEST(TrialSlice, APictureHasTheValuesOfItsLines) {
  Tools tools;
  CircularScan fan = cone_scan(64, 5, 60);
  fan.beam = Beam::fan;
  for (const CircularScan& stated :
       {cone_scan(64, 5, 60), cone_scan(64, 5, 61, 250), fan, parallel_scan(64, 5, 60, 180)}) {
    const CenterInput input = noisy_rows(phantom_of("porous"), stated, stated, 1, 0, 1, {}, tools.threads);
    const TrialImage image = trial_image(input, 0, 30.7, 0, tools.context);
    const double angle = axis_line(input.geometry, input.middle_row).angle_of_in_plane(0);
    const auto lines = trial_lines({&input, 0, 30.7, angle}, trial_frame(input).rows(), tools.context);
    ASSERT_EQ(image.values.size(), lines.size() * lines.front().size());
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < image.values.size(); ++i) {
      const double value = lines[i / lines.size()][i % lines.size()];
      largest = std::max(largest, std::abs(value));
      difference = std::max(difference, std::abs(value - static_cast<double>(image.values[i])));
    }
    EXPECT_TRUE(difference < 1e-4 * largest) << difference << " of " << largest;
  }
}

// A ball on the axis looks the same to a slanted row: its angle is left as it was, and no number is made up.
TEST(FindCenter, AnAngleThatTheObjectDoesNotShowIsLeft) {
  Tools tools;
  CircularScan stated = cone_scan(96, 80, 60);
  stated.in_plane_rad = radians(0.3);
  const CenterInput input =
      noisy_rows(uniform_ball(30, 0.03), shifted(stated, 2.3), stated, 5, 20000, 3, {}, tools.threads);
  const CenterResult found = find_center(input, tools.context);
  EXPECT_NEAR(found.column, 47.5 - 2.3, 0.03);
  EXPECT_FALSE(found.tilt_found);
  EXPECT_NEAR(found.in_plane_deg, 0.3, 1e-9);
  EXPECT_EQ(found.in_plane_error_deg, 0);
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_NE(found.warnings[0].find("in-plane angle"), std::string::npos) << found.warnings[0];
}

TEST(FindCenter, NoiseIsNoAxis) {
  Tools tools;
  AxisSearch options;
  options.tilt = false;
  const CircularScan stated = cone_scan(96, 5, 96);
  const CenterInput air = noisy_rows(uniform_ball(30, 1e-5), stated, stated, 3, 1000, 3, options, tools.threads);
  const CenterResult found = find_center(air, tools.context);
  const auto doubts = [](const std::string& warning) { return warning.find("may be chance") != std::string::npos; };
  EXPECT_EQ(std::count_if(found.warnings.begin(), found.warnings.end(), doubts), 1);
  const CenterInput object = noisy_rows(phantom_of("porous"), stated, stated, 3, 20000, 3, options, tools.threads);
  EXPECT_TRUE(find_center(object, tools.context).warnings.empty());
}

TEST(TrialImage, IsSharpestOnTheAxis) {
  Tools tools;
  AxisSearch options;
  options.tilt = false;
  const CircularScan stated = cone_scan(64, 3, 60);
  const CenterInput input = noisy_rows(phantom_of("shepp-logan"), stated, stated, 1, 0, 1, options, tools.threads);
  const TrialImage image = trial_image(input, 0, 31.5, 0, tools.context);
  ASSERT_EQ(image.values.size(), 64U * 64U);
  // The head's grey matter is 0.2 * 0.06 per mm; the ventricles are 0.
  const auto at = [&](double x_mm, double y_mm) {
    const auto i = static_cast<std::size_t>(std::floor(x_mm / image.pixel_mm + 32));
    const auto j = static_cast<std::size_t>(std::floor(-y_mm / image.pixel_mm + 32));
    return image.values[j * 64 + i];
  };
  EXPECT_NEAR(at(0, -13), 0.012, 0.003);
  EXPECT_NEAR(at(40, 40), 0, 0.003);
}

TEST(CenterPicture, HasRoomForItsTexts) {
  CenterResult result;
  result.column = -12345.678;
  result.in_plane_deg = -0.123;
  result.method = CenterMethod::conjugate;
  result.curve = {{-20000, 0}, {-12345.678, 1}, {-10000, 0.5}};
  TrialImage trial;
  trial.size = 2;
  trial.pixel_mm = 1;
  trial.values = {0, 1, 2, 3};
  trial.column = result.column;
  // The title is wider than no image and than one.
  for (const std::vector<TrialImage>& trials : {std::vector<TrialImage>{}, {trial}}) {
    const Picture picture = center_picture(result, trials);
    for (std::int64_t y = 0; y < picture.height; ++y)
      for (const std::int64_t x : {std::int64_t{0}, picture.width - 1})
        ASSERT_EQ(picture.at(x, y), (Colour{255, 255, 255})) << x << ", " << y;
    for (std::int64_t x = 0; x < picture.width; ++x)
      for (const std::int64_t y : {std::int64_t{0}, picture.height - 1})
        ASSERT_EQ(picture.at(x, y), (Colour{255, 255, 255})) << x << ", " << y;
  }
}

// Shifts of single views that the geometry knows, whole columns of them, are no reason not to find the axis.
TEST(FindCenter, KnownShiftsOfSingleViewsAreFollowed) {
  ThreadPool threads(2);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  CircularScan stated = cone_scan(96, 48, 90);
  stated.perturbations.resize(90);
  for (std::size_t i = 0; i < 90; ++i)
    stated.perturbations[i].detector_mm.x = 5.5 * stated.pixel_width_mm * std::sin(0.3 * static_cast<double>(i));
  CircularScan truth = stated;
  truth.detector_shift_u_mm = 3.3 * stated.pixel_width_mm;
  const CenterInput input = noisy_rows(phantom_of("shepp-logan"), truth, stated, 3, 0, 5, {}, threads);
  const CenterResult found = find_center(input, context);
  EXPECT_TRUE(found.known);
  EXPECT_NEAR(found.given_column, axis_line(build_scan(stated), {}).column, 1e-9);
  EXPECT_NEAR(found.column, axis_line(build_scan(truth), {}).column, 0.03);
}

}  // namespace
}  // namespace lepus
