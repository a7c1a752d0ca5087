// SPDX-License-Identifier: Apache-2.0
// Our projections against those of other people's programs: MIRT (an arc-detector cone scan in the shared data) and
// Debian's ctsim (2-D parallel and fan projections, made here). Where tool or data are missing the test says so and is
// skipped.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/format.h"
#include "judge_support.h"
#include "simulate/project.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

using judge::read_all;
using judge::run;
using judge::shared_data;
using SimulateJudge = judge::Judge;

// MIRT, ct_geom and ellipsoid_proj: at angle 0 the source stands at (0, +dso, 0), s grows along +x and t along +z, both
// as seen from behind our detector; angles counter-clockwise. So our angle is half a turn further, and both of its
// detector axes run against ours. Element i lies at s = (i - (ns-1)/2 - offset_s) ds: the middle at -offset_s ds, which
// is +offset_s ds on our u. Every value is the mean over 2 x 2 rays.
TEST_F(SimulateJudge, MirtArcScan) {
  const fs::path data = shared_data() / "mirt_fdk_example/fdkexampledata.mat";
  if (!fs::exists(data)) GTEST_SKIP() << "MIRT's example is not there: " << data << " (set LEPUS_SHARED_DATA)";
  if (run(LEPUS_PYTHON " -c 'import scipy.io'") != 0) GTEST_SKIP() << "python3-scipy is not installed";
  ASSERT_EQ(run(LEPUS_PYTHON " " LEPUS_SOURCE_DIR "/tests/judges/mirt_to_raw.py '" + data.string() + "' '" +
                folder.string() + "'"),
            0);
  const auto theirs = read_all<float>(folder / "projections.raw");
  ASSERT_EQ(theirs.size(), 64u * 60 * 72);
  std::vector<Shape> shapes;
  std::ifstream table(folder / "ellipsoids.txt");
  double e[9];
  while (table >> e[0] >> e[1] >> e[2] >> e[3] >> e[4] >> e[5] >> e[6] >> e[7] >> e[8]) {
    ASSERT_EQ(e[6], 0);  // none of them is turned
    ASSERT_EQ(e[7], 0);
    shapes.push_back(ellipsoid({e[0], e[1], e[2]}, {e[3], e[4], e[5]}, e[8]));
  }
  ASSERT_EQ(shapes.size(), 4u);
  const Phantom phantom("mirt", Combine::add, shapes);

  CircularScan scan;
  scan.beam = Beam::cone;
  scan.arc = true;
  scan.source_axis_mm = 541;
  scan.source_detector_mm = 949;
  scan.columns = 64;
  scan.rows = 60;
  scan.pixel_width_mm = scan.pixel_height_mm = 16;
  scan.detector_shift_u_mm = 0.25 * 16;
  scan.mirror_columns = scan.mirror_rows = true;
  for (int i = 0; i < 72; ++i) scan.angles_rad.push_back(radians(180 + 5.0 * i));
  const ScanGeometry geometry = build_scan(scan);

  ThreadPool threads;
  const PhantomProjector projector(phantom, geometry, {.subpixels = 2});
  std::vector<float> ours(64 * 60);
  double worst = 0, largest = 0;
  for (std::int64_t view = 0; view < 72; ++view) {
    projector.project(view, ours.data(), threads);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double theirs_here = theirs[static_cast<std::size_t>(view) * ours.size() + i];
      const double difference = std::abs(theirs_here - ours[i]);
      if (!(difference <= worst)) worst = difference;  // NaN stays
      largest = std::max(largest, theirs_here);
    }
  }
  RecordProperty("largest_difference", format("{:.3g}", worst));
  EXPECT_GT(largest, 4);
  EXPECT_LT(worst, 1e-6);  // both are float32 of values up to 4.2: 2.4e-7 each; asked for: 1e-5
}

struct CtsimFile {  // ctsim's .pj: a header of 200 bytes, then for every view angle, number and values
  double rot_inc = 0, det_inc = 0, focal_length = 0, source_detector = 0;
  std::vector<double> angles;
  std::vector<float> values;
};

CtsimFile read_pj(const fs::path& file, std::size_t detectors, std::size_t views) {
  const auto bytes = read_all<char>(file);
  CtsimFile pj;
  const auto real = [&](std::size_t at) {
    double x = 0;
    std::memcpy(&x, bytes.data() + at, 8);
    return x;
  };
  std::uint16_t header = 0;
  std::memcpy(&header, bytes.data(), 2);
  const std::size_t view_bytes = 8 + 4 + 4 * detectors;
  if (header > bytes.size() || bytes.size() != header + views * view_bytes) return pj;
  pj.rot_inc = real(0x20);
  pj.det_inc = real(0x30);
  pj.focal_length = real(0x40);
  pj.source_detector = real(0x48);
  pj.values.resize(views * detectors);
  for (std::size_t v = 0; v < views; ++v) {
    pj.angles.push_back(real(header + v * view_bytes));
    std::memcpy(&pj.values[v * detectors], bytes.data() + header + v * view_bytes + 12, 4 * detectors);
  }
  return pj;
}

