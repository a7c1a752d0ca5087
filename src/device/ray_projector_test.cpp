// SPDX-License-Identifier: Apache-2.0
// Joseph's operator against analytic line integrals; tests/parity holds every device against double precision.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/threads.h"
#include "device/device.h"
#include "device/ray_projector.h"
#include "device/ray_projector_cases_test.h"
#include "geometry/camera.h"

namespace lepus {
namespace {

using namespace ray_cases;

std::vector<float> project(const ScanGeometry& geometry, const VolumeGrid& grid, const std::vector<float>& volume,
                           const char* backend) {
  ThreadPool threads(2);
  const Devices devices = open_devices(compute_on(backend), threads);
  const auto queue = devices.front()->make_queue();
  std::vector<float> out(static_cast<std::size_t>(geometry.views() * geometry.rows * geometry.columns), NAN);
  devices.front()
      ->make_ray_projector({&geometry, grid, RayModel::joseph, Precision::exact})
      ->forward({volume.data(), {0, grid.nz}}, {out.data(), 0, geometry.views(), {0, geometry.rows}}, *queue);
  queue->wait();
  return out;
}

// A ball whose density falls to zero over a rim of `rim` on both sides of its radius: its line integral is the mean of
// the chords of balls of all radii within the rim, and voxels of half the rim's width hold it well.
double soft_chord(double miss, double radius, double rim) {
  constexpr int parts = 400;
  double sum = 0;
  for (int i = 0; i < parts; ++i) {
    const double r = radius - rim + (i + 0.5) * 2 * rim / parts;
    if (miss < r) sum += 2 * std::sqrt(r * r - miss * miss);
  }
  return sum / parts;
}

TEST(RayProjector, ball) {
  const Case c{
      .name = "ball", .nx = 64, .ny = 64, .nz = 64, .columns = 48, .rows = 40, .step = {0.5, 0.5, 0.5}, .pixel = 1.1};
  const ScanGeometry geometry = scan_of(c);
  const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
  const Vec3 centre{1.3, -2.1, 0.7};
  constexpr double radius = 11, density = 0.02, rim = 1;
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  for (std::int64_t z = 0; z < c.nz; ++z)
    for (std::int64_t y = 0; y < c.ny; ++y)
      for (std::int64_t x = 0; x < c.nx; ++x) {
        const double r =
            norm(grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)) - centre);
        volume[static_cast<std::size_t>((z * c.ny + y) * c.nx + x)] =
            static_cast<float>(density * std::clamp((radius + rim - r) / (2 * rim), 0.0, 1.0));
      }
  const std::vector<float> found = project(geometry, grid, volume, "reference");
  double worst = 0, sum = 0, truth = 0;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const Camera camera = camera_of(geometry, view);
    for (std::int64_t v = 0; v < c.rows; ++v)
      for (std::int64_t u = 0; u < c.columns; ++u) {
        const auto pixel_u = static_cast<double>(u), pixel_v = static_cast<double>(v);
        const double miss = norm(cross(camera.ray_origin_mm(pixel_u, pixel_v) - centre, camera.ray(pixel_u, pixel_v)));
        const double chord = soft_chord(miss, radius, rim) * density;
        const double is = static_cast<double>(found[static_cast<std::size_t>((view * c.rows + v) * c.columns + u)]);
        worst = std::max(worst, std::abs(is - chord));
        sum += is;
        truth += chord;
      }
  }
  // Linear interpolation across a kink of slope s is off by s h / 8 at most, h = 0.5 mm, s = density / 2 mm. Rays that
  // graze a kink stay within a voxel of it for 2 sqrt(2 r h) = 6.6 mm, on two axes, and there are two kinks.
  EXPECT_LT(worst, 2 * 6.6 * density / 2 * 0.5 / 8 * 2);
  EXPECT_NEAR(sum / truth, 1.0, 1e-4);  // all in all nothing is lost
}

// A box of equal voxels: a ray along x meets n of them, and fades over one more at the ends.
TEST(RayProjector, box_along_the_axes) {
  const Case c{.name = "parallel", .beam = Beam::parallel, .columns = 9, .rows = 9, .pixel = 1};
  const ScanGeometry geometry = scan_of(c);
  const VolumeGrid grid = centred_grid(12, 10, 14, {1.25, 2.0, 1.0});
  const std::vector<float> volume(static_cast<std::size_t>(grid.voxels()), 0.5f);
  for (const char* backend : {"reference", "cpu"}) {
    const std::vector<float> found = project(geometry, grid, volume, backend);
    const auto middle = [&](std::int64_t view) { return found[static_cast<std::size_t>((view * 9 + 4) * 9 + 4)]; };
    EXPECT_FLOAT_EQ(middle(0), 0.5f * 10 * 2.0f) << backend;   // angle 0 looks along y
    EXPECT_FLOAT_EQ(middle(2), 0.5f * 12 * 1.25f) << backend;  // 90 degrees: along x
    EXPECT_FLOAT_EQ(middle(4), 0.5f * 10 * 2.0f) << backend;
  }
}

TEST(RayProjector, all_axes_and_the_source_are_met) {
  bool axis[3] = {false, false, false};
  for (const Case& c : cases) {
    const ScanGeometry geometry = scan_of(c);
    const RayViews rays = ray_views(geometry, centred_grid(c.nx, c.ny, c.nz, c.step));
    for (const JosephView& view : rays.views)
      for (std::int64_t i = 0; i < rays.pixels(); ++i)
        axis[joseph_line(view, rays.grid, static_cast<double>(i % rays.columns), static_cast<double>(i / rays.columns))
                 .axis] = true;
  }
  EXPECT_TRUE(axis[0] && axis[1] && axis[2]);
}

TEST(RayProjector, what_lies_behind_the_source_does_not_count) {
  const Case c{.name = "inside", .nx = 60, .ny = 60, .source_axis = 24, .source_detector = 48};
  const ScanGeometry geometry = scan_of(c);
  const VolumeGrid grid = centred_grid(c.nx, c.ny, c.nz, c.step);
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  // Angle 0: the source is at y = -24; voxels with y < -24 lie behind it.
  for (std::int64_t z = 0; z < c.nz; ++z)
    for (std::int64_t y = 0; y < 5; ++y)
      for (std::int64_t x = 0; x < c.nx; ++x) volume[static_cast<std::size_t>((z * c.ny + y) * c.nx + x)] = 1;
  for (const char* backend : {"reference", "cpu"}) {
    const std::vector<float> found = project(geometry, grid, volume, backend);
    for (std::int64_t i = 0; i < c.rows * c.columns; ++i)
      ASSERT_EQ(found[static_cast<std::size_t>(i)], 0.0f) << backend;
    double opposite = 0;
    for (std::int64_t i = 0; i < c.rows * c.columns; ++i)
      opposite += static_cast<double>(found[static_cast<std::size_t>(4 * c.rows * c.columns + i)]);
    EXPECT_GT(opposite, 1) << backend;
  }
}

}  // namespace
}  // namespace lepus
