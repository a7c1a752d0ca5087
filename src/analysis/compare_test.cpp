// SPDX-License-Identifier: Apache-2.0
// The metrics against numbers that were worked out by hand, and their independence of threads and memory.
#include "analysis/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "analysis/array_volume.h"
#include "analysis/ssim.h"
#include "core/test_context.h"

namespace lepus {
namespace {

VolumeGrid grid_of(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  return {nx, ny, nz, {-0.5 * static_cast<double>(nx - 1), -0.5 * static_cast<double>(ny - 1), 0}, {1, 1, 1}};
}

ArrayVolume noise(const VolumeGrid& grid, unsigned seed, double level) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, static_cast<float>(level));
  std::vector<float> values(static_cast<std::size_t>(grid.voxels()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.05F * static_cast<float>(i)) + normal(random);
  return {grid, std::move(values)};
}

TEST(compare, eight_voxels_by_hand) {
  TestContext f;
  const VolumeGrid grid = grid_of(2, 2, 2);
  const ArrayVolume a(grid, {0, 1, 2, 3, 4, 5, 6, 7});
  const ArrayVolume b(grid, {0, 1, 2, 3, 4, 5, 8, 6});  // differences 0 0 0 0 0 0 +2 -1
  const Comparison c = compare_volumes(a, b, {}, f.context);
  EXPECT_EQ(c.voxels, 8);
  EXPECT_DOUBLE_EQ(c.rmse, std::sqrt(5.0 / 8));
  EXPECT_DOUBLE_EQ(c.mae, 3.0 / 8);
  EXPECT_DOUBLE_EQ(c.bias, 1.0 / 8);
  EXPECT_DOUBLE_EQ(c.maximum_error, 2);
  EXPECT_EQ(c.at_x, 0);
  EXPECT_EQ(c.at_y, 1);
  EXPECT_EQ(c.at_z, 1);
  EXPECT_DOUBLE_EQ(c.peak, 7);
  EXPECT_DOUBLE_EQ(c.nrmse, std::sqrt(5.0 / 8) / 7);
  EXPECT_NEAR(c.psnr_db, 10 * std::log10(49 / (5.0 / 8)), 1e-12);
  EXPECT_DOUBLE_EQ(c.reference.mean, 3.5);
  EXPECT_DOUBLE_EQ(c.volume.mean, 29.0 / 8);
  EXPECT_FALSE(c.ssim.has_value());  // smaller than a window
}

TEST(compare, equal_volumes) {
  TestContext f;
  const ArrayVolume a = noise(grid_of(16, 13, 12), 1, 0.3);
  const Comparison c = compare_volumes(a, a, {}, f.context);
  EXPECT_EQ(c.rmse, 0);
  EXPECT_EQ(c.maximum_error, 0);
  EXPECT_TRUE(std::isinf(c.psnr_db) && c.psnr_db > 0);
  ASSERT_TRUE(c.ssim.has_value());
  EXPECT_NEAR(*c.ssim, 1, 1e-12);
}

// A constant against another: every window has mean a and b and no variance, so that SSIM is its first factor alone.
TEST(compare, ssim_of_constants) {
  TestContext f;
  const VolumeGrid grid = grid_of(12, 12, 12);
  const auto n = static_cast<std::size_t>(grid.voxels());
  CompareSettings options;
  options.peak = 1;
  const ArrayVolume a(grid, std::vector<float>(n, 0.5F)), b(grid, std::vector<float>(n, 0.75F));
  const Comparison c = compare_volumes(a, b, options, f.context);
  const double c1 = 1e-4, expected = (2 * 0.5 * 0.75 + c1) / (0.25 + 0.5625 + c1);
  ASSERT_TRUE(c.ssim.has_value());
  EXPECT_NEAR(*c.ssim, expected, 1e-12);  // sums of 1331 products in double precision
  EXPECT_DOUBLE_EQ(c.psnr_db, 20 * std::log10(1 / 0.25));
}

TEST(compare, window_is_the_papers) {
  const auto weights = ssim_weights();
  double sum = 0;
  for (const double w : weights) sum += w;
  EXPECT_NEAR(sum, 1, 1e-15);
  EXPECT_NEAR(weights[ssim_radius + 3] / weights[ssim_radius], std::exp(-2.0), 1e-15);  // 3 = 2 sigma
}

TEST(compare, a_value_that_is_not_finite_spoils_every_error) {
  TestContext f;
  const VolumeGrid grid = grid_of(12, 12, 12);
  std::vector<float> values(static_cast<std::size_t>(grid.voxels()), 1.0F);
  values[0] = 0;
  const ArrayVolume a(grid, values);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  const ArrayVolume b(grid, values);
  const Comparison c = compare_volumes(a, b, {}, f.context);
  EXPECT_EQ(c.not_finite, 1);
  for (const double metric : {c.rmse, c.mae, c.bias, c.maximum_error, c.psnr_db, c.nrmse, *c.ssim})
    EXPECT_TRUE(std::isnan(metric));
  EXPECT_EQ(c.at_x, 5);  // where it is
}

TEST(compare, masks) {
  TestContext f;
  const VolumeGrid grid = grid_of(5, 5, 3);  // x, y from -2 to 2, z from 0 to 2
  std::vector<float> reference(75, 1.0F), values(75, 1.0F);
  reference[12] = 3;  // (2, 2, 0): on the axis
  values[12] = 5;
  values[0] = 100;  // a corner
  const ArrayVolume a(grid, reference), b(grid, values);
  CompareSettings options;
  options.mask.radius_mm = 1;
  Comparison c = compare_volumes(a, b, options, f.context);
  EXPECT_EQ(c.voxels, 5 * 3);  // the axis and its four neighbours, in each slice
  EXPECT_DOUBLE_EQ(c.maximum_error, 2);
  options.mask = {};
  options.mask.ball_mm = 1;
  EXPECT_EQ(compare_volumes(a, b, options, f.context).voxels, 5 + 1);
  options.mask = {};
  options.mask.box_mm = {-2, -1, -2, 2, 1, 2};
  EXPECT_EQ(compare_volumes(a, b, options, f.context).voxels, 2 * 5 * 2);
  options.mask = {};
  options.mask.reference_above = 2;
  c = compare_volumes(a, b, options, f.context);
  EXPECT_EQ(c.voxels, 1);
  EXPECT_DOUBLE_EQ(c.bias, 2);
  options.mask.reference_above = 10;
  EXPECT_THROW(compare_volumes(a, b, options, f.context), Error);
}

TEST(compare, field_of_view_of_a_scan) {
  // A cone beam, 100 mm to the axis, pixels of 1 mm at the axis (2 mm at 200 mm), 21 columns and 11 rows, one view in
  // four directions: on the axis |z| <= 5 is seen. The same height 4 mm nearer to a source is cut at 5 * 0.96.
  CircularScan scan;
  scan.source_axis_mm = 100;
  scan.source_detector_mm = 200;
  scan.columns = 21;
  scan.rows = 11;
  scan.pixel_width_mm = scan.pixel_height_mm = 2;
  scan.angles_rad = {0, pi / 2, pi, 3 * pi / 2};
  const VoxelMask mask = field_of_view_mask(build_scan(scan));
  EXPECT_TRUE(mask.inside({0, 0, 4.99}));
  EXPECT_FALSE(mask.inside({0, 0, 5.01}));
  EXPECT_TRUE(mask.inside({4, 0, 4.79}));
  EXPECT_FALSE(mask.inside({4, 0, 4.81}));
  ASSERT_TRUE(mask.radius_mm.has_value());
  EXPECT_NEAR(*mask.radius_mm, 10, 0.6);  // half the detector, give or take half a pixel and the fan's slope
}

TEST(compare, different_grids_are_refused) {
  TestContext f;
  const ArrayVolume a(grid_of(2, 2, 2), std::vector<float>(8)), b(grid_of(2, 2, 1), std::vector<float>(4));
  try {
    compare_volumes(a, b, {}, f.context);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.parts().why.find("2 x 2 x 2"), std::string::npos) << error.what();
    EXPECT_NE(error.parts().why.find("2 x 2 x 1"), std::string::npos) << error.what();
  }
  VolumeGrid shifted = grid_of(2, 2, 2);
  shifted.origin_mm.y += 0.01;
  EXPECT_THROW(compare_volumes(a, ArrayVolume(shifted, std::vector<float>(8)), {}, f.context), Error);
}

