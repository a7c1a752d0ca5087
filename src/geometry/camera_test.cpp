// SPDX-License-Identifier: Apache-2.0
// Reading a matrix backwards gives what the builder was told: source, principal ray, pixel size; and the two directions
// of a ray agree.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "geometry/camera.h"
#include "geometry/random_scan.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Lengths to 3e3 mm from a 3x3 inverse whose condition is about f/1 pixel (1e3 to 1e4): 3e3 * 1e4 * 1e-16 = 3e-9 at
// worst, relative 1e-12. Everything is compared relative to the source distance.
constexpr double relative = 1e-11;

double angle_difference(double a, double b) { return std::remainder(a - b, 2 * pi); }

TEST(Camera, RecoversSourcePrincipalRayAndPixelSize) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CircularScan s = random_scan(seed, seed % 2 ? Beam::cone : Beam::fan, 1);
    s.perturbations.clear();
    const double beta = s.angles_rad[0];
    const ScanGeometry g = build_scan(s);
    const Camera c = camera_of(g, 0);
    const double scale = s.source_axis_mm;
    const Vec3 right{std::cos(beta), std::sin(beta), 0}, away{-std::sin(beta), std::cos(beta), 0}, down{0, 0, -1};

    const Vec3 source = -s.axis_offset_mm * right - s.source_axis_mm * away;
    EXPECT_LT(norm(c.source_mm - source), relative * scale) << seed;
    EXPECT_NEAR(source_axis_mm(c), std::hypot(s.source_axis_mm, s.axis_offset_mm), relative * scale);
    EXPECT_NEAR(angle_difference(view_angle_rad(c), beta + std::atan2(-s.axis_offset_mm, s.source_axis_mm)), 0,
                relative);

    // The detector's normal: yaw, then pitch. In-plane rotation does not change it.
    const double cy = std::cos(s.yaw_rad), sy = std::sin(s.yaw_rad), cp = std::cos(s.pitch_rad),
                 sp = std::sin(s.pitch_rad);
    const Vec3 normal = sy * cp * right - sp * down + cy * cp * away;
    EXPECT_LT(norm(c.direction - normal), relative) << seed;

    // Where that ray meets the detector: the foot of the source on its plane, in pixels from the middle.
    const Vec3 middle =
        source + s.source_detector_mm * away + s.detector_shift_u_mm * right + s.detector_shift_v_mm * down;
    const double distance = dot(normal, middle - source);
    const double ci = std::cos(s.in_plane_rad), si = std::sin(s.in_plane_rad);
    const Vec3 u0 = cy * right - sy * away, v0 = cross(normal, u0);
    const Vec3 u = ci * u0 + si * v0;
    const Vec3 foot = source + distance * normal - middle;
    const double column = 0.5 * double(s.columns - 1) + (s.mirror_columns ? -1 : 1) * dot(foot, u) / s.pixel_width_mm;
    EXPECT_NEAR(c.principal_column, column, 1e-8) << seed;  // pixels: f/width times the above
    EXPECT_NEAR(g.source_detector_mm, distance, relative * scale);

    const PixelPitch pixel = pixel_size_mm(c, g.source_detector_mm);
    EXPECT_NEAR(pixel.width_mm, s.pixel_width_mm, 1e-10 * s.pixel_width_mm) << seed;
    EXPECT_NEAR(pixel.height_mm, s.pixel_height_mm, 1e-10 * s.pixel_height_mm) << seed;
  }
}

TEST(Camera, WithoutTiltsMagnificationIsDetectorOverAxisDistance) {
  for (const bool tilted : {false, true}) {
    CircularScan s = random_scan(5, Beam::cone, 1);
    s.perturbations.clear();
    s.axis_offset_mm = s.detector_shift_u_mm = s.detector_shift_v_mm = 0;
    if (!tilted) s.yaw_rad = s.pitch_rad = s.in_plane_rad = 0;
    const Camera c = camera_of(build_scan(s), 0);
    const double magnification = s.source_detector_mm / source_axis_mm(c);
    EXPECT_NEAR(pitch_at_axis(c).width_mm * magnification, s.pixel_width_mm, 1e-10 * s.pixel_width_mm);
    EXPECT_NEAR(pitch_at_axis(c).height_mm * magnification, s.pixel_height_mm, 1e-10 * s.pixel_height_mm);
  }
}

TEST(Camera, ParallelBeamHasItsAngleAndPitch) {
  CircularScan s;
  s.beam = Beam::parallel;
  s.columns = 33, s.rows = 17;
  s.pixel_width_mm = 0.3, s.pixel_height_mm = 0.7;
  s.axis_offset_mm = 0.6;
  s.angles_rad = {0.4, 2.9, -1.3};
  const ScanGeometry g = build_scan(s);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Camera c = camera_of(g, i);
    EXPECT_NEAR(angle_difference(view_angle_rad(c), s.angles_rad[std::size_t(i)]), 0, 1e-14);
    EXPECT_NEAR(pitch_at_axis(c).width_mm, 0.3, 1e-14);
    EXPECT_NEAR(pitch_at_axis(c).height_mm, 0.7, 1e-14);
    EXPECT_NEAR(c.principal_column, 18, 1e-13);
    EXPECT_NEAR(c.principal_row, 8, 1e-13);
  }
}

