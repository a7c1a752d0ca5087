// SPDX-License-Identifier: Apache-2.0
// The first stage of fixed_point-inl.h, for NEON: where the voxel columns of a tile fall onto the detector, in whole
// numbers of 2^-23 pixels.
#if defined(LEPUS_BACKEND_CPU_FIXED_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_FIXED_LINES_INL_H_
#undef LEPUS_BACKEND_CPU_FIXED_LINES_INL_H_
#else
#define LEPUS_BACKEND_CPU_FIXED_LINES_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"

#if LEPUS_NEON
HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

constexpr double fixed_unit = 8388608;  // 2^23 in a pixel

// One coordinate of four voxel columns. dz = 4 i + lane slices from the chunk's middle it is
//   a + b lane + c lane^2 + (d + g lane) i + e i (i - 1) / 2   modulo 2^32.
struct FixedPaths {
  uint32x4_t a, b, c, d, g, e;
};

// i and i (i - 1) / 2 of the vector that starts at `slice` of the chunk.
struct VectorNumber {
  std::uint32_t i, pairs;
  explicit VectorNumber(std::int64_t slice) {
    const std::int64_t group = slice / 4 - chunk / 8;
    i = static_cast<std::uint32_t>(group);
    pairs = static_cast<std::uint32_t>(group * (group - 1) / 2);
  }
};

// Four numbers, each rounded to a whole one modulo 2^32: 1.5 * 2^52 is added, whose unit in the last place is one.
HWY_INLINE uint32x4_t rounded(float64x2_t low, float64x2_t high) {
  const float64x2_t large = vdupq_n_f64(6755399441055744.0);
  return vuzp1q_u32(vreinterpretq_u32_f64(vaddq_f64(low, large)), vreinterpretq_u32_f64(vaddq_f64(high, large)));
}

// One coordinate of two voxel columns in the chunk's middle, its step to four slices further, and how that changes.
struct Steps4 {
  float64x2_t at, step, change;
};
HWY_INLINE FixedPaths paths_of(const Steps4& low, const Steps4& high, std::uint32_t corner) {
  // All from the two steps that are taken again and again, so that these alone must be exact.
  const int32x4_t d = vreinterpretq_s32_u32(rounded(low.step, high.step));
  const int32x4_t e = vreinterpretq_s32_u32(rounded(low.change, high.change));
  const auto bits = [](int32x4_t v) HWY_ATTR { return vreinterpretq_u32_s32(v); };
  return {vsubq_u32(rounded(low.at, high.at), vdupq_n_u32(corner)),
          bits(vrshrq_n_s32(vsubq_s32(d, vshrq_n_s32(e, 1)), 2)),
          bits(vrshrq_n_s32(e, 5)),
          bits(d),
          bits(vrshrq_n_s32(e, 2)),
          bits(e)};
}

// A row of a tile's voxel columns, in the order of work.
struct FixedRow {
  // of the grid; past the end the last is repeated, so that whole vectors can be computed
  alignas(16) double x[largest_tile];
  alignas(16) double y[largest_tile];
  std::int64_t sums[largest_tile];  // where those of each start
  int count;
};
// Rows run along the axis that moves u less, and sideways along the other as far as u stays nearly the same: what
// neighbours in a row see is the same few columns of the detector, which stay in the L1 cache.
class FixedOrder {
public:
  FixedOrder(const Matrix34& m, const Piece& piece, const PixelBox& box, const SumPlaces& place)
      : order_(m, piece, box), piece_(piece), place_(place) {
    const double u = static_cast<double>((box.columns.first + box.columns.last) / 2);
    const double x = m(0, 0) - u * m(2, 0), y = m(0, 1) - u * m(2, 1);
    const double along = order_.along_y ? y : x, across = order_.along_y ? x : y;
    const auto rows = static_cast<double>(order_.rows);
    for (int k = 0; k < order_.lines; ++k) {
      const double sideways = piece.few() || across == 0 ? 0 : std::nearbyint(-along / across * k);
      aside_[k] = static_cast<std::int64_t>(sideways - rows * std::floor(sideways / rows));
    }
  }
  std::int64_t rows() const { return order_.rows; }
  void go_to(std::int64_t row, FixedRow& to) const {
    to.count = order_.lines;
    for (int k = 0; k < to.count; ++k) {
      std::int64_t across = row + aside_[k];
      if (across >= order_.rows) across -= order_.rows;
      const std::int64_t x = order_.along_y ? across : k, y = order_.along_y ? k : across;
      to.x[k] = static_cast<double>(piece_.x0 + x);
      to.y[k] = static_cast<double>(piece_.y0 + y);
      to.sums[k] = place_(x, y, piece_.few() ? piece_.first : 0);
    }
    for (int k = to.count; k < whole_count(to.count); ++k) to.x[k] = to.x[k - 1], to.y[k] = to.y[k - 1];
  }

private:
  LineOrder order_;
  const Piece& piece_;
  const SumPlaces& place_;
  std::int64_t aside_[largest_tile];
};

