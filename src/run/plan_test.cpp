// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gtest/gtest.h>

#include "run/plan.h"
#include "run/test_plans.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct HostCase {
  ScanGeometry geometry;
  PlanRequest request;
  HostCase(std::int64_t size, std::int64_t views, std::int64_t limit) : geometry(planned_scan(size, views)) {
    request.geometry = &geometry;
    request.grid = automatic_grid(geometry);
    request.cylinder_mm = field_of_view_radius_mm(geometry);
    request.view_block = 8;
    request.memory_bytes = limit;
  }
};

TEST(Plan, ReadsEveryRowOnceWhereMemoryAllows) {
  const HostCase c(128, 90, std::int64_t{8} << 30);
  const BandTable bands(c.request);
  const Plan plan = make_plan(c.request, bands);
  EXPECT_EQ(plan.rows_read, plan.rows_needed);
  EXPECT_LE(plan.rows_needed, 90 * 128);
  expect_slabs_cover(plan, c.request.grid);
}

TEST(Plan, KeepsTheLimitAndChangesFromRollingToStreamed) {
  std::set<PlanKind> kinds;
  std::int64_t fitted = 0;
  for (double limit = 64; limit > 0.5; limit *= 0.8) {
    HostCase c(128, 90, static_cast<std::int64_t>(limit * 0x1p20));
    const BandTable bands(c.request);
    try {
      const Plan plan = make_plan(c.request, bands);
      EXPECT_LE(plan.host.total(), c.request.memory_bytes) << limit;
      EXPECT_GE(plan.rows_read, plan.rows_needed);
      expect_slabs_cover(plan, c.request.grid);
      if (plan.wedge_views < 90) {
        EXPECT_EQ(plan.wedge_views % c.request.view_block, 0);
      }
      kinds.insert(plan.kind);
      ++fitted;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
    }
  }
  EXPECT_EQ(kinds.size(), 2U) << "the limits tried must bring out both plans";
  EXPECT_GT(fitted, 5);
}

TEST(Plan, RefusalNamesAnAmountThatWouldDo) {
  HostCase c(128, 90, 1 << 20);
  const BandTable bands(c.request);
  try {
    make_plan(c.request, bands);
    FAIL() << "a volume of several MiB was planned into one";
  } catch (const Error& error) {
    const std::string hint = error.parts().hint;
    const auto at = hint.find("--memory ");
    ASSERT_NE(at, std::string::npos) << hint;
    c.request.memory_bytes = std::stoll(hint.substr(at + 9)) << 20;
    EXPECT_NO_THROW(make_plan(c.request, bands));
  }
}

TEST(Plan, BandOfASlabIsTheUnionOfItsGroups) {
  const HostCase c(96, 12, std::int64_t{1} << 30);
  const BandTable bands(c.request);
  for (std::int64_t view = 0; view < 12; ++view) {
    const RowBand whole = bands.band(view, {0, c.request.grid.nz});
    const RowBand direct = row_band(c.geometry, view, c.request.grid, c.request.cylinder_mm, 0, c.request.grid.nz, 1);
    EXPECT_LE(whole.first, direct.first + 1);
    EXPECT_GE(whole.last, direct.last - 1);
  }
}

// The size that the design promises: 2048^3 voxels (32 GiB) from 2048^2 frames in 4 GiB.
TEST(Plan, LargeVolumeFitsFourGiB) {
  HostCase c(2048, 1600, std::int64_t{4} << 30);
  c.request.grid = centred_grid(2048, 2048, 2048, {0.09, 0.09, 0.09});
  c.request.fixed_bytes = std::int64_t{100} << 20;
  const BandTable bands(c.request);
  const Plan plan = make_plan(c.request, bands);
  EXPECT_LE(plan.host.total(), c.request.memory_bytes);
  EXPECT_LT(static_cast<double>(plan.rows_read), 4.0 * static_cast<double>(plan.rows_needed)) << describe(plan);
}

}  // namespace
}  // namespace lepus
