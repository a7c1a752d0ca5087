// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "ranks/test_thread_ranks.h"
#include "run/rank_work.h"

namespace lepus {
namespace {

VolumeGrid grid_of(std::int64_t slices) {
  VolumeGrid grid;
  grid.nx = grid.ny = 4;
  grid.nz = slices;
  return grid;
}

TEST(RankWork, ViewsAreSplitOnlyWhereThereAreMoreRanksThanSlabs) {
  const auto expect = [](int ranks, std::int64_t slabs, std::int64_t wedges, int groups, int of) {
    const RankGrid grid = rank_grid(ranks, slabs, wedges);
    EXPECT_EQ(grid.groups, groups) << ranks << " ranks, " << slabs << " slabs";
    EXPECT_EQ(grid.wedges, of) << ranks << " ranks, " << slabs << " slabs";
  };
  expect(1, 10, 8, 1, 1);
  expect(6, 10, 8, 6, 1);
  expect(10, 10, 8, 10, 1);
  expect(12, 6, 8, 6, 2);
  expect(7, 3, 8, 1, 7);   // no rank is left idle
  expect(7, 3, 4, 3, 2);   // one is, where the views have but four parts
  expect(64, 2, 8, 2, 8);  // more than there are blocks of views
  expect(4, 1, 1, 1, 1);
}

// Slabs end at multiples of their height, and where ranges do.
TEST(RankWork, RangesAreEvenInSlicesOrInSlabs) {
  const std::vector<SlabRange> all{{0, 250}};
  const auto expect = [](const std::vector<std::vector<SlabRange>>& ranges,
                         const std::vector<std::vector<std::int64_t>>& ends) {
    ASSERT_EQ(ranges.size(), ends.size());
    std::int64_t z = 0;
    for (std::size_t group = 0; group < ends.size(); ++group) {
      ASSERT_EQ(ranges[group].size(), ends[group].size()) << "group " << group;
      for (std::size_t i = 0; i < ends[group].size(); ++i) {
        EXPECT_EQ(ranges[group][i].z0, z);
        EXPECT_EQ(ranges[group][i].z1, z = ends[group][i]);
      }
    }
  };
  expect(slabs_of_groups(all, 3, {64, true}), {{64, 80}, {128, 160}, {192, 250}});
  expect(slabs_of_groups(all, 3, {64, false}), {{64}, {128}, {192, 250}});
  expect(slabs_of_groups(all, 6, {64, false}), {{}, {64}, {128}, {}, {192}, {250}});
  const auto parts = slabs_of_groups({{16, 48}, {96, 250}}, 2, {64, true});
  EXPECT_EQ(parts[0].back().z1, 160) << "six of twelve blocks";
  EXPECT_EQ(parts[1].front().z0, 160);
}

// Every slice once, for any number of ranks, parts that are missing and timing; a rank that does nothing else gets
// more.
TEST(RankWork, EverySliceIsMadeOnce) {
  for (const RankCut cut : {RankCut{16}, RankCut{48, true}, RankCut{64, false}})
    for (const int size : {1, 2, 3, 4, 6})
      for (const auto& missing : {std::vector<SlabRange>{{0, 250}}, {{16, 48}, {96, 250}}, {{240, 250}}}) {
        std::vector<std::vector<SlabRange>> made(static_cast<std::size_t>(size));
        as_ranks(size, [&](Ranks& ranks) {
          RankWork work(ranks, grid_of(250), {size, 1}, missing, cut);
          const SweepWork mine = work.work();
          while (const auto slab = mine.parts()) {
            made[static_cast<std::size_t>(ranks.rank())].push_back(*slab);
            if (ranks.rank() == size - 1) std::this_thread::sleep_for(std::chrono::milliseconds(3));
          }
        });
        std::vector<int> times(250);
        for (const auto& slabs : made)
          for (const SlabRange slab : slabs)
            for (std::int64_t z = slab.z0; z < slab.z1; ++z) ++times[static_cast<std::size_t>(z)];
        for (std::int64_t z = 0; z < 250; ++z) {
          const bool wanted = std::ranges::any_of(missing, [&](SlabRange m) { return m.z0 <= z && z < m.z1; });
          EXPECT_EQ(times[static_cast<std::size_t>(z)], wanted ? 1 : 0) << "slice " << z << " of " << size << " ranks";
        }
      }
}

TEST(RankWork, ASlowRankMakesFewerSlabs) {
  std::vector<std::size_t> made(2);
  as_ranks(2, [&](Ranks& ranks) {
    RankWork work(ranks, grid_of(512), {2, 1}, {{0, 512}}, {16});
    const SweepWork mine = work.work();
    while (mine.parts()) {
      ++made[static_cast<std::size_t>(ranks.rank())];
      std::this_thread::sleep_for(std::chrono::milliseconds(ranks.rank() == 0 ? 2 : 20));
    }
  });
  EXPECT_EQ(made[0] + made[1], 32U);
  EXPECT_GT(made[0], 2 * made[1]) << "ten times as fast";
}

// ((a + b) + c) + d in floats, whoever comes first.
TEST(RankWork, WedgesAreAddedInTheOrderOfTheRanks) {
  constexpr int wedges = 4;
  const std::vector<float> values{1e8F, 1.0F, -1e8F, 0.25F};
  std::vector<float> sum(32, -1.0F);
  std::atomic<int> writers = 0;
  as_ranks(2 * wedges, [&](Ranks& ranks) {
    RankWork work(ranks, grid_of(32), {2, wedges}, {{0, 32}}, {16});
    const auto complete = work.complete();
    const SweepWork mine = work.work();
    const float value = values[static_cast<std::size_t>(mine.wedge)];
    while (const auto slab = mine.parts()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * (mine.wedge + 1) % 3));
      std::vector<float> voxels(static_cast<std::size_t>(16 * slab->slices()), value);
      if (!complete(*slab, voxels.data())) continue;
      ++writers;
      for (std::int64_t z = slab->z0; z < slab->z1; ++z) sum[static_cast<std::size_t>(z)] = voxels.front();
    }
  });
  EXPECT_EQ(writers, 2);
  const float expected = ((values[0] + values[1]) + values[2]) + values[3];
  for (const float voxel : sum) EXPECT_EQ(voxel, expected);
}

}  // namespace
}  // namespace lepus
