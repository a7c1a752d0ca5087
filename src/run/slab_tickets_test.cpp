// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "run/slab_tickets.h"

namespace lepus {
namespace {

void expect_covered(const std::vector<SlabRange>& slabs, std::int64_t slices, std::int64_t largest) {
  std::int64_t z = 0;
  for (const SlabRange slab : slabs) {
    EXPECT_EQ(slab.z0, z);
    EXPECT_EQ(slab.z0 % slab_alignment, 0);
    EXPECT_LE(slab.z1 - slab.z0, largest);
    z = slab.z1;
  }
  EXPECT_EQ(z, slices);
}

TEST(SlabTickets, CoverTheVolumeInOrderForAnySize) {
  for (const std::int64_t slices : {1, 15, 16, 17, 250, 1024})
    for (const std::int64_t largest : {16, 48, 128, 1024})
      for (const std::int64_t least : {std::int64_t{16}, largest})
        for (const int workers : {1, 2, 4})
          expect_covered(expected_slabs(slices, {largest, least, 0.5}, workers), slices, largest);
}

TEST(SlabTickets, ShrinkTowardsTheEnd) {
  const auto slabs = expected_slabs(1024, {256, 64, 0.5}, 1);
  EXPECT_EQ(slabs.front().z1 - slabs.front().z0, 256);
  EXPECT_EQ(slabs.back().z1 - slabs.back().z0, 64);
  EXPECT_TRUE(
      std::is_sorted(slabs.rbegin(), slabs.rend(), [](SlabRange a, SlabRange b) { return a.z1 - a.z0 < b.z1 - b.z0; }));
}

// Two workers, one three times as fast, on a clock of their own: with slabs of one size and no regard to speed the slow
// one would still be at its last slab of 64 slices long after the other.
TEST(SlabTickets, AFasterWorkerMakesMoreAndBothEndTogether) {
  const std::array<double, 2> seconds_per_slice{1, 3};
  SlabTickets tickets(1024, {128, 32, 0.5}, 2);
  std::array<double, 2> time{};
  std::array<std::int64_t, 2> made{};
  for (int worker = 0;;) {
    const auto slab = tickets.next(worker);
    if (!slab) break;
    const auto w = static_cast<std::size_t>(worker);
    time[w] += static_cast<double>(slab->z1 - slab->z0) * seconds_per_slice[w];
    made[w] += slab->z1 - slab->z0;
    tickets.done(worker, slab->z1 - slab->z0, time[w]);
    worker = time[0] <= time[1] ? 0 : 1;
  }
  const double ideal = 1024 / (1 + 1.0 / 3);
  EXPECT_NEAR(static_cast<double>(made[0]), 768, 64);
  // At worst one of the smallest slabs (32 slices) begins when the other has just ended: 96 s of 768.
  EXPECT_LE(std::max(time[0], time[1]), ideal + 96);
}

TEST(SlabTickets, NothingAfterStop) {
  SlabTickets tickets(64, {16, 16, 0.5}, 1);
  EXPECT_TRUE(tickets.next(0));
  tickets.stop();
  EXPECT_FALSE(tickets.next(0));
}

}  // namespace
}  // namespace lepus
