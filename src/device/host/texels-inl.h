// SPDX-License-Identifier: Apache-2.0
// The inner loops of upright-inl.h, compiled once per SIMD target: walking down texels. A vector holds the slices of
// one voxel column, or the voxel columns of a row in one slice: the loops ask Lanes (SlicesOfColumn or ColumnsOfRow)
// what belongs to each. Their sums: group 4: four turned voxels side by side for each; otherwise the first voxels side
// by side, then the second ones.
#if defined(LEPUS_BACKEND_CPU_TEXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_TEXELS_INL_H_
#undef LEPUS_BACKEND_CPU_TEXELS_INL_H_
#else
#define LEPUS_BACKEND_CPU_TEXELS_INL_H_
#endif

#include <algorithm>

#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "project/interpolate.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// The paths of a row of voxel columns over the detector, each for a whole chunk (see Frame).
struct Paths {
  static constexpr std::int64_t step_ahead = 16;
  using Each = float[largest_tile + step_ahead];
  alignas(64) Each s;          // 1 / w relative to the tile's middle
  alignas(64) Each u;          // set where coordinates are clamped
  alignas(64) Each v;          // in the chunk's middle
  alignas(64) Each dv;         // per slice
  alignas(64) Each weight[4];  // of the taps in u, times 1/w^2
  // The first column's weight is never zero (its tap is the floor of u), so that the second's can be a ratio to it and
  // the sum be weighted once.
  alignas(64) Each ratio;
  alignas(64) Each corner;  // texel of the first taps in the frame's first row, a whole number
};

// Slices counted from the chunk's middle; some more, for steps ahead.
struct SliceNumbers {
  alignas(64) float dz[chunk + Paths::step_ahead];
};
constexpr SliceNumbers slice_numbers = [] {
  SliceNumbers s{};
  for (std::int64_t z = 0; z < chunk + Paths::step_ahead; ++z) s.dz[z] = static_cast<float>(z - chunk / 2);
  return s;
}();

// Vectors along z: slices share the path of their voxel column. The walk starts at the path's own corner.
class SlicesOfColumn {
public:
  static constexpr std::int64_t width = chunk;
  static constexpr bool looks_ahead = true;  // the next column's texels and sums are brought meanwhile
  static constexpr bool weighs_rows = false;

  HWY_INLINE SlicesOfColumn(const Paths& p, int k) : v_(p.v[k]), dv_(p.dv[k]), ratio_(p.ratio[k]) {
    for (int column = 0; column < 4; ++column) weight_[column] = p.weight[column][k];
  }
  HWY_INLINE VF dz(std::int64_t i) const { return hn::Load(Floats(), slice_numbers.dz + i); }
  HWY_INLINE VF v() const { return hn::Set(Floats(), v_); }
  HWY_INLINE VF dv() const { return hn::Set(Floats(), dv_); }
  HWY_INLINE VF weights(int column, std::int64_t) const { return hn::Set(Floats(), weight_[column]); }
  HWY_INLINE VF ratios(std::int64_t) const { return hn::Set(Floats(), ratio_); }
  HWY_INLINE float weight(int column, std::int64_t) const { return weight_[column]; }
  HWY_INLINE float ratio(std::int64_t) const { return ratio_; }

private:
  float v_, dv_, ratio_, weight_[4];
};

// Vectors along a row: every voxel column has a path of its own, and they share the slice.
class ColumnsOfRow {
public:
  static constexpr std::int64_t width = largest_tile;
  static constexpr bool looks_ahead = false;
  static constexpr bool weighs_rows = true;  // the steps have the weights of rows, where a group of four wants them

  explicit HWY_INLINE ColumnsOfRow(const Paths& p) : p_(p) {}
  HWY_INLINE VF weights(int column, std::int64_t i) const { return hn::Load(Floats(), p_.weight[column] + i); }
  HWY_INLINE VF ratios(std::int64_t i) const { return hn::Load(Floats(), p_.ratio + i); }
  HWY_INLINE float weight(int column, std::int64_t i) const { return p_.weight[column][i]; }
  HWY_INLINE float ratio(std::int64_t i) const { return p_.ratio[i]; }

private:
  const Paths& p_;
};

// The way down the texels: for each of `begin` to `end` the first tap, in floats from the walk's start, and how far
// beyond it v is; or instead the weights of the two rows in the first column, made for a vector of voxel columns at
// once.
struct Steps {
  alignas(64) std::int32_t offset[chunk];
  alignas(64) float fraction[chunk];
  alignas(64) float near_row[chunk];
  alignas(64) float far_row[chunk];
};
// Where steps have the weights of rows.
template <Interpolation kind, int group>
constexpr bool row_weights = LEPUS_LANES >= 8 && kind != Interpolation::cubic&& group == 4;
struct Walk {
  const float* texels;
  float* sums;
};