// Of a row, 1/w^2 = weight + weight1 dz.
struct FixedWeights {
  alignas(16) float weight[largest_tile];
  alignas(16) float weight1[largest_tile];
};

// The numbers that a row's voxel columns share, two of each in memory: what is added to must be copied, and a load
// takes no slot of the arithmetic.
struct Doubled {
  alignas(16) double both[2];

  void operator=(double v) { both[0] = both[1] = v; }
  HWY_INLINE float64x2_t operator()() const { return vld1q_f64(both); }
  HWY_INLINE float64x2_t addend() const {
    float64x2_t copy;
    asm volatile("ldr %q0, %1" : "=w"(copy) : "m"(both));
    return copy;
  }
};

// What a view's voxel columns share: the matrix, the box' corner, and how views are weighted.
struct FixedView {
  Doubled along_x[3], along_y[3], along_z[3], base[3];  // u and v in fixed_unit; base: in the chunk's middle
  Doubled four, weight, squared, second, weight1;       // see trace_two
  std::uint32_t corner_u, corner_v;

  FixedView(const Job& job, const Matrix34& m, double z, const PixelBox& box)
      : corner_u(static_cast<std::uint32_t>(box.columns.first) << 23),
        corner_v(static_cast<std::uint32_t>(box.rows.first) << 23) {
    for (int i = 0; i < 3; ++i) {
      const double unit = i < 2 ? fixed_unit : 1;
      along_x[i] = unit * m(i, 0);
      along_y[i] = unit * m(i, 1);
      along_z[i] = unit * m(i, 2);
      base[i] = unit * (m(i, 2) * z + m(i, 3));
    }
    four = 4.0;
    weight = job.weighted ? 0.0 : 1.0;  // weight + squared / w^2
    squared = job.weighted ? 1.0 : 0.0;
    second = 1.5 * (chunk / 2) * (chunk / 2);
    weight1 = job.beam == Beam::parallel || !job.weighted ? 0.0 : -2.0;
  }
  HWY_INLINE float64x2_t dot(int i, const FixedRow& row, int k) const {
    return vfmaq_f64(vfmaq_f64(base[i].addend(), along_y[i](), vld1q_f64(row.y + k)), along_x[i](),
                     vld1q_f64(row.x + k));
  }
};

// Two voxel columns. With r = 1 / w, t = m22 r, at = r (m_i . voxel), slope = r m_i2 - at t a coordinate is
//   at + slope dz (1 - t dz + t^2 dz^2),   where dz^3 is replaced as in trace_lines.
template <bool fan>
HWY_INLINE void trace_two(const FixedView& view, const FixedRow& row, int k, const double* inverse, Steps4& u,
                          Steps4& v, FixedWeights& weights) {
  const float64x2_t r = vld1q_f64(inverse + k), t = vmulq_f64(view.along_z[2](), r);
  // 4 - 16 t + 4 (3/4 h^2 t^2) and -32 t, with half a chunk h
  const float64x2_t third = vdupq_n_f64(3.0 * (chunk / 2) * (chunk / 2));
  const float64x2_t step = vfmaq_f64(view.four.addend(), t, vfmaq_f64(vdupq_n_f64(-16.0), t, third));
  const float64x2_t change = vmulq_f64(vdupq_n_f64(-32.0), t);
  const auto divided = [&](int i) HWY_ATTR {
    const float64x2_t at = vmulq_f64(view.dot(i, row, k), r);
    const float64x2_t slope = vfmsq_f64(vmulq_f64(view.along_z[i](), r), at, t);
    return Steps4{at, vmulq_f64(slope, step), vmulq_f64(slope, change)};
  };
  u = divided(0);
  v = fan ? Steps4{view.dot(1, row, k), vmulq_f64(view.along_z[1](), view.four()), vdupq_n_f64(0.0)} : divided(1);
  // 1/w^2 = r^2 (1 - 2 t dz + 3 t^2 dz^2), where the middle of what dz^2 can be replaces it.
  const float64x2_t squared = vmulq_f64(r, r), second = vmulq_f64(vmulq_f64(view.second(), t), t);
  const float64x2_t weight = vfmaq_f64(view.weight.addend(), vfmaq_f64(squared, squared, second), view.squared());
  vst1_f32(weights.weight + k, vcvt_f32_f64(weight));
  vst1_f32(weights.weight1 + k, vcvt_f32_f64(vmulq_f64(vmulq_f64(view.weight1(), weight), t)));
}

