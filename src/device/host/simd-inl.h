// SPDX-License-Identifier: Apache-2.0
// Vector pieces that both kernels use, compiled once per SIMD target. Lanes run along z, or along x where a piece of
// the slab has only a few slices.
#if defined(LEPUS_BACKEND_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_SIMD_INL_H_
#undef LEPUS_BACKEND_CPU_SIMD_INL_H_
#else
#define LEPUS_BACKEND_CPU_SIMD_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

// At most 8 lanes: what limits these kernels is the number of loads of 8 and 16 bytes, not arithmetic, and vectors of
// 16 that are put together from such loads were slower. The benchmark for 128 bits asks for 4.
#ifndef LEPUS_MAXIMUM_LANES
#define LEPUS_MAXIMUM_LANES 8
#endif
// Lanes, where the target fixes them. Highway's lower numbers are the better targets of a family; AVX3 is AVX-512.
#undef LEPUS_LANES
#undef LEPUS_X86
#undef LEPUS_NEON
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && LEPUS_MAXIMUM_LANES == 8
#define LEPUS_LANES 8
#elif (HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3) || HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_EMU128
#define LEPUS_LANES 4
#elif HWY_TARGET == HWY_SCALAR
#define LEPUS_LANES 1
#else
#define LEPUS_LANES 0  // known at run time
#endif
#define LEPUS_X86 (HWY_ARCH_X86 && LEPUS_LANES >= 4 && HWY_TARGET != HWY_EMU128)
#define LEPUS_NEON (HWY_TARGET == HWY_NEON)

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, LEPUS_MAXIMUM_LANES>;
using Ints = hn::RebindToSigned<Floats>;
using VF = hn::Vec<Floats>;
using VI = hn::Vec<Ints>;
using Doubles = hn::CappedTag<double, 4>;
using VD = hn::Vec<Doubles>;
static_assert(LEPUS_MAXIMUM_LANES <= whole_vectors);

// Coordinates are set up in double precision and kept in single.
HWY_INLINE void store_single(VD v, float* HWY_RESTRICT out) {
  const hn::Rebind<float, Doubles> single;
  hn::Store(hn::DemoteTo(single, v), single, out);
}
HWY_INLINE void store_whole(VD v, std::int32_t* HWY_RESTRICT out) {
  const hn::Rebind<std::int32_t, Doubles> single;
  hn::Store(hn::DemoteTo(single, v), single, out);
}

// Voxel columns up to whole vectors of floats, which hold as many lanes as those of doubles or more.
HWY_INLINE int whole_count(int columns) {
  const int lanes = std::max(4, static_cast<int>(hn::Lanes(Floats())));
  return (columns + lanes - 1) / lanes * lanes;
}

// Whole numbers, |v| < 2^31, as integers (others are cut off towards zero). Highway's ConvertTo repairs overflow on
// x86, which costs three more instructions; the coordinates here are bounded before.
HWY_INLINE VI whole(VF v) {
#if LEPUS_X86 && LEPUS_LANES == 4
  return VI{_mm_cvttps_epi32(v.raw)};
#elif LEPUS_X86 && LEPUS_LANES == 8
  return VI{_mm256_cvttps_epi32(v.raw)};
#else
  return hn::ConvertTo(Ints(), v);
#endif
}

#if LEPUS_LANES == 4 || LEPUS_LANES == 8
using Quads = hn::FixedTag<float, 4>;
using Quad = hn::Vec<Quads>;

// p[0], p[1], q[0], q[1]
HWY_INLINE Quad two_pairs(const float* HWY_RESTRICT p, const float* HWY_RESTRICT q) {
#if LEPUS_X86
  return Quad{_mm_loadh_pi(_mm_castsi128_ps(_mm_loadu_si64(p)), reinterpret_cast<const __m64*>(q))};
#else
  const hn::FixedTag<float, 2> d2;
  return hn::Combine(Quads(), hn::LoadU(d2, q), hn::LoadU(d2, p));
#endif
}

#if LEPUS_NEON
// sum + x times one lane of the factors, which costs no broadcast.
template <int lane>
HWY_INLINE Quad mul_add_lane(Quad sum, Quad x, Quad factors) {
  return Quad{vfmaq_laneq_f32(sum.raw, x.raw, factors.raw, lane)};
}

// Two whole numbers of a vector that was stored just before: a Neoverse-N1 forwards a stored vector to loads of eight
// bytes, but lets loads of four wait until it is in the cache.
struct TwoOffsets {
  std::int64_t both;
  explicit HWY_INLINE TwoOffsets(const std::int32_t* p) { std::memcpy(&both, p, sizeof both); }
  HWY_INLINE std::int64_t first() const { return static_cast<std::int32_t>(both); }
  HWY_INLINE std::int64_t second() const { return both >> 32; }
};
#endif

// a = p[at[i]], b = p[at[i] + 1] in lane i: two neighbours come with one load.
HWY_INLINE void four_pairs(const float* HWY_RESTRICT p, const std::int32_t* HWY_RESTRICT at, Quad& a, Quad& b) {
  const Quads d;
  const Quad low = two_pairs(p + at[0], p + at[1]), high = two_pairs(p + at[2], p + at[3]);
  a = hn::ConcatEven(d, high, low);
  b = hn::ConcatOdd(d, high, low);
}
#endif

HWY_INLINE void fetch_pairs(const float* HWY_RESTRICT p, const std::int32_t* HWY_RESTRICT at, VF& a, VF& b) {
#if LEPUS_LANES == 4
  four_pairs(p, at, a, b);
#elif LEPUS_LANES == 8
  const Floats d;
  Quad a0, a1, b0, b1;
  four_pairs(p, at, a0, b0);
  four_pairs(p, at + 4, a1, b1);
  a = hn::Combine(d, a1, a0);
  b = hn::Combine(d, b1, b0);
#else
  const Floats d;
  const VI offset = hn::Load(Ints(), at);
  a = hn::GatherIndex(d, p, offset);
  b = hn::GatherIndex(d, p + 1, offset);
#endif
}