// Floats per texel.
constexpr int texel_size(Interpolation kind, int group) {
  return group > 1 ? group : kind == Interpolation::cubic ? 4 : 2;
}

#if LEPUS_LANES != 4 && LEPUS_LANES != 8
// Four floats where vectors have another length.
struct Quad {
  float lane[4];
};
HWY_INLINE Quad load4(const float* p) { return {{p[0], p[1], p[2], p[3]}}; }
HWY_INLINE Quad load_aligned4(const float* p) { return load4(p); }
HWY_INLINE void store4(Quad a, float* p) {
  for (int i = 0; i < 4; ++i) p[i] = a.lane[i];
}
HWY_INLINE Quad set4(float a) { return {{a, a, a, a}}; }
HWY_INLINE Quad mul4(Quad a, Quad b) {
  return {{a.lane[0] * b.lane[0], a.lane[1] * b.lane[1], a.lane[2] * b.lane[2], a.lane[3] * b.lane[3]}};
}
HWY_INLINE Quad add4(Quad a, Quad b) {
  return {{a.lane[0] + b.lane[0], a.lane[1] + b.lane[1], a.lane[2] + b.lane[2], a.lane[3] + b.lane[3]}};
}
HWY_INLINE Quad sub4(Quad a, Quad b) {
  return {{a.lane[0] - b.lane[0], a.lane[1] - b.lane[1], a.lane[2] - b.lane[2], a.lane[3] - b.lane[3]}};
}
HWY_INLINE Quad mul_add4(Quad a, Quad b, Quad c) { return add4(mul4(a, b), c); }
template <int lane>
HWY_INLINE Quad broadcast4(Quad a) {
  return set4(a.lane[lane]);
}
#else
HWY_INLINE Quad load4(const float* HWY_RESTRICT p) { return hn::LoadU(Quads(), p); }
HWY_INLINE Quad load_aligned4(const float* HWY_RESTRICT p) { return hn::Load(Quads(), p); }
HWY_INLINE void store4(Quad a, float* HWY_RESTRICT p) { hn::Store(a, Quads(), p); }
HWY_INLINE Quad set4(float a) { return hn::Set(Quads(), a); }
HWY_INLINE Quad mul4(Quad a, Quad b) { return hn::Mul(a, b); }
HWY_INLINE Quad add4(Quad a, Quad b) { return hn::Add(a, b); }
HWY_INLINE Quad sub4(Quad a, Quad b) { return hn::Sub(a, b); }
HWY_INLINE Quad mul_add4(Quad a, Quad b, Quad c) { return hn::MulAdd(a, b, c); }
template <int lane>
HWY_INLINE Quad broadcast4(Quad a) {
#if LEPUS_X86
  return Quad{_mm_castsi128_ps(_mm_shuffle_epi32(_mm_castps_si128(a.raw), lane * 0x55))};
#else
  return hn::Broadcast<lane>(a);
#endif
}
#endif

#if LEPUS_LANES == 4 || LEPUS_LANES == 8
// Four floats at each of the places from `at` on, for group 2 with `ratio` times the second column's, turned so that
// each of the four fills a vector.
template <int group, class Lanes>
HWY_INLINE void fetch_four(const Lanes& lanes, const Steps& steps, std::int64_t at, const float* HWY_RESTRICT texels,
                           std::int64_t stride, VF& s0, VF& s1, VF& s2, VF& s3) {
  const Floats d;
  const hn::Repartition<double, Floats> pairs;
  const auto four = [&](std::int64_t i) HWY_ATTR {
    const float* p = texels + steps.offset[i];
    if constexpr (group == 1) return load4(p);
    return mul_add4(set4(lanes.ratio(i)), load4(p + stride), load4(p));
  };
  const auto fetch = [&](int i) HWY_ATTR {
#if LEPUS_LANES == 4
    return four(at + i);
#else
    return hn::Combine(d, four(at + i + 4), four(at + i));
#endif
  };
  const VF q0 = fetch(0), q1 = fetch(1), q2 = fetch(2), q3 = fetch(3);
  // 4 x 4 in every block of four lanes
  const auto t0 = hn::BitCast(pairs, hn::InterleaveLower(d, q0, q1)),
             t1 = hn::BitCast(pairs, hn::InterleaveLower(d, q2, q3));
  const auto t2 = hn::BitCast(pairs, hn::InterleaveUpper(d, q0, q1)),
             t3 = hn::BitCast(pairs, hn::InterleaveUpper(d, q2, q3));
  s0 = hn::BitCast(d, hn::InterleaveLower(pairs, t0, t1));
  s1 = hn::BitCast(d, hn::InterleaveUpper(pairs, t0, t1));
  s2 = hn::BitCast(d, hn::InterleaveLower(pairs, t2, t3));
  s3 = hn::BitCast(d, hn::InterleaveUpper(pairs, t2, t3));
}
#endif

