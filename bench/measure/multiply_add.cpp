// SPDX-License-Identifier: Apache-2.0
// How many fp32 multiply-adds a second the SIMD units can do, every thread of the pool at work.
#include "bench/measure/limits_parts.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/measure/multiply_add.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "core/format.h"
#include "bench/measure/clock.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::measure {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using VF = hn::Vec<Floats>;  // perhaps of a length known only at run time: there are no arrays or lists of these

// Chains that do not depend on each other: enough to hide the latency of every pipe (a Neoverse-V2 has four of four
// cycles, an A64FX two of nine), as far as the registers hold them all, two constants and a product.
constexpr std::size_t chains = HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) ? 20 : 12;

// Two steps of a chain are x + 3 x = 4 x and 4 x - 5/4 (4 x) = -x, exactly. The chain is a factor and the addend: x86's
// fused multiply-add overwrites any of its operands, ARM's only the addend, and no register should have to be moved.
// After an odd number of rounds: how far the lanes of all chains together are from minus their start.
template <class... Chains>
HWY_INLINE double run_chains(std::int64_t odd_rounds, Chains... x) {
  const Floats d;
  const VF three = hn::Set(d, 3.0f), five_quarters = hn::Set(d, 1.25f);
  float start = 1;
  ((x = hn::Iota(d, start), start += 2), ...);
  for (std::int64_t round = 0; round < odd_rounds; ++round) {
    ((x = hn::MulAdd(x, three, x)), ...);
    ((x = hn::NegMulAdd(x, five_quarters, x)), ...);
  }
  VF distance = hn::Zero(d);
  start = 1;
  ((distance = hn::Add(distance, hn::Abs(hn::Add(x, hn::Iota(d, start)))), start += 2), ...);
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, distance)));
}
template <std::size_t... chain>
HWY_INLINE double run_chains_numbered(std::int64_t odd_rounds, std::index_sequence<chain...>) {
  return run_chains(odd_rounds, (static_cast<void>(chain), hn::Zero(Floats()))...);
}

double chains_of_multiply_adds(std::int64_t odd_rounds) {
  return run_chains_numbered(odd_rounds, std::make_index_sequence<chains>());
}

int multiply_adds_per_round() { return 2 * static_cast<int>(chains * hn::Lanes(Floats())); }
int float_lanes() { return static_cast<int>(hn::Lanes(Floats())); }
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::measure {

HWY_EXPORT(chains_of_multiply_adds);
HWY_EXPORT(multiply_adds_per_round);
HWY_EXPORT(float_lanes);
HWY_EXPORT(target_name);

void measure_multiply_adds(Limits& limits, bool quick, ThreadPool& threads) {
  limits.simd = HWY_DYNAMIC_DISPATCH(target_name)();
  limits.simd_lanes = HWY_DYNAMIC_DISPATCH(float_lanes)();
  // Pieces of some milliseconds, several for each thread: who is held up leaves its share to the others.
  const std::int64_t pieces = 8 * std::int64_t{threads.size()}, odd_rounds = quick ? 50001 : 250001;
  std::vector<double> errors(static_cast<std::size_t>(pieces));
  const double taken = best_seconds(quick ? 3 : 5, [&] {
    threads.parallel_for(0, pieces, 1, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = first; i < last; ++i)
        errors[static_cast<std::size_t>(i)] = HWY_DYNAMIC_DISPATCH(chains_of_multiply_adds)(odd_rounds);
    });
  });
  const double work = 1e-9 * static_cast<double>(pieces) * static_cast<double>(odd_rounds) *
                      HWY_DYNAMIC_DISPATCH(multiply_adds_per_round)();
  limits.figures.push_back(machine_figure("fp32 multiply-add", taken, work, "G/s",
                                          std::accumulate(errors.begin(), errors.end(), 0.0, worse_error),
                                          "distance from the known result"));
  limits.figures.back().note =
      format("{}, {} lanes of {}", thread_text(threads.size()), limits.simd_lanes, limits.simd);
  limits.multiply_adds = limits.figures.back().rate();
}

}  // namespace lepus::measure
#endif
