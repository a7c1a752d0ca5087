// SPDX-License-Identifier: Apache-2.0
// A against the analytic simulator in the same absolute scale: Shepp-Logan's phantom, voxelised with partial volumes,
// and a uniform ball. Small by default; LEPUS_OPERATOR_FULL=1 has 256^3 voxels.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "operators/test_scans.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/project.h"
#include "simulate/voxelise.h"

namespace lepus {
namespace {

using namespace operator_cases;

bool full() { return std::getenv("LEPUS_OPERATOR_FULL") != nullptr; }

struct Scene {
  ScanGeometry geometry;
  VolumeGrid grid;
};

// 200 mm across, seen whole.
Scene scene(std::int64_t n) {
  CircularScan scan;
  scan.source_axis_mm = 600;
  scan.source_detector_mm = 1000;
  scan.columns = scan.rows = n * 5 / 4;
  scan.pixel_width_mm = scan.pixel_height_mm = 400.0 / static_cast<double>(scan.columns);
  for (int i = 0; i < 3; ++i) scan.angles_rad.push_back(0.1 + i * 1.1);
  const double step = 200.0 / static_cast<double>(n);
  return {build_scan(scan), centred_grid(n, n, n, {step, step, step})};
}

std::vector<float> line_integrals(const Phantom& phantom, const ScanGeometry& geometry, ThreadPool& threads) {
  const PhantomProjector projector(phantom, geometry, {});
  std::vector<float> all(static_cast<std::size_t>(geometry.views() * geometry.rows * geometry.columns));
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    projector.project(view, all.data() + view * geometry.rows * geometry.columns, threads);
  return all;
}

std::vector<float> projected(const Phantom& phantom, const Scene& s, RayModel model, ThreadPool& threads) {
  std::vector<float> volume(static_cast<std::size_t>(s.grid.voxels()));
  voxelise(phantom, s.grid, 0, s.grid.nz, 4, volume.data(), threads);
  const Operator op(s.geometry, s.grid, on("cpu", model));
  std::vector<float> lines(static_cast<std::size_t>(op.values()));
  op.forward(volume, lines);
  return lines;
}

double relative_rms(const std::vector<float>& found, const std::vector<float>& truth) {
  double errors = 0, squares = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = static_cast<double>(found[i]) - static_cast<double>(truth[i]);
    errors += error * error;
    squares += static_cast<double>(truth[i]) * static_cast<double>(truth[i]);
  }
  return squares > 0 ? std::sqrt(errors / squares) : 1;
}

// A chord near a tangent grows as the square root of the distance from it. Voxels of width h smear that by sqrt(2 R h),
// for a share h / R of the rays: the RMS error falls as h, and 1 % at 256 is 4 % at 64.
TEST(operator_accuracy, shepp_logan) {
  ThreadPool threads(2);
  const std::int64_t n = full() ? 256 : 64;
  const double limit = 0.01 * 256.0 / static_cast<double>(n);
  const Phantom phantom = shepp_logan(SheppLogan::kak_slaney, 98, 0.02);
  const Scene s = scene(n);
  const std::vector<float> truth = line_integrals(phantom, s.geometry, threads);
  for (const RayModel model : matched_models) {
    const double error = relative_rms(projected(phantom, s, model, threads), truth);
    std::printf("Shepp-Logan %lld^3, %-9s: %.3f %%\n", static_cast<long long>(n), name_of(model), 100 * error);
    EXPECT_LE(error, limit) << name_of(model);
  }
}

// Away from the edge all models see the same chord: rays within two voxels of it, and beyond, are left out.
TEST(operator_accuracy, uniform_ball) {
  ThreadPool threads(2);
  const std::int64_t n = full() ? 256 : 64;
  const double limit = 0.003 * 256.0 / static_cast<double>(n);
  constexpr double radius = 80, density = 0.02;
  const Phantom phantom = uniform_ball(radius, density);
  const Scene s = scene(n);
  const std::vector<float> truth = line_integrals(phantom, s.geometry, threads);
  for (const RayModel model : matched_models) {
    const std::vector<float> found = projected(phantom, s, model, threads);
    std::vector<float> found_inside, truth_inside;
    for (std::size_t i = 0; i < found.size(); ++i) {
      // The chord of a ray two voxels within the edge.
      const double voxel = 200.0 / static_cast<double>(n), inside = radius - 2 * voxel;
      if (static_cast<double>(truth[i]) < 2 * density * std::sqrt(radius * radius - inside * inside)) continue;
      found_inside.push_back(found[i]);
      truth_inside.push_back(truth[i]);
    }
    const double error = relative_rms(found_inside, truth_inside);
    std::printf("ball %lld^3, %-9s: %.3f %% outside the edge\n", static_cast<long long>(n), name_of(model),
                100 * error);
    EXPECT_LE(error, limit) << name_of(model);
  }
}

}  // namespace
}  // namespace lepus