// Groups of one or two: all lanes belong to one voxel of the group.
template <int group, class Lanes>
HWY_INLINE void add_small_group(const Lanes& lanes, const Steps& steps, std::int64_t begin, std::int64_t end,
                                std::int64_t stride, const float* HWY_RESTRICT texels, float* HWY_RESTRICT sums) {
#if LEPUS_LANES == 4 || LEPUS_LANES == 8
  const Floats d;
  for (std::int64_t z = begin; z < end; z += LEPUS_LANES) {
    const VF a = lanes.weights(0, z), ratio = lanes.ratios(z), f = hn::Load(d, steps.fraction + z);
    VF s0, s1, s2, s3;
    fetch_four<group>(lanes, steps, z, texels, stride, s0, s1, s2, s3);
    if constexpr (group == 2) {  // rows 0, 1 of voxel 0 are s0, s2; of voxel 1 s1, s3
      const VF first = hn::MulAdd(f, hn::Sub(s2, s0), s0), second = hn::MulAdd(f, hn::Sub(s3, s1), s1);
      hn::Store(hn::MulAdd(a, first, hn::Load(d, sums + z)), d, sums + z);
      float* HWY_RESTRICT others = sums + Lanes::width;
      hn::Store(hn::MulAdd(a, second, hn::Load(d, others + z)), d, others + z);
    } else {  // columns 0, 1 of row 0 are s0, s1; of row 1 s2, s3
      const VF first = hn::MulAdd(ratio, s1, s0), second = hn::MulAdd(ratio, s3, s2);
      const VF value = hn::MulAdd(f, hn::Sub(second, first), first);
      hn::Store(hn::MulAdd(a, value, hn::Load(d, sums + z)), d, sums + z);
    }
  }
#else
  for (std::int64_t z = begin; z < end; ++z) {
    const float *p = texels + steps.offset[z], f = steps.fraction[z], a = lanes.weight(0, z), b = lanes.weight(1, z);
    for (int j = 0; j < group; ++j) {
      const float *q = p + j, *next = group == 2 ? q + stride : q + 1;
      const float first = next[0] * b + q[0] * a, second = next[2] * b + q[2] * a;
      sums[j * Lanes::width + z] += f * (second - first) + first;
    }
  }
#endif
}

// walk->sums[z] += the picture at walk->texels[offset[z]] + fraction, in two columns of the lanes' weights. What the
// next walk will read is fetched into the L1 cache meanwhile, at the same offsets.
template <int group, class Lanes>
HWY_INLINE void add_linear(const Lanes& lanes, const Steps& steps, std::int64_t begin, std::int64_t end,
                           std::int64_t stride, const Walk* walk) {
  const std::int32_t* HWY_RESTRICT offset = steps.offset;
  const float* HWY_RESTRICT fraction = steps.fraction;
  const float* HWY_RESTRICT texels = walk[0].texels;
  float* HWY_RESTRICT sums = walk[0].sums;
  constexpr int voxels = group == 4 ? 4 : 1;
  const auto look_ahead = [&](std::int64_t z) HWY_ATTR {
    if constexpr (!Lanes::looks_ahead) return;
    hwy::Prefetch(walk[1].texels + offset[z]);
    if (group > 1) hwy::Prefetch(walk[1].texels + offset[z] + stride);
  };
  if constexpr (Lanes::looks_ahead)
    for (std::int64_t z = voxels * begin; z < voxels * end; z += 16) hwy::Prefetch(walk[1].sums + z);
  if constexpr (group == 4) {
#if LEPUS_LANES >= 8
    // Both rows in one load; their sum is taken for two slices together.
    const hn::FixedTag<float, 8> d;
    const auto weighted = [&](std::int64_t z) HWY_ATTR {
      const float* p = texels + offset[z];
      const auto x = hn::MulAdd(hn::Set(d, lanes.ratio(z)), hn::LoadU(d, p + stride), hn::LoadU(d, p));
      if constexpr (Lanes::weighs_rows)
        return hn::Mul(x, hn::ConcatUpperLower(d, hn::Set(d, steps.far_row[z]), hn::Set(d, steps.near_row[z])));
      const float a = lanes.weight(0, z);
      const auto constant = hn::ConcatLowerLower(d, hn::Zero(d), hn::Set(d, a));
      const auto slope = hn::ConcatLowerLower(d, hn::Set(d, a), hn::Set(d, -a));
      return hn::Mul(x, hn::MulAdd(slope, hn::Set(d, fraction[z]), constant));
    };
    for (std::int64_t z = begin; z < end; z += 2) {
      look_ahead(z);
      const auto xw = weighted(z), yw = weighted(z + 1);
      const auto both = hn::Add(hn::ConcatLowerLower(d, yw, xw), hn::ConcatUpperUpper(d, yw, xw));
      hn::Store(hn::Add(hn::Load(d, sums + 4 * z), both), d, sums + 4 * z);
    }
#else
    for (std::int64_t z = begin; z < end; z += 4) {
      const Quad f = load_aligned4(fraction + z);
      look_ahead(z);
      look_ahead(z + 2);
      const auto one = [&](int i, Quad fi) HWY_ATTR {
        const float *p = texels + offset[z + i], *q = p + stride;
        const Quad a = set4(lanes.weight(0, z + i)), ratio = set4(lanes.ratio(z + i));
        const Quad first = mul_add4(ratio, load_aligned4(q), load_aligned4(p));
        const Quad second = mul_add4(ratio, load_aligned4(q + 4), load_aligned4(p + 4));
        const Quad value = mul_add4(fi, sub4(second, first), first);
        store4(mul_add4(a, value, load_aligned4(sums + 4 * (z + i))), sums + 4 * (z + i));
      };
      one(0, broadcast4<0>(f));
      one(1, broadcast4<1>(f));
      one(2, broadcast4<2>(f));
      one(3, broadcast4<3>(f));
    }
#endif
  } else {
    for (std::int64_t z = begin; z < end; z += 4) look_ahead(z);
    add_small_group<group>(lanes, steps, begin, end, stride, texels, sums);
  }
}