// ctsim: at angle 0 the source stands at (0, +focal length), the detector at -y with element 0 at -x; angles
// counter-clockwise: as for MIRT, our angle is half a turn further and its elements run against ours. Elements of an
// even number are moved by half of one along +x in parallel and equilinear geometry (its array gets one more at the
// end). The equiangular detector lies on a circle around the centre; where that is as large as the source's circle (the
// default) the central angle is twice the fan angle, so its elements are equally spaced in fan angle, det_inc apart.
void compare_with_ctsim(const fs::path& folder, const std::string& geometry, std::size_t detectors, Beam beam,
                        bool arc) {
  if (run("command -v phm2pj") != 0) GTEST_SKIP() << "ctsim is not installed (Debian: apt install ctsim)";
  struct Ellipse {
    double x, y, a, b, turn_deg, value;
  };
  const std::vector<Ellipse> ellipses{{0, 0, 0.92, 0.92, 0, 1.0},        {0, -0.0184, 0.6624, 0.874, 0, -0.48},
                                      {0.22, 0, 0.11, 0.31, -18, -0.12}, {-0.22, 0.05, 0.16, 0.41, 18, -0.08},
                                      {0.1, 0.35, 0.21, 0.25, 40, 0.21}, {0.5538, -0.3858, 0.033, 0.206, -75, 0.3}};
  std::ofstream file(folder / "p.phm");
  std::vector<Shape> shapes;
  for (const Ellipse& e : ellipses) {
    file << "ellipse " << e.x << " " << e.y << " " << e.a << " " << e.b << " " << e.turn_deg << " " << e.value << "\n";
    Shape s = ellipsoid({e.x, e.y, 0}, {e.a, e.b, 100}, e.value);
    s.kind = ShapeKind::cylinder;
    s.axes = rotation(0, 0, radians(e.turn_deg));
    shapes.push_back(s);
  }
  // A box too, turned: ctsim's rectangle is given by half of its sides.
  file << "rectangle -0.3 -0.5 0.2 0.1 30 0.15\n";
  Shape rectangle = box({-0.3, -0.5, 0}, {0.4, 0.2, 200}, 0.15);
  rectangle.axes = rotation(0, 0, radians(30));
  shapes.push_back(rectangle);
  file.close();
  const std::size_t views = 40;
  ASSERT_EQ(run("phm2pj '" + (folder / "p.pj").string() + "' " + std::to_string(detectors) + " " +
                std::to_string(views) + " --phmfile '" + (folder / "p.phm").string() + "' --geometry " + geometry),
            0);
  const CtsimFile pj = read_pj(folder / "p.pj", detectors, views);
  ASSERT_EQ(pj.values.size(), views * detectors) << "another form of .pj file than expected";

  CircularScan scan;
  scan.beam = beam;
  scan.arc = arc;
  scan.source_axis_mm = pj.focal_length;
  scan.source_detector_mm = pj.source_detector;
  scan.columns = static_cast<std::int64_t>(detectors);
  scan.rows = 1;
  scan.pixel_width_mm = arc ? pj.det_inc * pj.source_detector : pj.det_inc;
  scan.pixel_height_mm = 1;
  scan.mirror_columns = true;
  if (detectors % 2 == 0 && !arc) scan.detector_shift_u_mm = -pj.det_inc / 2;
  for (const double a : pj.angles) scan.angles_rad.push_back(a + pi);
  const ScanGeometry built = build_scan(scan);
  const Phantom phantom("ctsim", Combine::add, shapes);
  ThreadPool threads;
  const PhantomProjector projector(phantom, built, {});
  std::vector<float> ours(detectors);
  double worst = 0, largest = 0;
  for (std::size_t v = 0; v < views; ++v) {
    projector.project(static_cast<std::int64_t>(v), ours.data(), threads);
    for (std::size_t i = 0; i < detectors; ++i) {
      const double difference = std::abs(static_cast<double>(ours[i]) - pj.values[v * detectors + i]);
      if (!(difference <= worst)) worst = difference;  // NaN stays
      largest = std::max(largest, static_cast<double>(pj.values[v * detectors + i]));
    }
  }
  testing::Test::RecordProperty("relative_difference", format("{:.3g}", worst / largest));
  EXPECT_GT(largest, 0.5);
  EXPECT_LT(worst / largest, 1e-5);
}

TEST_F(SimulateJudge, CtsimParallel) { compare_with_ctsim(folder, "parallel", 101, Beam::parallel, false); }
TEST_F(SimulateJudge, CtsimParallelEven) { compare_with_ctsim(folder, "parallel", 100, Beam::parallel, false); }
TEST_F(SimulateJudge, CtsimEquilinear) { compare_with_ctsim(folder, "equilinear", 101, Beam::fan, false); }
TEST_F(SimulateJudge, CtsimEquilinearEven) { compare_with_ctsim(folder, "equilinear", 100, Beam::fan, false); }
TEST_F(SimulateJudge, CtsimEquiangular) { compare_with_ctsim(folder, "equiangular", 101, Beam::fan, true); }
TEST_F(SimulateJudge, CtsimEquiangularEven) { compare_with_ctsim(folder, "equiangular", 100, Beam::fan, true); }

}  // namespace
}  // namespace lepus
