// SPDX-License-Identifier: Apache-2.0
// Row bands against brute force over the voxels, and the field of view and automatic grid of scans whose answer is
// known.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include <gtest/gtest.h>

#include "geometry/camera.h"
#include "geometry/random_scan.h"
#include "geometry/row_band.h"
#include <lepus/error.h>

namespace lepus {
namespace {

RowBand brute_force(const ScanGeometry& g, std::int64_t view, const VolumeGrid& grid, double radius, std::int64_t z0,
                    std::int64_t z1, std::int64_t margin) {
  double low = 1e300, high = -1e300;
  for (auto k = z0; k < z1; ++k)
    for (std::int64_t j = 0; j < grid.ny; ++j)
      for (std::int64_t i = 0; i < grid.nx; ++i) {
        const Vec3 x = grid.centre(double(i), double(j), double(k));
        if (std::hypot(x.x, x.y) > radius) continue;
        const Vec3 h = transform(g.matrices[std::size_t(view)], x);
        if (g.beam != Beam::fan && h.z <= 0) continue;
        const double v = g.beam == Beam::fan ? h.y : h.y / h.z;
        low = std::min(low, v), high = std::max(high, v);
      }
  if (low > high) return {};
  const auto clip = [&](double row) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(row), 0, g.rows); };
  return {clip(std::max(-1e6, std::floor(low + 0.5) - double(margin))),
          clip(std::min(1e6, std::floor(high + 0.5) + double(margin) + 1))};
}

bool empty(const RowBand& b) { return b.first == b.last; }

TEST(RowBand, ContainsEveryVoxelAndHardlyMore) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Beam beam = seed % 4 < 2 ? Beam::cone : seed % 4 == 2 ? Beam::fan : Beam::parallel;
    const ScanGeometry g = build_scan(random_scan(seed, beam, 3));
    std::mt19937_64 engine(seed);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine); };
    const PixelPitch pitch = pitch_at_axis(camera_of(g, 0));
    // Voxels of about a pixel, boxes off the axis, sometimes mirrored, cylinders from inside the box to around it.
    VolumeGrid grid = centred_grid(30 + std::int64_t(engine() % 30), 30 + std::int64_t(engine() % 30), 24,
                                   {pitch.width_mm, pitch.width_mm * (seed % 5 ? 1 : -1), pitch.height_mm});
    grid.origin_mm = grid.origin_mm + pitch.width_mm * Vec3{uniform(-20, 20), uniform(-20, 20), uniform(-30, 30)};
    const double radius = pitch.width_mm * uniform(5, 60);
    const std::int64_t z0 = std::int64_t(engine() % 20), z1 = z0 + 1 + std::int64_t(engine() % 4);
    for (std::int64_t view = 0; view < g.views(); ++view) {
      const RowBand best = brute_force(g, view, grid, radius, z0, z1, 1);
      const RowBand band = row_band(g, view, grid, radius, z0, z1, 1);
      ASSERT_GE(band.first, 0);
      ASSERT_LE(band.last, g.rows);
      if (empty(best)) continue;
      ++compared;
      EXPECT_LE(band.first, best.first) << seed;
      EXPECT_GE(band.last, best.last) << seed;
      // The region's edge lies less than a voxel from its outermost centres; tilts of 0.45 rad at most and cone angles
      // of 0.25 turn that into less than one pixel row, and rounding into at most one more.
      EXPECT_LE(best.first - band.first, 2) << seed;
      EXPECT_LE(band.last - best.last, 2) << seed;
    }
  }
  EXPECT_GT(compared, 250);  // of 360; the others miss the detector or the cylinder
}

// The slice in the plane of the source falls onto one line, and so does every slice in a parallel beam; the cylinder
// lies inside the box, so that neither corners nor edges of the box count.
TEST(RowBand, OfASliceThatFallsOntoOneRow) {
  for (const Beam beam : {Beam::cone, Beam::parallel}) {
    CircularScan scan;
    scan.beam = beam;
    scan.source_axis_mm = 500;
    scan.source_detector_mm = 1000;
    scan.columns = 512;
    scan.rows = 24;
    scan.pixel_width_mm = scan.pixel_height_mm = beam == Beam::parallel ? 0.2 : 0.4;
    for (int i = 0; i < 720; ++i) scan.angles_rad.push_back(radians(0.5 * i));
    const ScanGeometry g = build_scan(scan);
    const VolumeGrid grid = centred_grid(512, 512, 1, {0.2, 0.2, 0.2});
    const double radius = field_of_view_radius_mm(g);
    ASSERT_LT(radius, 51.1);
    for (std::int64_t view = 0; view < g.views(); ++view) {
      const RowBand band = row_band(g, view, grid, radius, 0, 1, 1);  // between rows 11 and 12
      EXPECT_LE(band.first, 11) << view;
      EXPECT_GE(band.last, 13) << view;
    }
  }
}