// visit(first line, paths in u, paths in v) for four voxel columns of a row at a time.
template <bool fan, class Visit>
HWY_INLINE void trace_fixed(const FixedView& view, const FixedRow& row, FixedWeights& weights, const Visit& visit) {
  const int count = whole_count(row.count);
  // All reciprocals first: see trace_pairs (trace-inl.h).
  alignas(16) double inverse[largest_tile];
  for (int k = 0; k < count; k += 4) {
    const float64x2_t w0 = view.dot(2, row, k), w1 = view.dot(2, row, k + 2);
    float64x2_t r0 = vrecpeq_f64(w0), r1 = vrecpeq_f64(w1);
    for (int step = 0; step < 3; ++step) {  // 8 bits, 16, 32, 64
      r0 = vmulq_f64(r0, vrecpsq_f64(w0, r0));
      r1 = vmulq_f64(r1, vrecpsq_f64(w1, r1));
    }
    vst1q_f64(inverse + k, r0);
    vst1q_f64(inverse + k + 2, r1);
  }
  for (int k = 0; k < count; k += 4) {
    Steps4 u0, u1, v0, v1;
    trace_two<fan>(view, row, k, inverse, u0, v0, weights);
    trace_two<fan>(view, row, k + 2, inverse, u1, v1, weights);
    visit(k, paths_of(u0, u1, view.corner_u), paths_of(v0, v1, view.corner_v));
  }
}

// Four vectors as the columns of a table, whose rows are stored one after the other. An interleaving store takes
// longer.
template <class T>
HWY_INLINE void store_turned(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t e, T* HWY_RESTRICT out) {
  const auto pairs = [](uint32x4_t v) HWY_ATTR { return vreinterpretq_u64_u32(v); };
  const auto store = [out](int row, uint64x2_t v) HWY_ATTR {
    if constexpr (std::is_same_v<T, float>)
      vst1q_f32(out + 4 * row, vreinterpretq_f32_u64(v));
    else
      vst1q_u32(out + 4 * row, vreinterpretq_u32_u64(v));
  };
  const uint64x2_t left = pairs(vzip1q_u32(a, b)), right = pairs(vzip1q_u32(c, e));
  store(0, vzip1q_u64(left, right));
  store(1, vzip2q_u64(left, right));
  const uint64x2_t left_below = pairs(vzip2q_u32(a, b)), right_below = pairs(vzip2q_u32(c, e));
  store(2, vzip1q_u64(left_below, right_below));
  store(3, vzip2q_u64(left_below, right_below));
}

// One coordinate of a row's lines where a piece begins: of four slices, and its step to the next four.
struct FixedStarts {
  alignas(16) std::uint32_t at[largest_tile][4];
  alignas(16) std::uint32_t step[largest_tile][4];
  alignas(16) std::uint32_t change[largest_tile];

  HWY_INLINE void set(int k, const FixedPaths& p, VectorNumber n) {
    const uint32x4_t first = vmlaq_n_u32(vmlaq_n_u32(p.a, p.d, n.i), p.e, n.pairs);
    const uint32x4_t slope = vmlaq_n_u32(p.b, p.g, n.i), twice = vaddq_u32(p.c, p.c);
    uint32x4_t four[4];
    four[0] = first;
    uint32x4_t further = vaddq_u32(slope, p.c);  // lane^2 grows by 1, 3, 5
    for (int lane = 1; lane < 4; ++lane, further = vaddq_u32(further, twice))
      four[lane] = vaddq_u32(four[lane - 1], further);
    store_turned(four[0], four[1], four[2], four[3], at[k]);
    four[0] = vmlaq_n_u32(p.d, p.e, n.i);
    for (int lane = 1; lane < 4; ++lane) four[lane] = vaddq_u32(four[lane - 1], p.g);
    store_turned(four[0], four[1], four[2], four[3], step[k]);
    vst1q_u32(change + k, p.e);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
#endif
