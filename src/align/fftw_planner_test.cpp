// SPDX-License-Identifier: Apache-2.0
// Everything that plans a transform, of whatever room, waits for the one lock; and two threads may plan at once (with
// the thread sanitizer this is where a race would show).
#include "core/fftw_planner.h"

#include <chrono>
#include <functional>
#include <future>
#include <new>

#include <gtest/gtest.h>

#include "align/center_score.h"
#include "align/test_scans.h"
#include "device/host/band_kernels/phase.h"
#include "filter/ramp.h"

namespace lepus {
namespace {

using namespace align_test;

struct Planners {
  ThreadPool one_thread{1};
  CancelFlag never;
  Progress silent;
  Context context{one_thread, never, silent};
  CenterInput input =
      noisy_rows(uniform_ball(20, 0.03), parallel_scan(48, 1, 40), parallel_scan(48, 1, 40), 1, 0, 1, {}, one_thread);
  PhasePlan phase{32, 16, 4, 4};

  std::vector<std::pair<const char*, std::function<void()>>> all() {
    return {{"ramp filter", [] { RampFilter(64, {}); }},
            {"phase", [this] { PhaseTransform transform(phase); }},
            {"wedge", [this] { make_wedge_score(input, context); }},
            {"sharpness", [this] { make_sharpness_score(input, 23, context); }}};
  }
};

TEST(FftwPlanner, EveryoneWaitsForTheLock) {
  Planners planners;
  for (const auto& [name, plan] : planners.all()) {
    auto lock = lock_fftw_planner();
    auto planned = std::async(std::launch::async, plan);
    EXPECT_EQ(planned.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout) << name;
    lock.unlock();
    planned.get();
  }
}

TEST(FftwPlanner, NoMemoryForAPlanIsAnExceptionThatLeavesTheLockFree) {
  EXPECT_THROW((void)lock_fftw_planner_with_room(std::int64_t{1} << 56), std::bad_alloc);
  EXPECT_TRUE(lock_fftw_planner_with_room(64).owns_lock());
}

TEST(FftwPlanner, TwoThreadsPlanAtOnce) {
  Planners here, there;
  const auto often = [](Planners& planners) {
    for (int i = 0; i < 10; ++i)
      for (const auto& [name, plan] : planners.all()) plan();
  };
  auto other = std::async(std::launch::async, [&] { often(there); });
  often(here);
  other.get();
}

}  // namespace
}  // namespace lepus
