// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "run/plan.h"
#include "run/test_plans.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::int64_t mib = 1 << 20;

struct DeviceCase {
  ScanGeometry geometry;
  PlanRequest request;
  std::unique_ptr<BandTable> bands;

  DeviceCase(std::int64_t pixels, std::int64_t views) {
    geometry = planned_scan(pixels, views);
    request.geometry = &geometry;
    request.grid = automatic_grid(geometry);
    request.cylinder_mm = field_of_view_radius_mm(geometry);
    bands = std::make_unique<BandTable>(request);
    request.view_block = 4;
    request.memory_bytes = std::int64_t{8} << 30;
    PlanDevices& devices = request.devices.emplace();
    devices.recorded_columns = pixels;
    devices.bytes_per_value = 2;
    devices.memory_bytes = std::int64_t{64} << 30;
  }
  Plan plan() const { return make_plan(request, *bands); }
  PlanDevices& devices() { return *request.devices; }
};

TEST(DevicePlan, FramesFromADiskAreReadAboutOnceThoseInMemoryMayPassByAgain) {
  DeviceCase c(256, 180);
  const double once = 180.0 * 256 * 256 * 2;
  c.devices().source_bytes = 2e9;
  const Plan disk = c.plan();
  EXPECT_LE(static_cast<double>(disk.uploaded_bytes), 1.05 * once);
  c.devices().source_bytes = 5.5e10;
  const Plan memory = c.plan();
  EXPECT_LT(memory.seconds, disk.seconds);
  EXPECT_GE(memory.slabs.size(), disk.slabs.size());
  for (const Plan& plan : {disk, memory}) {
    EXPECT_GT(plan.slabs.size(), 1U) << "one slab would come down with nothing to hide it";
    expect_slabs_cover(plan, c.request.grid);
  }
}

TEST(DevicePlan, BandsThatComeAsSlabsNeedThemLetTheFirstSlabBeginEarlier) {
  DeviceCase c(256, 180);
  c.devices().source_bytes = 2e9;
  const Plan by_views = c.plan();
  c.devices().by_bands = true;
  const Plan by_bands = c.plan();
  EXPECT_TRUE(by_bands.kind == PlanKind::resident_views);
  EXPECT_LT(by_bands.seconds, by_views.seconds);
  EXPECT_LE(by_bands.slab_slices, by_views.slab_slices);
  EXPECT_EQ(by_bands.uploaded_bytes, 180 * 2 * 256 * by_bands.held_rows) << "each row comes once";
  expect_slabs_cover(by_bands, c.request.grid);
}

TEST(DevicePlan, KeepsEveryLimitAndChangesToStreamedViews) {
  DeviceCase c(256, 180);
  c.devices().source_bytes = 2e8;  // a slow disk: rows had better be read once
  std::set<PlanKind> kinds;
  int fitted = 0;
  for (double limit = 400; limit > 1; limit *= 0.8) {
    c.devices().memory_bytes = static_cast<std::int64_t>(limit * static_cast<double>(mib));
    try {
      const Plan plan = c.plan();
      EXPECT_LE(plan.device.total(), c.devices().memory_bytes);
      EXPECT_EQ(plan.wedge_views % c.request.view_block, 0);
      EXPECT_GE(plan.held_views, plan.wedge_views);
      expect_slabs_cover(plan, c.request.grid);
      kinds.insert(plan.kind);
      ++fitted;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
    }
  }
  EXPECT_EQ(kinds.size(), 2U) << "the limits tried must bring out both plans";
  EXPECT_GT(fitted, 8);
}

TEST(DevicePlan, KeepsTheHostsLimitToo) {
  DeviceCase c(256, 180);
  c.request.grid.nx = c.request.grid.ny = 64;  // slices are small: frames take the room
  const std::int64_t plenty = c.plan().host.total();
  c.request.memory_bytes = plenty / 2;
  const Plan plan = c.plan();
  EXPECT_LE(plan.host.total(), plenty / 2);
  c.request.memory_bytes = 3 << 20;
  EXPECT_LT(c.plan().wedge_views, 64);
  c.request.memory_bytes = 1 << 10;
  try {
    c.plan();
    FAIL() << "frames were planned into a kibibyte";
  } catch (const Error& error) {
    EXPECT_NE(error.parts().hint.find("--memory"), std::string::npos);
  }
}

TEST(DevicePlan, RowsAreWholePairsAndHoldEveryBand) {
  const DeviceCase c(97, 24);
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