TEST(Camera, EveryPointOfARayProjectsToItsPixel) {
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    const Beam beam = seed % 3 == 0 ? Beam::cone : seed % 3 == 1 ? Beam::fan : Beam::parallel;
    const CircularScan s = random_scan(seed, beam);
    const ScanGeometry g = build_scan(s);
    check_views(g);
    for (std::int64_t view = 0; view < g.views(); ++view) {
      const Camera c = camera_of(g, view);
      for (const auto& [u, v] : {std::pair{0.0, 0.0}, {13.25, 70.5}, {double(s.columns), 3.0}}) {
        const Matrix34& p = g.matrices[std::size_t(view)];
        const Vec3 direction = c.ray(u, v);
        EXPECT_NEAR(norm(direction), 1, 1e-14);
        EXPECT_TRUE(beam != Beam::fan || direction.z == 0);
        for (const double t : {0.7, 1.0, 1.2}) {
          const Vec3 x = c.ray_origin_mm(u, v) + t * s.source_axis_mm * direction;
          const Vec3 h = transform(p, x);
          EXPECT_GT(h.z, 0);
          EXPECT_NEAR(h.x / h.z, u, 1e-8);
          EXPECT_NEAR(beam == Beam::fan ? h.y : h.y / h.z, v, 1e-8);
        }
        EXPECT_NEAR(transform(p, c.pixel_mm(u, v)).z, 1, 1e-10);  // on the plane through the origin
      }
    }
  }
}

TEST(Normalised, UndoesAnyScaling) {
  for (const Beam beam : {Beam::cone, Beam::fan, Beam::parallel}) {
    const ScanGeometry g = build_scan(random_scan(11, beam));
    for (const double factor : {1.0, -3.0, 1e-6, 4711.0}) {
      Matrix34 scaled = g.matrices[0];
      for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 4; ++column)
          if (!(beam == Beam::fan && row == 1)) scaled(row, column) *= factor;
      const Matrix34 back = normalised(scaled, beam, 0);
      for (int i = 0; i < 12; ++i)
        EXPECT_NEAR(back(i / 4, i % 4), g.matrices[0](i / 4, i % 4), 4e-16 * std::abs(g.matrices[0](i / 4, i % 4)));
    }
  }
}

TEST(VoxelIndices, ThereAndBack) {
  const VolumeGrid grid{40, 50, 60, {-7, 3, 11}, {0.25, -0.5, 0.75}};
  const Matrix34 p = build_scan(random_scan(3, Beam::cone)).matrices[2];
  const Matrix34 in_voxels = in_voxel_indices(p, grid);
  const Vec3 a = transform(p, grid.centre(3, 4, 5)), b = transform(in_voxels, {3, 4, 5});
  EXPECT_LT(norm(a - b), 1e-12 * norm(a));
  const Matrix34 back = from_voxel_indices(in_voxels, grid);
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(back(i / 4, i % 4), p(i / 4, i % 4), 1e-13 * (1 + std::abs(p(i / 4, 3))));
}

void expect_refused(const std::string& words, const std::function<void()>& act) {
  try {
    act();
    ADD_FAILURE() << "accepted; expected: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::geometry);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Camera, NamesTheViewThatCannotBeUsed) {
  const ScanGeometry good = build_scan(random_scan(1, Beam::cone));
  const auto with = [&](const std::function<void(Matrix34&)>& spoil) {
    ScanGeometry g = good;
    spoil(g.matrices[3]);
    return g;
  };
  const auto row_2_is_row_0 = [](Matrix34& p) {
    for (int i = 0; i < 3; ++i) p(2, i) = p(0, i);
  };
  expect_refused("view 3: the projection matrix is singular", [&] { camera_of(with(row_2_is_row_0), 3); });
  expect_refused("view 3: the projection matrix is singular", [&] { camera_of(with([](auto& p) { p = {}; }), 3); });
  expect_refused("view 3: the projection matrix holds",
                 [&] { camera_of(with([](auto& p) { p(1, 2) = std::numeric_limits<double>::quiet_NaN(); }), 3); });
  const auto negate = [](Matrix34& p) {
    for (double& x : p.m) x = -x;
  };
  expect_refused("view 3: the rotation centre is behind the source", [&] { check_views(with(negate)); });
  // The same source, turned to look away from the rotation centre: after scaling to w = 1 only the handedness tells.
  const auto look_away = [&](Matrix34& p) {
    Matrix34 q = p;
    for (int column = 0; column < 4; ++column) q(0, column) = -p(0, column);
    p = normalised(q, Beam::cone, 3);
  };
  expect_refused("view 3: the view has another handedness", [&] { check_views(with(look_away)); });
  // The rotation centre level with the source: no ray reaches it.
  Matrix34 level = good.matrices[0];
  const Vec3 w = row3(level, 2);
  const Camera c = camera_of(good, 0);
  const Vec3 to_plane = c.source_mm - dot(c.source_mm, normalized(w)) * normalized(w);
  for (int row = 0; row < 3; ++row) level(row, 3) = -dot(row3(level, row), to_plane);
  expect_refused("view 9: the rotation centre is not in front", [&] { normalised(level, Beam::cone, 9); });
  expect_refused("view 0: the matrix is not that of a parallel beam",
                 [&] { normalised(good.matrices[0], Beam::parallel, 0); });
  expect_refused("view 0: the matrix is not that of a stack of fans",
                 [&] { normalised(good.matrices[0], Beam::fan, 0); });
}

}  // namespace
}  // namespace lepus
