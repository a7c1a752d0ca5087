// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "core/context.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/threads.h"

namespace lepus {
namespace {

TEST(ThreadPool, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> visits(1003);
    pool.parallel_for(0, 1003, 7, [&](std::int64_t begin, std::int64_t end, int worker) {
      ASSERT_LT(worker, threads);
      for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (const auto& v : visits) EXPECT_EQ(v.load(), 1);
  }
}

TEST(ThreadPool, PassesOnTheFirstExceptionAndGoesOnWorking) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.parallel_for(0, 100, 1,
                                 [](auto begin, auto, int) {
                                   if (begin == 50) throw std::runtime_error("stop");
                                 }),
               std::runtime_error);
  std::atomic<int> sum{0};
  pool.parallel_for(0, 10, 1, [&](auto, auto, int) { ++sum; });
  EXPECT_EQ(sum.load(), 10);
}

TEST(ThreadPool, StopsBetweenPiecesOnceCancelled) {
  CancelFlag flag;
  ThreadPool pool(2, &flag);
  std::atomic<int> pieces{0};
  EXPECT_THROW(pool.parallel_for(0, 1000, 1,
                                 [&](auto, auto, int) {
                                   if (++pieces == 10) flag.cancel();
                                 }),
               Error);
  EXPECT_LT(pieces.load(), 20);
}

TEST(Memory, ParsesAmounts) {
  EXPECT_EQ(parse_bytes("4GiB"), std::int64_t{4} << 30);
  EXPECT_EQ(parse_bytes("800 MB"), 800'000'000);
  EXPECT_EQ(parse_bytes("1.5k"), 1536);
  EXPECT_EQ(parse_bytes("17"), 17);
  for (const char* bad : {"", "four", "-1G", "3 parsecs", "0"}) EXPECT_THROW(parse_bytes(bad), Error) << bad;
}

TEST(Memory, AllocationThatCannotSucceedSaysHowMuch) {
  try {
    Buffer<float> huge(std::int64_t{1} << 60);
    FAIL() << "an exabyte was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("TiB"), std::string::npos) << error.what();
  }
}

TEST(Memory, BuffersStartOnCacheLines) {
  for (const int n : {0, 1, 17, 4096}) {
    const Buffer<float> b(n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0U);
  }
}

TEST(Text, SuggestsOnlyNearNames) {
  const std::vector<std::string> names{"source_axis_mm", "source_detector_mm", "pixel_width_mm"};
  EXPECT_EQ(nearest_name("source_axs_mm", names), "source_axis_mm");
  EXPECT_EQ(nearest_name("source_detector", names), "source_detector_mm");
  EXPECT_EQ(nearest_name("banana", names), "");
}

TEST(CancelFlag, ThrowsOnceSet) {
  CancelFlag flag;
  EXPECT_NO_THROW(flag.check());
  flag.cancel();
  EXPECT_THROW(flag.check(), Error);
}

}  // namespace
}  // namespace lepus
