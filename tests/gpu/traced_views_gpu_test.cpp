// SPDX-License-Identifier: Apache-2.0
// Rays through surfaces on a GPU: the host's views bit for bit, a box's and a ball's known chords, and how long it
// takes.
#include <chrono>
#include <cstdio>

#include "device/cuda/device.h"
#include "need_device.h"
#include "simulate/traced_views_cases_test.h"

namespace lepus {
namespace {

using namespace traced_views_test;

TEST(TracedViewsOnDevice, AreThoseOfTheHost) {
  NEED_DEVICE();
  ThreadPool threads(4);
  Devices devices = open_devices(compute_on("cuda"), threads);
  expect_views_of_the_host(devices, threads);
  Devices two_workers = open_devices(compute_on("cuda", "0,0"), threads);
  expect_views_of_the_host(two_workers, threads);
}

// Through `found` - `of_solid(pixel)`, in mm: a value of 1 makes line integrals lengths.
template <class Chord>
void expect_chords(const std::vector<Triangle>& surface, const Chord& expect) {
  ThreadPool threads(2);
  Devices devices = open_devices(compute_on("cuda"), threads);
  const ScanGeometry geometry = build_scan(scan_of(Beam::cone));
  const Phantom phantom("part", Combine::add, {part_of(surface, 1)});
  const PhantomProjector projector(phantom, geometry, {});
  const auto traced = TracedViews::make(projector, devices);
  std::vector<float> found(static_cast<std::size_t>(geometry.columns * geometry.rows));
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    traced->project(view, found.data(), threads);
    const Camera camera = camera_of(geometry, view);
    for (std::int64_t v = 0; v < geometry.rows; ++v)
      for (std::int64_t u = 0; u < geometry.columns; ++u)
        expect(projector.ray(camera, static_cast<double>(u), static_cast<double>(v)),
               static_cast<double>(found[static_cast<std::size_t>(v * geometry.columns + u)]));
  }
}

TEST(TracedViewsOnDevice, ABoxOfTrianglesHasTheChordsOfABox) {
  NEED_DEVICE();
  const PreparedShape solid(box({1, 1.5, 2}, {8, 5, 8}, 1));
  int met = 0;
  // Float rounding of at most 12 mm is 5e-7; rays that are moved by 1e-9 mm at an edge change by less.
  expect_chords(box_surface({-3, -1, -2}, {5, 4, 6}), [&](const Ray& ray, double found) {
    const Interval t = solid.intersect(ray);
    ASSERT_NEAR(found, t.empty() ? 0 : t.end - t.begin, 1e-6);
    met += t.empty() ? 0 : 1;
  });
  EXPECT_GT(met, 100);  // of the rays: the comparison is no empty one
}

// Between the ball and the one inside its surface: the sagitta of a face is below r (1 - cos(pi / rings)).
TEST(TracedViewsOnDevice, AFineBallIsABall) {
  NEED_DEVICE();
  constexpr int rings = 60;
  const double inner = 7 * std::pow(std::cos(std::numbers::pi / rings / 2), 2) - 1e-5;
  expect_chords(ball_surface(7, rings), [&](const Ray& ray, double found) {
    const double distance = norm(cross(ray.origin_mm, ray.direction));
    const auto of_ball = [&](double r) { return r > distance ? 2 * std::sqrt(r * r - distance * distance) : 0.0; };
    ASSERT_LE(found, of_ball(7 + 1e-5) + 1e-6);
    ASSERT_GE(found, of_ball(inner) - 1e-6);
  });
}

TEST(TracedViewsOnDevice, TimeOfALargeView) {
  NEED_DEVICE();
  ThreadPool threads(0);
  Devices devices = open_devices(compute_on("cuda"), threads);
  CircularScan scan = scan_of(Beam::cone);
  scan.columns = scan.rows = 1024;
  scan.pixel_width_mm = scan.pixel_height_mm = 0.03;
  const ScanGeometry geometry = build_scan(scan);
  const Phantom phantom("ball", Combine::add, {part_of(ball_surface(8, 500), 0.02)});
  const PhantomProjector projector(phantom, geometry, {.subpixels = 2, .average = PixelAverage::intensity});
  const auto traced = TracedViews::make(projector, devices);
  std::vector<float> view(std::size_t{1024} * 1024), of_host(view.size());
  const auto seconds = [](const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  traced->project(0, view.data(), threads);
  const double there = seconds([&] { traced->project(1, view.data(), threads); });
  const double here = seconds([&] { projector.project(1, of_host.data(), threads); });
  EXPECT_EQ(view, of_host);
  std::printf("1024^2 pixels of 4 rays, a ball of %lld triangles: %.1f ms on %s, %.1f ms on %d threads\n",
              static_cast<long long>(phantom.prepared(0).traced(0, 1).triangle_count), 1e3 * there,
              devices.front()->info().name.c_str(), 1e3 * here, threads.size());
}

}  // namespace
}  // namespace lepus