// The same with four rows and four columns.
template <int group, class Lanes>
HWY_INLINE void add_cubic(const Lanes& lanes, const Steps& steps, std::int64_t begin, std::int64_t end,
                          std::int64_t stride, const Walk* walk) {
  const Floats d;
  alignas(64) float rows[4][chunk];
  for (std::int64_t z = begin; z < end; z += static_cast<std::int64_t>(hn::Lanes(d))) {
    VF a, b, c, e;
    cubic_weights(d, hn::Load(d, steps.fraction + z), a, b, c, e);
    hn::Store(a, d, rows[0] + z);
    hn::Store(b, d, rows[1] + z);
    hn::Store(c, d, rows[2] + z);
    hn::Store(e, d, rows[3] + z);
  }
  float* HWY_RESTRICT sums = walk->sums;
  for (std::int64_t z = begin; z < end; ++z) {
    alignas(16)
        const float weight[4] = {lanes.weight(0, z), lanes.weight(1, z), lanes.weight(2, z), lanes.weight(3, z)};
    Quad sum = group == 4 ? load_aligned4(sums + 4 * z) : set4(0.0f);
    const Quad a = set4(rows[0][z]), b = set4(rows[1][z]), c = set4(rows[2][z]), e = set4(rows[3][z]);
    for (int column = 0; column < (group == 4 ? 4 : 1); ++column) {
      const float* p = walk->texels + column * stride + steps.offset[z];
      const Quad along =
          mul_add4(e, load4(p + 12), mul_add4(c, load4(p + 8), mul_add4(b, load4(p + 4), mul4(a, load4(p)))));
      sum = mul_add4(group == 4 ? set4(weight[column]) : load4(weight), along, sum);
    }
    if constexpr (group == 4) {
      store4(sum, sums + 4 * z);
    } else {
      alignas(16) float columns[4];
      store4(sum, columns);
      sums[z] += (columns[0] + columns[1]) + (columns[2] + columns[3]);
    }
  }
}

// out[voxel * chunk + z] = sums[4 z + voxel]
HWY_INLINE void separate_voxels(const float* HWY_RESTRICT sums, std::int64_t begin, std::int64_t end,
                                float* HWY_RESTRICT out) {
#if LEPUS_LANES >= 4
  const Quads d;
  for (std::int64_t z = begin; z < end; z += 4) {
    const Quad a = load4(sums + 4 * z), b = load4(sums + 4 * z + 4);
    const Quad c = load4(sums + 4 * z + 8), e = load4(sums + 4 * z + 12);
    const Quad ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
    const Quad ce0 = hn::InterleaveLower(d, c, e), ce1 = hn::InterleaveUpper(d, c, e);
    hn::Store(hn::ConcatLowerLower(d, ce0, ab0), d, out + z);
    hn::Store(hn::ConcatUpperUpper(d, ce0, ab0), d, out + chunk + z);
    hn::Store(hn::ConcatLowerLower(d, ce1, ab1), d, out + 2 * chunk + z);
    hn::Store(hn::ConcatUpperUpper(d, ce1, ab1), d, out + 3 * chunk + z);
  }
#else
  for (std::int64_t z = begin; z < end; ++z)
    for (int voxel = 0; voxel < 4; ++voxel) out[voxel * chunk + z] = sums[4 * z + voxel];
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
