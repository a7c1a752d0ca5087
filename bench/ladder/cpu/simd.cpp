// SPDX-License-Identifier: Apache-2.0
// Step 3 on the CPU: the blocks of step 2 with a vector of neighbouring voxels of a line at once (Highway; the best
// target of the machine is chosen when it runs). The four taps of a lane lie anywhere: they are gathered, which is what
// bounds this step. Lines end in a masked vector.
#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/ladder/cpu/simd.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "bench/ladder/cpu/blocked.h"
#include "core/threads.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::ladder {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void simd_line(const Picture& picture, const VoxelLine& line, std::int64_t count, float* sums) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto columns = hn::Set(di, static_cast<std::int32_t>(picture.columns));
  for (std::int64_t i = 0; i < count; i += lanes) {
    // Lanes past the end would leave the picture: they repeat the last voxel and are not stored.
    const auto step = hn::Min(hn::Iota(d, static_cast<float>(i)), hn::Set(d, static_cast<float>(count - 1)));
    const auto w = hn::MulAdd(step, hn::Set(d, line.dw), hn::Set(d, line.w));
    const auto r = hn::Div(hn::Set(d, 1.0F), w);
    const auto u = hn::Mul(hn::MulAdd(step, hn::Set(d, line.du), hn::Set(d, line.u)), r);
    const auto v = hn::Mul(hn::MulAdd(step, hn::Set(d, line.dv), hn::Set(d, line.v)), r);
    const auto column = hn::ConvertTo(di, u), row = hn::ConvertTo(di, v);
    const auto a = hn::Sub(u, hn::ConvertTo(d, column)), b = hn::Sub(v, hn::ConvertTo(d, row));
    const auto offset = hn::Add(hn::Mul(row, columns), column);
    const float* const below = picture.pixels + picture.columns;
    const auto tap00 = hn::GatherIndex(d, picture.pixels, offset);
    const auto tap01 = hn::GatherIndex(d, picture.pixels + 1, offset);
    const auto tap10 = hn::GatherIndex(d, below, offset);
    const auto tap11 = hn::GatherIndex(d, below + 1, offset);
    const auto upper = hn::MulAdd(a, hn::Sub(tap01, tap00), tap00);
    const auto lower = hn::MulAdd(a, hn::Sub(tap11, tap10), tap10);
    const auto value = hn::MulAdd(b, hn::Sub(lower, upper), upper);
    const auto held = hn::FirstN(d, static_cast<std::size_t>(count - i));
    const auto sum = hn::MulAdd(value, hn::Mul(r, r), hn::MaskedLoad(held, d, sums + i));
    hn::BlendedStore(sum, held, d, sums + i);
  }
}

void simd_blocks(const Problem& problem, float* volume, ThreadPool& threads) {
  add_in_blocks(problem, volume, threads, simd_line);
}

const char* simd_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::ladder
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::ladder {

HWY_EXPORT(simd_blocks);
HWY_EXPORT(simd_target);

void cpu_simd(const Problem& problem, float* volume, ThreadPool& threads) {
  HWY_DYNAMIC_DISPATCH(simd_blocks)(problem, volume, threads);
}

std::string cpu_simd_target() { return HWY_DYNAMIC_DISPATCH(simd_target)(); }

}  // namespace lepus::ladder
#endif
