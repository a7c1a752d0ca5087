// SPDX-License-Identifier: Apache-2.0
// How many fp32 multiply-adds a second the SIMD units can do, every thread of the pool at work.
#include "measure/limits_parts.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "backend/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/multiply_add.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "core/format.h"
#include "measure/clock.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::measure {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Runs `rounds` steps of twelve chains that do not depend on each other; returns how far any lane is from 2.
double chains_of_multiply_adds(std::int64_t rounds) {
  const hn::ScalableTag<float> d;
  const auto half = hn::Set(d, 0.5f), one = hn::Set(d, 1.0f);
  auto a = hn::Iota(d, 1.0f), b = hn::Iota(d, 3.0f), c = hn::Iota(d, 5.0f), e = hn::Iota(d, 7.0f),
       f = hn::Iota(d, 9.0f), g = hn::Iota(d, 11.0f), h = hn::Iota(d, 13.0f), i = hn::Iota(d, 15.0f),
       j = hn::Iota(d, 17.0f), k = hn::Iota(d, 19.0f), l = hn::Iota(d, 21.0f), m = hn::Iota(d, 23.0f);
  for (std::int64_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, half, one);
    b = hn::MulAdd(b, half, one);
    c = hn::MulAdd(c, half, one);
    e = hn::MulAdd(e, half, one);
    f = hn::MulAdd(f, half, one);
    g = hn::MulAdd(g, half, one);
    h = hn::MulAdd(h, half, one);
    i = hn::MulAdd(i, half, one);
    j = hn::MulAdd(j, half, one);
    k = hn::MulAdd(k, half, one);
    l = hn::MulAdd(l, half, one);
    m = hn::MulAdd(m, half, one);
  }
  const auto two = hn::Set(d, 2.0f);
  auto worst = hn::Zero(d);
  for (const auto& chain : {a, b, c, e, f, g, h, i, j, k, l, m}) worst = hn::Max(worst, hn::Abs(hn::Sub(chain, two)));
  return static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, worst)));
}

int float_lanes() { return static_cast<int>(hn::Lanes(hn::ScalableTag<float>())); }
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::measure {

HWY_EXPORT(chains_of_multiply_adds);
HWY_EXPORT(float_lanes);
HWY_EXPORT(target_name);

void measure_multiply_adds(Limits& limits, bool quick, ThreadPool& threads) {
  limits.simd = HWY_DYNAMIC_DISPATCH(target_name)();
  limits.simd_lanes = HWY_DYNAMIC_DISPATCH(float_lanes)();
  // Pieces of some milliseconds, several for each thread: who is held up leaves its share to the others.
  const std::int64_t pieces = 8 * std::int64_t{threads.size()}, rounds = quick ? 200000 : 1000000;
  std::vector<double> errors(static_cast<std::size_t>(pieces));
  const double taken = best_seconds(quick ? 3 : 5, [&] {
    threads.parallel_for(0, pieces, 1, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = first; i < last; ++i)
        errors[static_cast<std::size_t>(i)] = HWY_DYNAMIC_DISPATCH(chains_of_multiply_adds)(rounds);
    });
  });
  const double work = 1e-9 * static_cast<double>(pieces) * static_cast<double>(rounds) *
                      static_cast<double>(multiply_add_chains * limits.simd_lanes);
  limits.figures.push_back(machine_figure("fp32 multiply-add", taken, work, "G/s",
                                          std::accumulate(errors.begin(), errors.end(), 0.0, worse_error),
                                          "distance from the known result"));
  limits.figures.back().note =
      format("{}, {} lanes of {}", thread_text(threads.size()), limits.simd_lanes, limits.simd);
  limits.multiply_adds = limits.figures.back().rate();
}

}  // namespace lepus::measure
#endif
