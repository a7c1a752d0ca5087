// SPDX-License-Identifier: Apache-2.0
// What the CPU backend sees in a scan's matrices.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/host/orbit.h"

namespace lepus {
namespace {

CircularScan scan_of(std::int64_t views, double arc_degrees) {
  CircularScan s;
  s.source_axis_mm = 200;
  s.source_detector_mm = 400;
  s.columns = 64;
  s.rows = 48;
  s.pixel_width_mm = s.pixel_height_mm = 1;
  for (std::int64_t i = 0; i < views; ++i)
    s.angles_rad.push_back(radians(arc_degrees * static_cast<double>(i) / static_cast<double>(views)));
  return s;
}

const VolumeGrid square = centred_grid(20, 20, 12, {1, 1, 1});

int group_of(const CircularScan& s, const VolumeGrid& grid) { return examine_orbit(build_scan(s), grid).group; }

TEST(orbit, groups_follow_the_number_of_views_and_the_grid) {
  EXPECT_EQ(group_of(scan_of(24, 360), square), 4);
  EXPECT_EQ(group_of(scan_of(24, -360), square), 4);  // the other way round
  EXPECT_EQ(group_of(scan_of(22, 360), square), 2);
  EXPECT_EQ(group_of(scan_of(21, 360), square), 1);
  EXPECT_EQ(group_of(scan_of(24, 200), square), 1);  // short scan
  EXPECT_EQ(group_of(scan_of(24, 360), centred_grid(20, 18, 12, {1, 1, 1})), 2);
  EXPECT_EQ(group_of(scan_of(24, 360), centred_grid(20, 20, 12, {1, 1.1, 1})), 2);
  VolumeGrid off = square;
  off.origin_mm.x += 0.01;
  EXPECT_EQ(group_of(scan_of(24, 360), off), 1);
  VolumeGrid mirrored = square;
  mirrored.origin_mm.x *= -1;
  mirrored.step_mm.x *= -1;
  EXPECT_EQ(group_of(scan_of(24, 360), mirrored), 4);
}

TEST(orbit, shifted_detectors_and_displaced_axes_keep_the_symmetry) {
  auto s = scan_of(24, 360);
  s.detector_shift_u_mm = 7;
  s.detector_shift_v_mm = -3;
  s.axis_offset_mm = 2;
  EXPECT_EQ(group_of(s, square), 4);
}

TEST(orbit, member_k_sees_turned_voxels_where_member_0_sees_them) {
  for (const double arc : {360.0, -360.0})
    for (const std::int64_t views : {24, 22}) {
      const Orbit orbit = examine_orbit(build_scan(scan_of(views, arc)), square);
      ASSERT_GT(orbit.group, 1);
      auto sorted = orbit.order;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<std::int64_t>(i));
      for (std::size_t first = 0; first < orbit.order.size(); first += static_cast<std::size_t>(orbit.group))
        for (int k = 1; k < orbit.group; ++k) {
          const ColumnIndex c = turned({3, 11}, square, orbit.group, k);
          const Vec3 a = transform(orbit.matrices[first], {3, 11, 5});
          const Vec3 b = transform(orbit.matrices[first + static_cast<std::size_t>(k)],
                                   {static_cast<double>(c.x), static_cast<double>(c.y), 5});
          // cosines and sines of angles a quarter turn apart agree to a few units in the last place
          EXPECT_NEAR(a.x / a.z, b.x / b.z, 1e-11);
          EXPECT_NEAR(a.y / a.z, b.y / b.z, 1e-11);
          EXPECT_NEAR(a.z, b.z, 1e-13);
        }
    }
}

TEST(orbit, tilts_and_jitter_are_not_upright) {
  EXPECT_TRUE(examine_orbit(build_scan(scan_of(24, 360)), square).upright);
  auto yaw = scan_of(24, 360);
  yaw.yaw_rad = radians(1);  // turns the detector about v: rows stay affine in z, columns do not depend on it
  EXPECT_TRUE(examine_orbit(build_scan(yaw), square).upright);
  auto pitch = scan_of(24, 360);
  pitch.pitch_rad = radians(0.01);
  EXPECT_FALSE(examine_orbit(build_scan(pitch), square).upright);
  auto rolled = scan_of(24, 360);
  rolled.in_plane_rad = radians(0.001);
  EXPECT_FALSE(examine_orbit(build_scan(rolled), square).upright);
}

}  // namespace
}  // namespace lepus
