// SPDX-License-Identifier: Apache-2.0
// Separable footprints against the exact integral over a pixel's area of the voxel grid: Siddon's lengths in double
// precision along 16 x 16 rays. Sixteen rays over three voxels are themselves off by 0.2 %.
#include <algorithm>
#include <cstdio>
#include <random>

#include <gtest/gtest.h>

#include "operators/test_scans.h"
#include "project/ray_views.h"
#include "project/visit_voxels.h"

namespace lepus {
namespace {

struct AreaCase {
  const char* name;
  double voxel_mm, pixel_mm;
  double in_plane = 0, pitch = 0;
  Beam beam = Beam::cone;
  int rays = 16;  // per side of a pixel
  double source_axis_mm = 300;
};

double integral(RayModel model, const JosephView& view, const JosephGrid& grid, const std::vector<float>& volume,
                double u, double v) {
  double sum = 0;
  visit_voxels<double>(model, view, grid, u, v, whole_grid(grid), [&](int x, int y, int z, double weight) {
    const std::int64_t at =
        (std::int64_t{z + grid.middle[2]} * grid.size[1] + y + grid.middle[1]) * grid.size[0] + x + grid.middle[0];
    sum += weight * static_cast<double>(volume[static_cast<std::size_t>(at)]);
  });
  return sum;
}

// Relative RMS of a model over pixels spread over three views.
double error(const AreaCase& c, const std::vector<float>& volume, const VolumeGrid& grid, RayModel model) {
  CircularScan scan;
  scan.beam = c.beam;
  scan.source_axis_mm = c.source_axis_mm;
  scan.source_detector_mm = 1.5 * c.source_axis_mm;
  scan.columns = scan.rows =
      static_cast<std::int64_t>(1.3 * 1.5 * static_cast<double>(grid.nx) * c.voxel_mm / c.pixel_mm) + 1;
  scan.pixel_width_mm = scan.pixel_height_mm = c.pixel_mm;
  scan.in_plane_rad = c.in_plane;
  scan.pitch_rad = c.pitch;
  scan.angles_rad = {0, 0.35, 0.9};
  const ScanGeometry geometry = build_scan(scan);
  const JosephGrid joseph = joseph_grid(grid);
  std::mt19937 random(1);
  double errors = 0, squares = 0;
  for (const JosephView& view : joseph_views(geometry, grid))
    for (int i = 0; i < 40; ++i) {
      const auto u = static_cast<double>(random() % static_cast<unsigned>(geometry.columns));
      const auto v = static_cast<double>(random() % static_cast<unsigned>(geometry.rows));
      double exact = 0;
      for (int i_v = 0; i_v < c.rays; ++i_v)
        for (int i_u = 0; i_u < c.rays; ++i_u)
          exact += integral(RayModel::siddon, view, joseph, volume, u + (i_u + 0.5) / c.rays - 0.5,
                            v + (i_v + 0.5) / c.rays - 0.5);
      exact /= c.rays * c.rays;
      const double found = integral(model, view, joseph, volume, u, v);
      errors += (found - exact) * (found - exact);
      squares += exact * exact;
    }
  return squares > 0 ? std::sqrt(errors / squares) : 1;
}

TEST(footprint, is_the_mean_over_a_pixel) {
  const AreaCase cases[] = {
      {"voxels of three pixels", 3, 1.5},
      {"pixels of three voxels", 1, 4.5},
      {"alike", 1, 1.5},
      {"voxels of three pixels, tilted", 3, 1.5, 0.1, 0.05},
      {"pixels of three voxels, tilted", 1, 4.5, 0.1, 0.05, Beam::cone, 32},
      {"voxels of three pixels, fan", 3, 1.5, 0, 0, Beam::fan},
      {"voxels of three pixels, parallel", 3, 1, 0, 0, Beam::parallel},
      // Rays rise by about a row in a layer of voxels, and by more: views at slanted angles are not upright, then none.
      {"voxels of three pixels, wide cone", 3, 1.5, 0, 0, Beam::cone, 16, 150},
      {"voxels of three pixels, wider cone", 3, 1.5, 0, 0, Beam::cone, 16, 75},
  };
  for (const AreaCase& c : cases) {
    const std::int64_t n = c.voxel_mm > 2 ? 16 : 32;
    const VolumeGrid grid = centred_grid(n, n, n, {c.voxel_mm, c.voxel_mm, c.voxel_mm});
    std::vector<float> noise = operator_cases::random_values(grid.voxels(), 3);
    for (float& voxel : noise) voxel = 0.5F + 0.5F * voxel;
    const double footprint = error(c, noise, grid, RayModel::footprint),
                 siddon = error(c, noise, grid, RayModel::siddon);
    std::printf("%-36s footprint %.4f %%, one ray %.2f %%\n", c.name, 100 * footprint, 100 * siddon);
    EXPECT_LE(footprint, 0.003) << c.name;
    EXPECT_GT(siddon, 0.005) << c.name;  // a single ray aliases: the case would show it
  }
}

TEST(footprint, upright_views) {
  const VolumeGrid cube = centred_grid(20, 20, 20, {1, 1, 1});
  const auto upright = [&](CircularScan scan) {
    const std::vector<JosephView> views = joseph_views(build_scan(scan), cube);
    return std::count_if(views.begin(), views.end(), [](const JosephView& view) { return view.rows.any(); });
  };
  const CircularScan cone = operator_cases::circle(Beam::cone);
  const auto all = static_cast<std::ptrdiff_t>(cone.angles_rad.size());
  for (const Beam beam : {Beam::cone, Beam::fan, Beam::parallel}) EXPECT_EQ(upright(operator_cases::circle(beam)), all);
  CircularScan scan = cone;
  scan.detector_shift_v_mm = 5;
  scan.mirror_rows = true;
  EXPECT_EQ(upright(scan), all);
  scan = cone;
  scan.pitch_rad = 1e-3;
  EXPECT_EQ(upright(scan), 0);
  scan = cone;
  scan.in_plane_rad = 1e-3;
  EXPECT_EQ(upright(scan), 0);
  scan = cone;  // rays that rise by more than a row
  scan.pixel_height_mm = 0.2;
  scan.rows = 200;
  EXPECT_EQ(upright(scan), 0);
  scan = cone;  // voxels behind the source
  scan.source_axis_mm = 12;
  EXPECT_EQ(upright(scan), 0);
  scan = cone;
  scan.perturbations.resize(scan.angles_rad.size());
  scan.perturbations[2].in_plane_rad = 0.01;
  EXPECT_EQ(upright(scan), all - 1);
}

}  // namespace
}  // namespace lepus
