// SPDX-License-Identifier: Apache-2.0
#include "analysis/blobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "analysis/array_volume.h"
#include "analysis/porosity.h"
#include "analysis/symmetric_matrix.h"
#include "analysis/test_bits.h"
#include "analysis/wide_sum.h"

namespace lepus::analysis {
namespace {

struct Scene {
  VolumeGrid grid;
  Bytes bytes;
  std::vector<float> values;
};

std::vector<Blob> blobs_of(const Scene& scene, int pieces) {
  TestContext t;
  const VolumeSize size{scene.grid.nx, scene.grid.ny, scene.grid.nz};
  BitVolume bits(t.memory, size);
  fill_bits(bits, scene.bytes);
  const ArrayVolume volume(scene.grid, scene.values);
  const Components components(bits, Connectivity::corners, t.memory, t.context, pieces);
  Survey looked;
  looked.smallest = *std::min_element(scene.values.begin(), scene.values.end());
  looked.largest = *std::max_element(scene.values.begin(), scene.values.end());
  return measure_blobs(ComponentLabels(components), volume, looked, t.memory, t.context);
}

// An ellipsoid with half axes in mm along x, y, z around the middle of n^3 voxels.
Scene ellipsoid(std::int64_t n, Vec3 step, Vec3 half) {
  Scene scene{centred_grid(n, n, n, step), {}, {}};
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x) {
        const Vec3 p = scene.grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
        const double r = p.x * p.x / (half.x * half.x) + p.y * p.y / (half.y * half.y) + p.z * p.z / (half.z * half.z);
        scene.bytes.push_back(r <= 1 ? 1 : 0);
        scene.values.push_back(static_cast<float>(x) * 0.25F);
      }
  return scene;
}

TEST(blobs, a_ball_has_its_volume_surface_and_shape) {
  for (const double radius : {6.0, 12.0, 18.0}) {
    const auto blobs = blobs_of(ellipsoid(40, {1, 1, 1}, {radius, radius, radius}), 2);
    ASSERT_EQ(blobs.size(), 1U);
    const Blob& b = blobs[0];
    EXPECT_NEAR(b.diameter_mm, 2 * radius, 0.1);
    EXPECT_NEAR(b.surface_mm2, 4 * pi * radius * radius, 0.02 * 4 * pi * radius * radius);  // measured: below 1.2 %
    EXPECT_NEAR(b.sphericity, 1, 0.02);
    for (const double axis : b.axes_mm) EXPECT_NEAR(axis, 2 * radius, 0.3);
    EXPECT_NEAR(norm(b.centroid_mm), 0, 1e-12);
    EXPECT_NEAR(b.mean, 19.5 * 0.25, 1e-6);
  }
}

TEST(blobs, voxels_that_are_no_cubes_are_measured_in_millimetres) {
  const auto blobs = blobs_of(ellipsoid(60, {0.5, 0.5, 1}, {9, 9, 9}), 3);
  ASSERT_EQ(blobs.size(), 1U);
  EXPECT_NEAR(blobs[0].diameter_mm, 18, 0.1);
  EXPECT_NEAR(blobs[0].surface_mm2, 4 * pi * 81, 0.02 * 4 * pi * 81);
}

TEST(blobs, an_ellipsoid_has_its_axes) {
  const auto blobs = blobs_of(ellipsoid(50, {1, 1, 1}, {8, 20, 13}), 1);
  ASSERT_EQ(blobs.size(), 1U);
  EXPECT_NEAR(blobs[0].axes_mm[0], 40, 0.4);
  EXPECT_NEAR(blobs[0].axes_mm[1], 26, 0.4);
  EXPECT_NEAR(blobs[0].axes_mm[2], 16, 0.4);
  EXPECT_NEAR(blobs[0].directions[0].y, 1, 1e-9);
  EXPECT_NEAR(blobs[0].directions[1].z, 1, 1e-9);
}

TEST(blobs, are_the_same_however_the_volume_is_cut) {
  const VolumeSize size{60, 50, 40};
  Scene scene{centred_grid(size.nx, size.ny, size.nz, {0.1, 0.1, 0.1}), ball_bytes(size, 60, 6, 3), {}};
  std::mt19937 random(5);
  std::normal_distribution<float> normal(1, 0.2F);
  for (std::int64_t i = 0; i < size.voxels(); ++i) scene.values.push_back(normal(random));
  const auto whole = blobs_of(scene, 1);
  ASSERT_GT(whole.size(), 10U);
  for (const int pieces : {2, 5}) {
    const auto cut = blobs_of(scene, pieces);
    ASSERT_EQ(cut.size(), whole.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
      EXPECT_EQ(cut[i].voxels, whole[i].voxels);
      EXPECT_EQ(cut[i].surface_mm2, whole[i].surface_mm2);
      EXPECT_EQ(cut[i].mean, whole[i].mean);
      EXPECT_EQ(cut[i].spread, whole[i].spread);
      EXPECT_EQ(cut[i].axes_mm, whole[i].axes_mm);
      EXPECT_EQ(cut[i].first, whole[i].first);
      EXPECT_EQ(cut[i].last, whole[i].last);
    }
  }
}

TEST(blobs, weights_of_crofton_are_the_known_ones) {
  const auto weights = crofton_weights({1, 1, 1});
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
  const auto directions = crofton_directions();
  for (std::size_t k = 0; k < weights.size(); ++k) {
    // Ohser, Muecklich: 0.0457779, 0.0369806 and 0.0351956 for each of 26 half lines.
    const int length = std::abs(directions[k][0]) + std::abs(directions[k][1]) + std::abs(directions[k][2]);
    const double known = length == 1 ? 0.0457779 : length == 2 ? 0.0369806 : 0.0351956;
    EXPECT_NEAR(weights[k], 2 * known, 1e-4);
  }
}

TEST(porosity, counts_slices_cells_and_what_is_open) {
  const VolumeSize size{70, 6, 5};
  Bytes inside(static_cast<std::size_t>(size.voxels()), 0), phase = inside;
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<std::size_t>((z * size.ny + y) * size.nx + x);
  };
  for (std::int64_t z = 0; z < 5; ++z)
    for (std::int64_t y = 0; y < 6; ++y)
      for (std::int64_t x = 2; x < 68; ++x) inside[at(x, y, z)] = 1;
  phase[at(30, 3, 2)] = 1;                      // closed
  phase[at(2, 3, 2)] = phase[at(3, 3, 2)] = 1;  // open: its left face is on the border of the region
  phase[at(64, 3, 4)] = 1;                      // open: the last slice
  TestContext t;
  BitVolume in(t.memory, size), ph(t.memory, size);
  fill_bits(in, inside);
  fill_bits(ph, phase);
  const Components components(ph, Connectivity::faces, t.memory, t.context, 2);
  const Porosity p = measure_porosity(ph, in, components, border_touching(components, in, t.context), 32, t.context);
  EXPECT_EQ(p.inside, 66 * 30);
  EXPECT_EQ(p.phase, 4);
  EXPECT_EQ(p.open, 3);
  EXPECT_EQ(p.slice_phase, (std::vector<std::int64_t>{0, 0, 3, 0, 1}));
  EXPECT_EQ(p.cells.nx, 3);
  EXPECT_EQ(p.cells.inside, (std::vector<std::int64_t>{30 * 30, 32 * 30, 4 * 30}));
  EXPECT_EQ(p.cells.phase, (std::vector<std::int64_t>{3, 0, 1}));
}

// What second moments of a blob of 10,000 voxels cubed add up to, in runs as they come.
TEST(blobs, sums_pass_64_bits) {
  WideSum sum, half;
  const std::uint64_t run = std::uint64_t{333'283'335} * 1000;  // of x^2 below 10,000, nearly
  for (int i = 0; i < 100'000'000; i += 1000) half.add(run * 1000);
  sum.add(half);
  sum.add(half);
  EXPECT_NEAR(sum.value() / (2e5 * static_cast<double>(run) * 1000), 1, 1e-12);
  EXPECT_GT(sum.value(), 1.8446744073709552e19);
}

}  // namespace
}  // namespace lepus::analysis
