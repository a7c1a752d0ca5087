// SPDX-License-Identifier: Apache-2.0
// The reference on scans small enough to be worked out by hand.
#include <gtest/gtest.h>

#include <vector>

#include "device/host/backprojector.h"

namespace lepus {
namespace {

// Voxel indices are millimetres: origin 0, step 1.
VolumeGrid unit_grid(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  return {.nx = nx, .ny = ny, .nz = nz, .origin_mm = {0, 0, 0}, .step_mm = {1, 1, 1}};
}

// One view: u = x w', v = z w' with w = 1 + y / 2 in front, so that voxel (x, y, z) is seen at (x, z) / w.
ScanGeometry one_view(Beam beam) {
  ScanGeometry g;
  g.beam = beam;
  g.columns = 4;
  g.rows = 3;
  g.matrices = {Matrix34{{1, 0, 0, 0, 0, 0, 1, 0, 0, beam == Beam::parallel ? 0.0 : 0.5, 0, 1}}};
  return g;
}

// data[column][row] = 10 column + row + 1
const std::vector<float> pixels{1, 2, 3, 11, 12, 13, 21, 22, 23, 31, 32, 33};

std::vector<float> backproject(const ScanGeometry& g, const VolumeGrid& grid, Interpolation kind, ViewBand band) {
  const auto b = make_reference_backprojector(g, grid, kind);
  std::vector<float> slab(static_cast<std::size_t>(grid.nx * grid.ny * 16), 0.0f);
  ThreadPool threads(2);
  b->accumulate({.first = 0, .row_stride = 3, .bands = {band}}, {slab.data(), 0, grid.nz, 16}, threads);
  return slab;
}

float voxel(const std::vector<float>& slab, const VolumeGrid& grid, std::int64_t x, std::int64_t y, std::int64_t z) {
  return slab[static_cast<std::size_t>((y * grid.nx + x) * 16 + z)];
}

TEST(reference, cone_interpolates_and_weighs) {
  const auto grid = unit_grid(4, 3, 3);
  const auto slab = backproject(one_view(Beam::cone), grid, Interpolation::linear, {pixels.data(), 0, 3});
  EXPECT_EQ(voxel(slab, grid, 2, 0, 1), 22.0f);                // w = 1: pixel (2, 1)
  EXPECT_EQ(voxel(slab, grid, 2, 2, 2), 12.0f / 4);            // w = 2: pixel (1, 1), weight 1/4
  EXPECT_EQ(voxel(slab, grid, 3, 2, 1), 16.5f / 4);            // pixel (1.5, 0.5): 15 + 0.5 + 1
  EXPECT_FLOAT_EQ(voxel(slab, grid, 3, 1, 0), 21.0f / 2.25f);  // w = 1.5: pixel (2, 0)
}

TEST(reference, fan_divides_the_column_only) {
  const auto grid = unit_grid(4, 3, 3);
  const auto slab = backproject(one_view(Beam::fan), grid, Interpolation::linear, {pixels.data(), 0, 3});
  EXPECT_EQ(voxel(slab, grid, 2, 2, 2), 13.0f / 4);  // pixel (1, 2)
}

TEST(reference, parallel_has_no_weight) {
  const auto grid = unit_grid(4, 3, 3);
  const auto slab = backproject(one_view(Beam::parallel), grid, Interpolation::linear, {pixels.data(), 0, 3});
  for (std::int64_t y = 0; y < 3; ++y) EXPECT_EQ(voxel(slab, grid, 3, y, 2), 33.0f);
}

TEST(reference, behind_the_source_gets_nothing) {
  auto g = one_view(Beam::cone);
  g.matrices[0](2, 1) = -0.5;  // w = 1 - y/2: zero at y = 2, negative beyond
  const auto grid = unit_grid(2, 4, 1);
  const auto slab = backproject(g, grid, Interpolation::linear, {pixels.data(), 0, 3});
  EXPECT_EQ(voxel(slab, grid, 1, 0, 0), 11.0f);
  EXPECT_EQ(voxel(slab, grid, 0, 1, 0), 4.0f);
  for (std::int64_t x = 0; x < 2; ++x)
    for (std::int64_t y = 2; y < 4; ++y) EXPECT_EQ(voxel(slab, grid, x, y, 0), 0.0f);
}

TEST(reference, bands_hold_some_of_the_rows) {
  const auto grid = unit_grid(4, 1, 3);
  const std::vector<float> row1{2, 0, 0, 12, 0, 0, 22, 0, 0, 32, 0, 0};  // row 1 alone, row_stride 3
  const auto slab = backproject(one_view(Beam::cone), grid, Interpolation::linear, {row1.data(), 1, 1});
  EXPECT_EQ(voxel(slab, grid, 3, 0, 1), 32.0f);
}

TEST(reference, sums_views_and_adds_to_what_is_there) {
  auto g = one_view(Beam::parallel);
  g.matrices.push_back(g.matrices[0]);
  const auto grid = unit_grid(4, 1, 3);
  const auto b = make_reference_backprojector(g, grid, Interpolation::nearest);
  std::vector<float> slab(4 * 16, 100.0f);
  ThreadPool threads(1);
  const ViewBand band{pixels.data(), 0, 3};
  b->accumulate({.first = 0, .row_stride = 3, .bands = {band, band}}, {slab.data(), 0, 3, 16}, threads);
  EXPECT_EQ(slab[2 * 16 + 1], 144.0f);
  EXPECT_EQ(slab[2 * 16 + 3], 100.0f);  // beyond the slab's last slice
}

}  // namespace
}  // namespace lepus