TEST(compare, the_same_bits_for_any_memory_and_threads) {
  TestContext two;
  const VolumeGrid grid = grid_of(45, 39, 37);
  const ArrayVolume a = noise(grid, 1, 0.1), b = noise(grid, 2, 0.1);
  CompareSettings options;
  options.mask.radius_mm = 17;
  const Comparison whole = compare_volumes(a, b, options, two.context);
  ThreadPool one(1);
  Context alone{one, two.cancel, two.progress};
  options.memory_bytes = 2 * 4 * 45 * 39 * 11;  // one slice and its halo of ten
  const Comparison cut = compare_volumes(a, b, options, alone);
  EXPECT_EQ(whole.rmse, cut.rmse);
  EXPECT_EQ(whole.mae, cut.mae);
  EXPECT_EQ(whole.bias, cut.bias);
  ASSERT_TRUE(whole.ssim && cut.ssim);
  EXPECT_EQ(*whole.ssim, *cut.ssim);
  EXPECT_EQ(whole.at_z, cut.at_z);
  options.memory_bytes -= 1;
  EXPECT_THROW(compare_volumes(a, b, options, alone), Error);
}

TEST(compare, stops_when_cancelled) {
  TestContext f;
  f.cancel.cancel();
  const ArrayVolume a = noise(grid_of(12, 12, 12), 1, 0.1);
  EXPECT_THROW(compare_volumes(a, a, {}, f.context), Error);
}

}  // namespace
}  // namespace lepus
