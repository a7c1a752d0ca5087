// SPDX-License-Identifier: Apache-2.0
// Inner loops of the filters, compiled once per SIMD target. Lanes run along u.
#if defined(LEPUS_CORRECT_FILTERS_ROW_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_CORRECT_FILTERS_ROW_KERNELS_INL_H_
#undef LEPUS_CORRECT_FILTERS_ROW_KERNELS_INL_H_
#else
#define LEPUS_CORRECT_FILTERS_ROW_KERNELS_INL_H_
#endif

#include <cstdint>

#include "device/host/band_kernels/row_kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::filters {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Bits = hn::RebindToUnsigned<Floats>;
using VF = hn::Vec<Floats>;
using Counts = hn::CappedTag<std::uint16_t, 32>;

inline void weighted_sum(const float* const* HWY_RESTRICT rows, const float* HWY_RESTRICT weights, std::int64_t count,
                         float* HWY_RESTRICT out, std::int64_t n) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + 4 * lanes <= n; x += 4 * lanes) {
    VF a = hn::Zero(d), b = a, c = a, e = a;
    for (std::int64_t k = 0; k < count; ++k) {
      const VF weight = hn::Set(d, weights[k]);
      const float* HWY_RESTRICT row = rows[k] + x;
      a = hn::MulAdd(weight, hn::LoadU(d, row), a);
      b = hn::MulAdd(weight, hn::LoadU(d, row + lanes), b);
      c = hn::MulAdd(weight, hn::LoadU(d, row + 2 * lanes), c);
      e = hn::MulAdd(weight, hn::LoadU(d, row + 3 * lanes), e);
    }
    hn::StoreU(a, d, out + x);
    hn::StoreU(b, d, out + x + lanes);
    hn::StoreU(c, d, out + x + 2 * lanes);
    hn::StoreU(e, d, out + x + 3 * lanes);
  }
  for (; x + lanes <= n; x += lanes) {
    VF sum = hn::Zero(d);
    for (std::int64_t k = 0; k < count; ++k) sum = hn::MulAdd(hn::Set(d, weights[k]), hn::LoadU(d, rows[k] + x), sum);
    hn::StoreU(sum, d, out + x);
  }
  for (; x < n; ++x) {
    float sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += weights[k] * rows[k][x];
    out[x] = sum;
  }
}

// 2^t for t in [-126, 0], relative error 2e-7; below, 2^-126. The whole part of t goes into the exponent, the rest,
// within half a unit, into a polynomial (minimax of the relative error, 7.5e-8 before rounding).
HWY_INLINE VF exp2_of(VF exponent) {
  const Floats d;
  const Bits bits;
  const VF t = hn::Max(exponent, hn::Set(d, -126.0f));
  const VF magic = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: its sum with t has the whole number in its lowest bits
  const VF shifted = hn::Add(t, magic);
  const VF f = hn::Sub(t, hn::Sub(shifted, magic));
  VF p = hn::Set(d, 0.00132764725f);
  p = hn::MulAdd(p, f, hn::Set(d, 0.00967554096f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.0555071309f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.240221202f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.693146944f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.00000012f));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, p), hn::ShiftLeft<23>(hn::BitCast(bits, shifted))));
}

// `Vectors` vectors of pixels from x on.
template <int Vectors>
HWY_INLINE void bilateral_block(const BilateralRow* HWY_RESTRICT rows, std::int64_t count,
                                const float* HWY_RESTRICT taps, std::int64_t tap_count, float falloff,
                                const float* HWY_RESTRICT centre, float* HWY_RESTRICT out, std::int64_t x) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF steep = hn::Set(d, falloff), zero = hn::Zero(d);
  const VF c0 = hn::LoadU(d, centre + x), c1 = Vectors > 1 ? hn::LoadU(d, centre + x + lanes) : c0;
  const VF c2 = Vectors > 2 ? hn::LoadU(d, centre + x + 2 * lanes) : c0;
  VF sum0 = zero, sum1 = zero, sum2 = zero, weight0 = zero, weight1 = zero, weight2 = zero;
  const auto add = [&](const float* HWY_RESTRICT at, VF exponent, VF c, VF& sum, VF& weights) HWY_ATTR {
    const VF difference = hn::Sub(hn::LoadU(d, at), c);
    const VF w = exp2_of(hn::NegMulAdd(hn::Mul(difference, difference), steep, exponent));
    sum = hn::MulAdd(w, difference, sum);
    weights = hn::Add(weights, w);
  };
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t k = 0; k < tap_count; ++k) {
      const float* HWY_RESTRICT at = rows[row].line + x + k;
      const VF exponent = hn::Set(d, rows[row].exponent + taps[k]);
      add(at, exponent, c0, sum0, weight0);
      if constexpr (Vectors > 1) add(at + lanes, exponent, c1, sum1, weight1);
      if constexpr (Vectors > 2) add(at + 2 * lanes, exponent, c2, sum2, weight2);
    }
  hn::StoreU(hn::Add(c0, hn::Div(sum0, weight0)), d, out + x);
  if constexpr (Vectors > 1) hn::StoreU(hn::Add(c1, hn::Div(sum1, weight1)), d, out + x + lanes);
  if constexpr (Vectors > 2) hn::StoreU(hn::Add(c2, hn::Div(sum2, weight2)), d, out + x + 2 * lanes);
}

inline void bilateral(const BilateralRow* rows, std::int64_t count, const float* taps, std::int64_t tap_count,
                      float falloff, const float* centre, float* out, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t x = 0;
  for (; x + 2 * lanes < n; x += 3 * lanes) bilateral_block<3>(rows, count, taps, tap_count, falloff, centre, out, x);
  for (; x < n; x += lanes) bilateral_block<1>(rows, count, taps, tap_count, falloff, centre, out, x);
}

inline void move_counts(std::uint16_t* HWY_RESTRICT counts, const std::uint16_t* HWY_RESTRICT enter,
                        const std::uint16_t* HWY_RESTRICT leave, std::int64_t n) {
  const Counts d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n; i += lanes) {
    const auto change = hn::Sub(hn::LoadU(d, enter + i), hn::LoadU(d, leave + i));
    hn::StoreU(hn::Add(hn::LoadU(d, counts + i), change), d, counts + i);
  }
}

inline std::int64_t nth_in_window(const std::uint16_t* HWY_RESTRICT xs, const std::uint16_t* HWY_RESTRICT ys,
                                  std::uint16_t x0, std::uint16_t y0, std::uint16_t span, std::int64_t k) {
  const Counts d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto vx = hn::Set(d, x0), vy = hn::Set(d, y0), width = hn::Set(d, span);
  // Differences wrap around: what lies left of the window is far right of it.
  for (std::int64_t i = 0;; i += lanes) {
    const auto from_x = hn::Sub(hn::LoadU(d, xs + i), vx), from_y = hn::Sub(hn::LoadU(d, ys + i), vy);
    const auto farther = hn::Max(from_x, from_y);
    const auto inside = hn::Eq(hn::Min(farther, width), farther);
    const auto found = static_cast<std::int64_t>(hn::CountTrue(d, inside));
    if (k >= found) {
      k -= found;
      continue;
    }
    std::uint64_t bits = 0;  // StoreMaskBits writes bytes, the lowest lane first
    alignas(8) std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, inside, bytes);
    for (int byte = 7; byte >= 0; --byte) bits = bits << 8 | bytes[byte];
    for (; k > 0; --k) bits &= bits - 1;
    return i + static_cast<std::int64_t>(hwy::Num0BitsBelowLS1Bit_Nonzero64(bits));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::filters
HWY_AFTER_NAMESPACE();
#endif