// p[at[i]] and its neighbour p[at[i] + 1], blended, in lane i; `at` may have been stored just before.
HWY_INLINE VF blended_pairs(const float* HWY_RESTRICT p, const std::int32_t* HWY_RESTRICT at, VF fraction) {
  VF low, high;
#if LEPUS_NEON
  const Floats d;
  const TwoOffsets left(at), right(at + 2);
  const Quad a = two_pairs(p + left.first(), p + left.second()), b = two_pairs(p + right.first(), p + right.second());
  low = hn::ConcatEven(d, b, a);
  high = hn::ConcatOdd(d, b, a);
#else
  fetch_pairs(p, at, low, high);
#endif
  return hn::MulAdd(fraction, hn::Sub(high, low), low);
}

#if LEPUS_LANES == 4 || LEPUS_LANES == 8
// p[0], p[1], p[0], p[1], and from p + 4 on the same in the second block. On x86 the load does it.
HWY_INLINE VF load_pairs_twice(const float* HWY_RESTRICT p) {
#if LEPUS_X86 && LEPUS_LANES == 4
  return VF{_mm_castpd_ps(_mm_movedup_pd(_mm_castsi128_pd(_mm_loadu_si64(p))))};
#elif LEPUS_X86
  return VF{_mm256_castpd_ps(_mm256_movedup_pd(_mm256_loadu_pd(reinterpret_cast<const double*>(p))))};
#else
  const hn::FixedTag<float, 2> d2;
  const auto pair = hn::LoadU(d2, p);
  return hn::Combine(Quads(), pair, pair);
#endif
}
#endif

// What comes next: the part of some views that will be read soon, brought towards the processor bit by bit while other
// work goes on. Views come from main memory or the shared cache, where a wait is hundreds of cycles long.
struct Preview {
  const ViewBand* bands = nullptr;
  int views = 0;
  PixelBox box;
};
// Fetches part `part` of `parts`.
HWY_INLINE void prefetch(const Job& job, const Preview& next, std::int64_t part, std::int64_t parts) {
  const std::int64_t first = std::max<std::int64_t>(next.box.columns.first, 0);
  const std::int64_t columns = std::min(next.box.columns.last + 1, job.columns) - first;
  if (next.views == 0 || columns <= 0) return;
  const std::int64_t begin = first + columns * part / parts, end = first + columns * (part + 1) / parts;
  for (int view = 0; view < next.views; ++view) {
    const ViewBand& band = next.bands[view];
    const std::int64_t from = std::max(next.box.rows.first - band.first_row, std::int64_t{0});
    const std::int64_t to = std::min(next.box.rows.last + 1 - band.first_row, band.rows);
    for (std::int64_t c = begin; c < end; ++c)
      for (std::int64_t r = from; r < to; r += 16) hwy::Prefetch(band.data + c * job.wedge->row_stride + r);
  }
}

// The voxels of a piece in column `at` of the slab.
HWY_INLINE float* voxels_of(const Job& job, const Piece& piece, ColumnIndex at) {
  return job.slab.data + (at.y * job.grid.nx + at.x) * job.slab.z_stride + (piece.first_slice - job.slab.z0);
}
// The sums of one voxel column, slices side by side.
HWY_INLINE void add_to_slab(const Job& job, const Piece& piece, ColumnIndex at, const float* HWY_RESTRICT sums) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  float* HWY_RESTRICT voxels = voxels_of(job, piece, at);
  std::int64_t z = piece.first;
  for (; z + lanes <= piece.last; z += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, voxels + z), hn::LoadU(d, sums + z)), d, voxels + z);
  for (; z < piece.last; ++z) voxels[z] += sums[z];
}

// The sums of a few slices of `count` voxel columns from `start` on, along x or along y, turned `times` times.
HWY_INLINE void add_row_to_slab(const Job& job, const Piece& piece, const SumPlaces& place, ColumnIndex start,
                                bool along_y, std::int64_t count, int group, int times,
                                const float* HWY_RESTRICT sums) {
  const std::int64_t dx = along_y ? 0 : 1, dy = along_y ? 1 : 0;
  float* HWY_RESTRICT out = voxels_of(job, piece, turned(start, job.grid, group, times));
  const ColumnIndex next{start.x + dx, start.y + dy};
  const std::int64_t step = voxels_of(job, piece, turned(next, job.grid, group, times)) - out;
  const std::int64_t apart = place(dx, dy, piece.first);
  for (std::int64_t z = piece.first; z < piece.last; ++z) {
    const float* HWY_RESTRICT in = sums + place(start.x - piece.x0, start.y - piece.y0, z, times);
    for (std::int64_t i = 0; i < count; ++i) out[i * step + z] += in[i * apart];
  }
}

// Keys' weights (project/interpolate.h: cubic_weights) for a vector of fractions.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void cubic_weights(D d, V f, V& a, V& b, V& c, V& e) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1)), h = hn::Mul(hn::Set(d, T(0.5)), f), g = hn::Sub(one, f), hg = hn::Mul(h, g);
  a = hn::Neg(hn::Mul(hg, g));
  b = hn::MulAdd(hn::Mul(f, f), hn::MulAdd(hn::Set(d, T(1.5)), f, hn::Set(d, T(-2.5))), one);
  c = hn::Mul(h, hn::MulAdd(f, hn::MulAdd(hn::Set(d, T(-3)), f, hn::Set(d, T(4))), one));
  e = hn::Neg(hn::Mul(hg, f));
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
