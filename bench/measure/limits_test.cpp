// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include "core/cancel.h"
#include "bench/measure/clock.h"
#include "bench/measure/files.h"
#include "bench/measure/gpu.h"
#include "bench/measure/limits_parts.h"
#include <lepus/error.h>

namespace lepus::measure {
namespace {

TEST(Limits, AreMeasuredAndRight) {
  ThreadPool threads(2);
  const CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  const auto folder = std::filesystem::temp_directory_path() / "lepus_limits_test";
  std::filesystem::create_directories(folder);
  const Limits limits = measure_limits({.quick = true, .folder = folder, .device = -1}, context);
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "the disk's test file is removed";
  std::filesystem::remove_all(folder);
  for (const Figure& f : limits.figures) {
    EXPECT_TRUE(f.correct()) << f.name << ": " << f.error << " " << f.error_of;
    EXPECT_GT(f.rate(), 0) << f.name;
    EXPECT_EQ(f.group, "machine");
  }
  EXPECT_EQ(limits.figures.size(), 5u);
  // Far outside what any machine does: the work was optimised away, or counted wrongly.
  EXPECT_GT(limits.copy_gb_s, 0.1);
  EXPECT_LT(limits.copy_gb_s, 5000);
  EXPECT_GT(limits.multiply_adds, 0.05);
  EXPECT_LT(limits.multiply_adds, 1e5);
  EXPECT_GE(limits.simd_lanes, 1);
  EXPECT_FALSE(limits.simd.empty());
  EXPECT_EQ(limits.texture_samples, 0) << "nobody asked for a GPU";
}

// Sizes that no piece divides; what is left over at the end of a file is written and read, too.
TEST(Files, AllBytesComeBack) {
  ThreadPool threads(2);
  const auto folder = std::filesystem::temp_directory_path() / "lepus_files_test";
  std::filesystem::create_directories(folder);
  for (const std::int64_t count : {1, 3}) {
    PlainFiles files({.files = count, .file_bytes = 100003, .piece_bytes = 4096}, folder, threads);
    EXPECT_GT(files.take_wrong_bytes(), 0) << "nothing was read";
    files.write();
    files.read();
    EXPECT_EQ(files.take_wrong_bytes(), 0);
    EXPECT_GT(files.take_wrong_bytes(), 0) << "what was read is forgotten";
    files.read_by_all();
    EXPECT_EQ(files.take_wrong_bytes(), 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  PlainFiles nowhere({.files = 1, .file_bytes = 10, .piece_bytes = 10}, folder / "nowhere", threads);
  EXPECT_THROW(nowhere.write(), Error);
  EXPECT_THROW(nowhere.read(), Error);
}

TEST(Clock, TakesTheBestOfEach) {
  int first = 0, second = 0;
  const TwoTimes t = best_seconds_of_two(
      3, [&] { ++first; }, [&] { ++second; });
  EXPECT_EQ(first, 3);
  EXPECT_EQ(second, 3);
  EXPECT_GE(t.first, 0);
  EXPECT_LT(t.first + t.second, 1);
}

TEST(Limits, DifferingBytesAreCounted) {
  ThreadPool threads(2);
  std::vector<unsigned char> a(3 << 20, 7), b = a;
  EXPECT_EQ(differing_bytes(a.data(), b.data(), 3 << 20, threads), 0);
  b.front() = b[1 << 20] = b.back() = 8;
  EXPECT_EQ(differing_bytes(a.data(), b.data(), 3 << 20, threads), 3);
}

TEST(Limits, AGpuThatIsNotThereIsAnError) {
  if (why_no_gpu(0).empty()) GTEST_SKIP() << "there is one";
  Limits limits;
  EXPECT_THROW(measure_gpu_limits(limits, 0, true), Error);
  EXPECT_THROW(describe_gpu(0), Error);
}

}  // namespace
}  // namespace lepus::measure