TEST(RowBand, SlabsTogetherNeedWhatTheWholeVolumeNeeds) {
  const ScanGeometry g = build_scan(random_scan(8, Beam::cone, 5));
  const PixelPitch pitch = pitch_at_axis(camera_of(g, 0));
  const VolumeGrid grid = centred_grid(40, 40, 64, {pitch.width_mm, pitch.width_mm, pitch.height_mm});
  for (std::int64_t view = 0; view < g.views(); ++view) {
    const RowBand whole = row_band(g, view, grid, 1e9, 0, 64, 2);
    RowBand sum{g.rows, 0};
    for (std::int64_t z = 0; z < 64; z += 8) {
      const RowBand b = row_band(g, view, grid, 1e9, z, z + 8, 2);
      sum = {std::min(sum.first, b.first), std::max(sum.last, b.last)};
    }
    EXPECT_EQ(whole, sum);
  }
}

TEST(RowBand, BoxAroundTheSourceTakesTheCylinderOnly) {
  CircularScan s;
  s.source_axis_mm = 100, s.source_detector_mm = 200;
  s.columns = 200, s.rows = 201, s.pixel_width_mm = s.pixel_height_mm = 0.5;
  s.angles_rad = {0.3};
  const ScanGeometry g = build_scan(s);
  // The box's corners reach 141 mm, behind the source; the cylinder of 50 mm is the region. At z = 10 the nearest point
  // is 50 mm from the source: 40 mm up on the detector, 80 rows of 0.5 mm above 100; the farthest 150 mm: 26.67 rows.
  const VolumeGrid grid = centred_grid(201, 201, 21, {1, 1, 1});
  const RowBand band = row_band(g, 0, grid, 50, 20, 21, 0);
  EXPECT_EQ(band.first, std::lround(100.0 - 80));
  EXPECT_EQ(band.last - 1, std::lround(100 - 80. / 3));
  // Asked for the whole box there is no bound: every row.
  EXPECT_EQ(row_band(g, 0, grid, 1000, 20, 21, 0), (RowBand{0, 201}));
  // A small box is in front of the source, whatever the cylinder.
  const VolumeGrid small = centred_grid(11, 11, 21, {1, 1, 1});
  EXPECT_LT(row_band(g, 0, small, 1000, 20, 21, 0).size(), 10);
}

TEST(RowBand, EmptyWhereNothingIsSeen) {
  const ScanGeometry g = build_scan(random_scan(8, Beam::cone, 1));
  VolumeGrid grid = centred_grid(10, 10, 10, {1, 1, 1});
  EXPECT_EQ(row_band(g, 0, grid, 50, 3, 3, 1).size(), 0);
  grid.origin_mm.z += 1e4;  // far above the detector
  EXPECT_EQ(row_band(g, 0, grid, 50, 0, 10, 1).size(), 0);
  grid = centred_grid(10, 10, 10, {1, 1, 1});
  grid.origin_mm.x += 30;  // beside the cylinder
  EXPECT_EQ(row_band(g, 0, grid, 10, 0, 10, 1).size(), 0);
}

TEST(RowBand, IsCheap) {
  const ScanGeometry g = build_scan(random_scan(8, Beam::cone, 100));
  const VolumeGrid grid = centred_grid(512, 512, 512, {0.1, 0.1, 0.1});
  const std::clock_t start = std::clock();  // this process' own time: others may keep the machine busy
  std::int64_t sum = 0;
  for (int repeat = 0; repeat < 1000; ++repeat)
    for (std::int64_t view = 0; view < 100; ++view) sum += row_band(g, view, grid, 20, 100, 116, 1).size();
  const double ns = 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / 1e5;
  EXPECT_GT(sum, 0);
  RecordProperty("nanoseconds_per_call", static_cast<int>(ns));
  EXPECT_LT(ns,
            20e3);  // 3000 views x 200 slabs would take 12 s; measured about 0.2e3, and sanitizers slow it down tenfold
}

CircularScan centred_scan(Beam beam) {
  CircularScan s;
  s.beam = beam;
  s.source_axis_mm = 500, s.source_detector_mm = 1000;
  s.columns = 201, s.rows = 101;
  s.pixel_width_mm = 2, s.pixel_height_mm = 1;
  for (int i = 0; i < 360; ++i) s.angles_rad.push_back(radians(i));
  return s;
}

