// SPDX-License-Identifier: Apache-2.0
// What the kernels leave out of a volume, and what plans take slabs for.
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "device/host/backprojector.h"
#include "device/host/kernel.h"
#include "device/host/work.h"

namespace lepus::cpu {
namespace {

double radius(const VolumeGrid& grid, std::int64_t x, std::int64_t y) {
  const Vec3 p = grid.centre(static_cast<double>(x), static_cast<double>(y), 0);
  return std::hypot(p.x, p.y);
}

ScanGeometry scan_of(int views, double pitch_deg) {
  CircularScan scan;
  scan.source_axis_mm = 400;
  scan.source_detector_mm = 800;
  scan.columns = 140;
  scan.rows = 24;
  scan.pixel_width_mm = scan.pixel_height_mm = 2;
  scan.pitch_rad = radians(pitch_deg);
  for (int i = 0; i < views; ++i) scan.angles_rad.push_back(radians(360.0 * i / views));
  return build_scan(scan);
}

TEST(host_work, every_voxel_of_the_cylinder_is_in_a_tile) {
  for (const std::int64_t size : {31, 96, 250, 512})
    for (const double reach : {0.3, 0.5, 0.71}) {
      VolumeGrid grid = centred_grid(size, size - 7, 4, {0.5, -0.5, 1});
      grid.origin_mm.x += 3;
      const double cylinder = reach * 0.5 * static_cast<double>(size);
      std::vector<bool> summed(static_cast<std::size_t>(grid.nx * grid.ny));
      for (const ColumnIndex tile : tiles_in_cylinder(grid, {grid.nx, grid.ny}, cylinder))
        for (std::int64_t y = tile.y; y < std::min(grid.ny, tile.y + largest_tile); ++y)
          for (std::int64_t x = tile.x; x < std::min(grid.nx, tile.x + largest_tile); ++x)
            summed[static_cast<std::size_t>(y * grid.nx + x)] = true;
      std::int64_t count = 0;
      for (std::int64_t y = 0; y < grid.ny; ++y)
        for (std::int64_t x = 0; x < grid.nx; ++x) {
          const bool there = summed[static_cast<std::size_t>(y * grid.nx + x)];
          count += there ? 1 : 0;
          EXPECT_TRUE(there || radius(grid, x, y) > cylinder) << x << ", " << y << " of " << size;
        }
      EXPECT_EQ(count, summed_columns(grid, cylinder));
    }
  // Of a quarter of 16 x 16 tiles, those whose inner corner (i, j) lies beyond: i^2 + j^2 >= 8^2 in tiles, but (8, 0).
  const VolumeGrid grid = centred_grid(512, 512, 1, {1, 1, 1});
  EXPECT_EQ(summed_columns(grid, 256), 4 * (64 - 8) * 32 * 32);
}

// The same bits inside; tiles beyond stay as they were. Views four, two and one of which are symmetric, and matrices
// without any rule.
TEST(host_work, tiles_beyond_the_cylinder_are_left_out) {
  for (const auto& [views, pitch] : {std::pair{8, 0.0}, {6, 0.0}, {5, 0.0}, {5, 4.0}})
    for (const std::int64_t size : {128, 131}) {
      const ScanGeometry scan = scan_of(views, pitch);
      const VolumeGrid grid = centred_grid(size, size, 24, {0.5, 0.5, 0.5});
      const double cylinder = 0.15 * static_cast<double>(size);
      std::vector<float> view(140 * 24);
      for (std::size_t i = 0; i < view.size(); ++i) view[i] = 1 + static_cast<float>(i % 17);
      const BandSet wedge{
          .first = 0,
          .row_stride = 24,
          .bands = std::vector<ViewBand>(static_cast<std::size_t>(views), ViewBand{view.data(), 0, 24})};
      ThreadPool threads(1);
      const auto sum = [&](const Backprojector& kernel) {
        std::vector<float> slab(static_cast<std::size_t>(size * size * 24), 0.0F);
        kernel.accumulate(wedge, {slab.data(), 0, 24, 24}, threads);
        return slab;
      };
      const auto all = sum(*make_backprojector(scan, grid, Interpolation::linear));
      const auto inside = sum(*make_backprojector(scan, grid, Interpolation::linear, "", cylinder));
      std::int64_t left_out = 0;
      for (std::int64_t y = 0; y < size; ++y)
        for (std::int64_t x = 0; x < size; ++x)
          for (std::int64_t z = 0; z < 24; ++z) {
            const auto i = static_cast<std::size_t>((y * size + x) * 24 + z);
            if (radius(grid, x, y) <= cylinder)
              ASSERT_EQ(inside[i], all[i]) << x << ", " << y << ", " << z;
            else if (inside[i] == 0 && all[i] != 0)
              ++left_out;
          }
      EXPECT_GT(left_out, 4 * 900 * 24) << "a tile of 32 x 32 at each corner";
    }
}

TEST(host_work, low_slabs_and_cut_chunks_cost_more) {
  EXPECT_DOUBLE_EQ(tall_slices({0, 64}), 64);
  EXPECT_DOUBLE_EQ(tall_slices({64, 640}), 576);
  EXPECT_DOUBLE_EQ(tall_slices({20, 36}), tall_slices({16, 40})) << "vectors along z are whole";
  EXPECT_DOUBLE_EQ(tall_slices({3, 3}), 0);
  for (const std::vector<std::int64_t>& heights : {std::vector<std::int64_t>{1, 2, 4, 8}, {16, 32, 48, 64}}) {
    double before = 1e9;  // per slice
    for (const std::int64_t slices : heights) {
      const double each = tall_slices({128, 128 + slices}) / static_cast<double>(slices);
      EXPECT_LT(each, before) << slices;
      before = each;
    }
  }
  EXPECT_GT(tall_slices({48, 80}), tall_slices({0, 32})) << "a chunk ends at 64";
}

}  // namespace
}  // namespace lepus::cpu
