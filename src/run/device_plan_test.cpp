// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "run/device_plan.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::int64_t mib = 1 << 20;

struct Case {
  ScanGeometry geometry;
  DevicePlanRequest request;
  std::unique_ptr<BandTable> bands;

  Case(std::int64_t pixels, std::int64_t views) {
    CircularScan scan;
    scan.source_axis_mm = 500;
    scan.source_detector_mm = 1000;
    scan.columns = scan.rows = pixels;
    scan.pixel_width_mm = scan.pixel_height_mm = 400.0 / static_cast<double>(pixels);
    for (std::int64_t i = 0; i < views; ++i)
      scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
    geometry = build_scan(scan);
    PlanRequest rows;
    rows.geometry = &geometry;
    rows.grid = automatic_grid(geometry);
    rows.cylinder_mm = field_of_view_radius_mm(geometry);
    bands = std::make_unique<BandTable>(rows);
    request.grid = rows.grid;
    request.wide_columns = request.recorded_columns = request.detector_rows = pixels;
    request.view_block = 4;
    request.texel_bytes = 2;
    request.memory_bytes = std::int64_t{64} << 30;
    request.host_bytes = std::int64_t{8} << 30;
  }
  DevicePlan plan() const { return make_device_plan(request, *bands); }
};

void expect_slabs_cover(const DevicePlan& plan, const VolumeGrid& grid) {
  std::int64_t z = 0;
  for (const SlabRange slab : plan.slabs) {
    EXPECT_EQ(slab.z0, z);
    EXPECT_LE(slab.z1 - slab.z0, plan.slab_slices);
    z = slab.z1;
  }
  EXPECT_EQ(z, grid.nz);
}

TEST(DevicePlan, FramesFromADiskAreReadAboutOnceThoseInMemoryMayPassByAgain) {
  Case c(256, 180);
  c.request.updates = static_cast<double>(c.request.grid.voxels() * 180);
  const double once = 180.0 * 256 * 256 * 2;
  c.request.source_bytes = 2e9;
  const DevicePlan disk = c.plan();
  EXPECT_LE(static_cast<double>(disk.sent_bytes), 1.05 * once);
  c.request.source_bytes = 5.5e10;
  const DevicePlan memory = c.plan();
  EXPECT_LT(memory.seconds, disk.seconds);
  EXPECT_GE(memory.slabs.size(), disk.slabs.size());
  for (const DevicePlan& plan : {disk, memory}) {
    EXPECT_GT(plan.slabs.size(), 1U) << "one slab would come down with nothing to hide it";
    expect_slabs_cover(plan, c.request.grid);
  }
}

TEST(DevicePlan, BandsThatComeAsSlabsNeedThemLetTheFirstSlabBeginEarlier) {
  Case c(256, 180);
  c.request.updates = static_cast<double>(c.request.grid.voxels() * 180);
  c.request.source_bytes = 2e9;
  const DevicePlan by_views = c.plan();
  c.request.by_bands = true;
  const DevicePlan by_bands = c.plan();
  EXPECT_TRUE(by_bands.resident);
  EXPECT_LT(by_bands.seconds, by_views.seconds);
  EXPECT_LE(by_bands.slab_slices, by_views.slab_slices);
  EXPECT_EQ(by_bands.sent_bytes, 180 * 2 * 256 * by_bands.held_rows) << "each row comes once";
  expect_slabs_cover(by_bands, c.request.grid);
}

TEST(DevicePlan, KeepsEveryLimitAndChangesToStreamedViews) {
  Case c(256, 180);
  c.request.source_bytes = 2e9;
  std::set<bool> kinds;
  int fitted = 0;
  for (double limit = 400; limit > 1; limit *= 0.8) {
    c.request.memory_bytes = static_cast<std::int64_t>(limit * static_cast<double>(mib));
    try {
      const DevicePlan plan = c.plan();
      EXPECT_LE(plan.memory_bytes(), c.request.memory_bytes);
      EXPECT_EQ(plan.wedge_views % c.request.view_block, 0);
      EXPECT_GE(plan.held_views, plan.wedge_views);
      expect_slabs_cover(plan, c.request.grid);
      kinds.insert(plan.resident);
      ++fitted;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
    }
  }
  EXPECT_EQ(kinds.size(), 2U) << "the limits tried must bring out both plans";
  EXPECT_GT(fitted, 8);
}

TEST(DevicePlan, KeepsTheHostsLimitToo) {
  Case c(256, 180);
  c.request.grid.nx = c.request.grid.ny = 64;  // slices are small: frames take the room
  const std::int64_t roomy = c.plan().staging_bytes;
  c.request.host_bytes = roomy / 2;
  const DevicePlan plan = c.plan();
  EXPECT_LE(plan.staging_bytes, roomy / 2);
  c.request.host_bytes = 3 << 20;
  EXPECT_LT(c.plan().wedge_views, 64);
  c.request.host_bytes = 1 << 10;
  try {
    c.plan();
    FAIL() << "frames were planned into a kibibyte";
  } catch (const Error& error) {
    EXPECT_NE(error.parts().hint.find("--memory"), std::string::npos);
  }
}

TEST(DevicePlan, RowsAreWholePairsAndHoldEveryBand) {
  const Case c(97, 24);
  std::vector<std::int64_t> order(24);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(23 - i);
  for (std::int64_t z = 0; z + 16 <= c.request.grid.nz; z += 16) {
    const RowBand rows = rows_for(*c.bands, order, 3, 9, {z, z + 16}, 97);
    EXPECT_EQ(rows.first % 2, 0);
    EXPECT_TRUE(rows.last % 2 == 0 || rows.last == 97);
    for (std::size_t i = 3; i < 9; ++i) {
      const RowBand band = c.bands->band(order[i], {z, z + 16});
      EXPECT_LE(rows.first, band.first);
      EXPECT_GE(rows.last, band.last);
    }
  }
}

}  // namespace
}  // namespace lepus