TEST(FieldOfView, FullFan) {
  // The outermost column is seen at atan(200/1000); the line of sight passes 500 sin of that from the axis.
  const double expected = 500 * std::sin(std::atan(0.2));
  EXPECT_NEAR(field_of_view_radius_mm(build_scan(centred_scan(Beam::cone))), expected, 1e-9);
  EXPECT_NEAR(field_of_view_radius_mm(build_scan(centred_scan(Beam::fan))), expected, 1e-9);
  EXPECT_NEAR(field_of_view_radius_mm(build_scan(centred_scan(Beam::parallel))), 200, 1e-9);
  CircularScan arc = centred_scan(Beam::cone);
  arc.arc = true;
  EXPECT_NEAR(field_of_view_radius_mm(build_scan(arc)), 500 * std::sin(0.2), 1e-9);
}

TEST(FieldOfView, HalfFanNeedsAFullTurn) {
  CircularScan s = centred_scan(Beam::cone);
  s.detector_shift_u_mm = 150;  // from -50 to 350 mm
  EXPECT_NEAR(field_of_view_radius_mm(build_scan(s)), 500 * std::sin(std::atan(0.35)), 1e-9);
  s.mirror_columns = true;
  EXPECT_NEAR(field_of_view_radius_mm(build_scan(s)), 500 * std::sin(std::atan(0.35)), 1e-9);
  s.angles_rad.resize(220);
  EXPECT_NEAR(field_of_view_radius_mm(build_scan(s)), 500 * std::sin(std::atan(0.05)), 1e-9);
  s.detector_shift_u_mm = 250;  // the axis is not seen
  EXPECT_EQ(field_of_view_radius_mm(build_scan(s)), 0);
  EXPECT_THROW(automatic_grid(build_scan(s)), Error);
}

TEST(AutomaticGrid, FillsWhatIsSeen) {
  const VolumeGrid cone = automatic_grid(build_scan(centred_scan(Beam::cone)));
  // 98.06 mm of radius in voxels of 1 mm: 197 centres from -98 to 98. 101 rows of 0.5 mm.
  EXPECT_EQ(cone.nx, 197);
  EXPECT_EQ(cone.ny, 197);
  EXPECT_EQ(cone.nz, 101);
  EXPECT_NEAR(cone.step_mm.x, 1, 1e-12);
  EXPECT_NEAR(cone.step_mm.z, 0.5, 1e-12);
  EXPECT_NEAR(cone.origin_mm.z, -25, 1e-9);
  const VolumeGrid parallel = automatic_grid(build_scan(centred_scan(Beam::parallel)));
  EXPECT_EQ(parallel.nx, 201);
  EXPECT_EQ(parallel.nz, 101);
  EXPECT_NEAR(parallel.step_mm.z, 1, 1e-12);
  CircularScan low = centred_scan(Beam::fan);
  low.detector_shift_v_mm = 10;
  EXPECT_NEAR(automatic_grid(build_scan(low)).origin_mm.z, -60, 1e-9);
  low.rows = 1;
  EXPECT_EQ(automatic_grid(build_scan(low)).nz, 1);
}

TEST(AutomaticGrid, RowsAlongTheAxisAreRefused) {
  CircularScan s = centred_scan(Beam::cone);
  s.in_plane_rad = radians(30);
  EXPECT_GT(automatic_grid(build_scan(s)).nz, 1);
  for (const double in_plane_deg : {60.0, 89.9999, 90.0, 90.0001, -90.0, 270.0}) {
    s.in_plane_rad = radians(in_plane_deg);
    EXPECT_THROW(automatic_grid(build_scan(s)), Error) << in_plane_deg;
  }
}

TEST(AutomaticGrid, EveryVoxelOnTheAxisIsSeenByEveryView) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CircularScan s = random_scan(seed, Beam::cone, 20);
    s.detector_shift_u_mm = 0;
    for (double& angle : s.angles_rad) angle *= 0.2;  // no full turn, so no half-fan
    if (seed % 2) {                                   // arcs are not tilted or moved
      s.arc = true, s.perturbations.clear(), s.yaw_rad = s.pitch_rad = s.in_plane_rad = 0;
    }
    const ScanGeometry g = build_scan(s);
    const VolumeGrid grid = automatic_grid(g);
    const double radius = field_of_view_radius_mm(g);
    for (const Matrix34& p : g.matrices) {
      for (const std::int64_t k : {std::int64_t{0}, grid.nz - 1}) {
        const Vec3 h = transform(p, {0, 0, grid.centre(0, 0, double(k)).z});
        EXPECT_GT(h.y / h.z, -1e-6);
        EXPECT_LT(h.y / h.z, double(g.rows - 1) + 1e-6);
      }
      for (int i = 0; i < 64; ++i) {
        const Vec3 h = transform(p, {radius * std::cos(i * pi / 32), radius * std::sin(i * pi / 32), 0});
        EXPECT_GT(h.x / h.z, -1e-6) << seed;
        EXPECT_LT(h.x / h.z, double(g.columns - 1) + 1e-6) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace lepus
