// SPDX-License-Identifier: Apache-2.0
// Ranks on paper: what each makes, and when the last ends.
#include <algorithm>

#include <gtest/gtest.h>

#include "run/rank_schedule.h"

namespace lepus {
namespace {

// 64 voxel columns (two tiles of 32 x 32) and 16 views: a tall slice is 32768 updates, here a second.
SlabCosts costs_of(std::int64_t slices, double row_seconds = 1e-6) {
  CircularScan scan;
  scan.source_axis_mm = 500;
  scan.source_detector_mm = 1000;
  scan.columns = 64;
  scan.rows = slices;
  scan.pixel_width_mm = scan.pixel_height_mm = 2;
  for (int i = 0; i < 16; ++i) scan.angles_rad.push_back(radians(22.5 * i));
  return {build_scan(scan),
          centred_grid(64, 32, slices, {1, 1, 1}),
          100,
          Interpolation::linear,
          {.updates = 64 * 32 * 16, .filtered_pixels = 64 * 16 / row_seconds, .disk_bytes = 1e15}};
}

TEST(RankSchedule, RanksThatAreAlikeEndTogether) {
  const SlabCosts costs = costs_of(512);
  EXPECT_NEAR(schedule_ranks(costs, {1, 1}, {64}, 0).seconds, 512, 0.01);
  const RankSchedule four = schedule_ranks(costs, {4, 1}, {64}, 0);
  EXPECT_NEAR(four.seconds, 128, 0.01);
  EXPECT_EQ(four.slices, 128);
  EXPECT_EQ(four.slabs, 2);
  EXPECT_NEAR(four.summed_slices, 128, 1e-9);
  EXPECT_NEAR(schedule_ranks(costs, {4, 2}, {64}, 0).seconds, 64, 0.01) << "two share the views of each";
}

TEST(RankSchedule, SlabsAreTakenOverFromSlowRanks) {
  const SlabCosts costs = costs_of(1024);
  // At 0.7 and 1.3: a range each would take 512 / 0.7, sharing as speeds are 1024 / 2.
  const double cut = schedule_ranks(costs, {2, 1}, {64}, 0.3).seconds;
  EXPECT_NEAR(schedule_ranks(costs, {2, 1}, {512}, 0.3).seconds, 512 / 0.7, 0.1);
  EXPECT_LT(cut, 512 + 64 / 0.7) << "a slab too long at most";
  EXPECT_NEAR(schedule_ranks(costs, {2, 2}, {512}, 0.3).seconds, 512 / 0.7 / 2, 0.1) << "wedges take nothing over";
}

// What a rank takes over, or begins with, is brought anew; what rolls on is not.
TEST(RankSchedule, RowsRollOnWithinARange) {
  const SlabCosts costs = costs_of(512);
  const double once = schedule_ranks(costs, {1, 1}, {512}, 0).rows_of_all;
  EXPECT_NEAR(schedule_ranks(costs, {1, 1}, {64}, 0).rows_of_all, once, 1e-9);
  EXPECT_GT(schedule_ranks(costs, {8, 1}, {64}, 0).rows_of_all, once + 7) << "neighbours share rows";
}

// One cut for ranks that are alike and for those that are not: within a tenth of what is best for each.
TEST(RankSchedule, TheBestCutServesRanksThatAreAlikeAndOthers) {
  for (const std::int64_t slices : {448, 1000})
    for (const int groups : {1, 2, 3, 4, 7, 8}) {
      const SlabCosts costs = costs_of(slices, 0.05);
      const RankCut best = best_cut(costs, {groups, 1}, slices);
      EXPECT_EQ(best.slab_slices % slab_alignment, 0);
      EXPECT_LE(best_cut(costs, {groups, 1}, 32).slab_slices, 32) << "as memory allows";
      for (const double spread : {-0.1, 0.0, 0.1}) {
        double shortest = 1e9;
        for (std::int64_t height = slab_alignment; height <= slices; height += slab_alignment)
          for (const bool even : {false, true})
            shortest = std::min(shortest, schedule_ranks(costs, {groups, 1}, {height, even}, spread).seconds);
        EXPECT_LE(schedule_ranks(costs, {groups, 1}, best, spread).seconds, 1.1 * shortest)
            << slices << " slices, " << groups << " ranks, " << spread;
      }
    }
}

TEST(RankSchedule, TwoRanksGetHalvesThatCanBeTakenOver) {
  const RankCut cut = best_cut(costs_of(448), {2, 1}, 448);
  const auto ranges = slabs_of_groups({{0, 448}}, 2, cut);
  EXPECT_EQ(ranges[0].back().z1, 224);
  EXPECT_GE(ranges[0].size(), 3U);
  EXPECT_GE(ranges[1].size(), 3U);
}

}  // namespace
}  // namespace lepus
