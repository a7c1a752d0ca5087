// SPDX-License-Identifier: Apache-2.0
// Backprojection with general matrices where nothing must be clamped, w changes little and interpolation is linear, for
// NEON. A Neoverse-N1 has two pipes for vectors, which rounding, conversion and stores of vectors take too, so:
//   - coordinates are whole numbers of 2^-23 pixels, counted from the box' corner, and advance by two additions. Sums
//     of whole numbers are exact: wherever a piece of the slab starts, a voxel gets the same coordinate;
//   - below the exponent of one the 23 bits of a fraction f are the float 1 + f, without a conversion; texels are made
//     for that (see make_fixed_texels);
//   - the nine bits above them, of u and of v, are the texel's number: columns of texels are 512 apart.
#if defined(LEPUS_BACKEND_CPU_FIXED_POINT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_FIXED_POINT_INL_H_
#undef LEPUS_BACKEND_CPU_FIXED_POINT_INL_H_
#else
#define LEPUS_BACKEND_CPU_FIXED_POINT_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "device/host/fixed_lines-inl.h"
#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "device/host/texels-inl.h"

#if LEPUS_NEON
HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

constexpr std::int64_t fixed_texel_size = 4;  // floats
constexpr std::int64_t fixed_stride = largest_fixed_box * fixed_texel_size;

// The box' texels: with fractions f and g the value between four pixels is p + f du + g dv + f g duv, or, with
// left = p - du,
//   (left - left_v) + (1 + f) (du - duv) + (1 + g) left_v + (1 + f) (1 + g) duv:
// these four factors. Two columns of pixels are read, `left_column` and the one to its right.
HWY_INLINE void make_fixed_column(const float* HWY_RESTRICT left_column, const float* HWY_RESTRICT right_column,
                                  std::int64_t rows, float* HWY_RESTRICT out) {
  const Floats d;
  const auto bits = [](VF v) HWY_ATTR { return vreinterpretq_u32_f32(v.raw); };
  for (std::int64_t r = 0; r < rows; r += 4) {
    // Of the rows below all is computed again: putting vectors together takes as long.
    const VF p = hn::LoadU(d, left_column + r), p_below = hn::LoadU(d, left_column + r + 1);
    const VF du = hn::Sub(hn::LoadU(d, right_column + r), p), left = hn::Sub(p, du);
    const VF du_below = hn::Sub(hn::LoadU(d, right_column + r + 1), p_below), left_below = hn::Sub(p_below, du_below);
    const VF duv = hn::Sub(du_below, du), left_v = hn::Sub(left_below, left);
    store_turned(bits(hn::Sub(left, left_v)), bits(hn::Sub(du, duv)), bits(left_v), bits(duv),
                 out + fixed_texel_size * r);
  }
}

HWY_INLINE const float* make_fixed_texels(const Job& job, const ViewBand& band, const PixelBox& box, Scratch& scratch) {
  const std::int64_t rows = box.rows.size(), size = box.columns.size() * fixed_stride + overread;
  if (scratch.box.size() < size) scratch.box = Buffer<float>(size);
  const std::int64_t stride = job.wedge->row_stride, above = box.rows.first - band.first_row;
  const std::int64_t from = std::max(box.rows.first, band.first_row);
  const std::int64_t to = std::min(box.rows.last + 1, band.first_row + band.rows);
  // Columns that are read in place: the band holds all of their rows, and what is read past them.
  const bool held = above >= 0 && above + rows <= band.rows;
  const std::int64_t in_place = held ? job.columns - 1 - (above + rows + 8 - band.rows + stride - 1) / stride : -1;
  alignas(16) float copies[2][largest_fixed_box + 8] = {};  // others, with zeros around what the band holds
  const auto pixels = [&](std::int64_t column) HWY_ATTR -> const float* {
    if (column >= 0 && column <= in_place) return band.data + column * stride + above;
    float* copy = copies[column & 1];
    if (column < 0 || column >= job.columns || from >= to) {
      std::fill_n(copy, rows, 0.0f);
      return copy;
    }
    std::fill_n(copy, from - box.rows.first, 0.0f);
    std::copy_n(band.data + column * stride + (from - band.first_row), to - from, copy + (from - box.rows.first));
    std::fill(copy + (to - box.rows.first), copy + rows, 0.0f);
    return copy;
  };
  const float* left = pixels(box.columns.first);
  for (std::int64_t column = box.columns.first; column <= box.columns.last; ++column) {
    const float* right = pixels(column + 1);
    if (column >= 0 && column + 2 <= std::min(in_place, box.columns.last + 1))  // the one after is brought meanwhile
      for (std::int64_t r = 0; r < rows; r += 16) hwy::Prefetch(right + stride + r);
    make_fixed_column(left, right, rows, scratch.box.data() + (column - box.columns.first) * fixed_stride);
    left = right;
  }
  return scratch.box.data();
}

// Low halves of two vectors, lane by lane. The intrinsics would clear the upper halves first.
HWY_INLINE float32x4_t zip_low(float32x2_t a, float32x2_t b) {
  float32x4_t zipped;
  asm("zip1 %0.4s, %1.4s, %2.4s" : "=w"(zipped) : "w"(a), "w"(b));
  return zipped;
}

// What belongs to four voxels: the bits of 1 + f and 1 + g.
struct Fractions {
  uint32x4_t u = vdupq_n_u32(0x3f800000), v = vdupq_n_u32(0x3f800000);

  // The exponent stays where it was: bits are inserted below it.
  HWY_INLINE void insert(uint32x4_t u_at, uint32x4_t v_at) {
    const uint32x4_t mask = vdupq_n_u32(0x007fffff);
    u = vbslq_u32(mask, u_at, u);
    v = vbslq_u32(mask, v_at, v);
  }
};

// The texels of four voxels, in the upper 18 bits of each word. They go through memory, which costs a vector's pipe
// less than moving them to whole numbers.
struct TexelNumbers {
  alignas(16) std::uint64_t pairs[2];

  HWY_INLINE void store(uint32x4_t numbers) { vst1q_u64(pairs, vreinterpretq_u64_u32(numbers)); }
  // Eight bytes in one instruction: the compiler would load halves of them once more, for which a Neoverse-N1 waits
  // until the vector is in the cache.
  HWY_INLINE std::uint64_t pair(int i) const {
    std::uint64_t both;
    asm volatile("ldr %0, %1" : "=r"(both) : "m"(pairs[i]));
    return both;
  }
};

// The view's values at four voxels.
HWY_INLINE float32x4_t fixed_values(const float* HWY_RESTRICT texels, const TexelNumbers& numbers,
                                    const Fractions& fractions) {
  const std::uint64_t low = numbers.pair(0), high = numbers.pair(1);
  const float32x4_t fv = vreinterpretq_f32_u32(fractions.v);
  const auto first = [](std::uint64_t both) { return static_cast<std::uint32_t>(both) >> 14; };
  const auto second = [](std::uint64_t both) { return both >> 46; };
  // p and its change along u, at the voxel's v
  const auto between_rows = [&](std::uint64_t number, auto lane) HWY_ATTR {
    const float* HWY_RESTRICT p = texels + fixed_texel_size * number;
    asm("" : "+r"(p));  // or the compiler makes two addresses of it, where one instruction loads both halves
    return vfma_laneq_f32(vld1_f32(p), vld1_f32(p + 2), fv, decltype(lane)::value);
  };
  const float32x4_t ab = zip_low(between_rows(first(low), std::integral_constant<int, 0>()),
                                 between_rows(second(low), std::integral_constant<int, 1>()));
  const float32x4_t ce = zip_low(between_rows(first(high), std::integral_constant<int, 2>()),
                                 between_rows(second(high), std::integral_constant<int, 3>()));
  const float64x2_t left = vreinterpretq_f64_f32(ab), right = vreinterpretq_f64_f32(ce);
  return vfmaq_f32(vreinterpretq_f32_f64(vzip1q_f64(left, right)), vreinterpretq_f32_u32(fractions.u),
                   vreinterpretq_f32_f64(vzip2q_f64(left, right)));
}

HWY_INLINE void add_fixed(float32x4_t value, float32x4_t dz, float32x4_t weight, float32x4_t weight1,
                          float* HWY_RESTRICT sums) {
  vst1q_f32(sums, vfmaq_f32(vld1q_f32(sums), vfmaq_f32(weight, weight1, dz), value));
}

// A coordinate that goes along a line, four slices a step.
struct FixedCoordinate {
  uint32x4_t at, step, change;

  HWY_INLINE FixedCoordinate(const FixedStarts& starts, int k)
      : at(vld1q_u32(starts.at[k])), step(vld1q_u32(starts.step[k])), change(vld1q_dup_u32(starts.change + k)) {}
  HWY_INLINE void advance() {
    at = vaddq_u32(at, step);
    step = vaddq_u32(step, change);
  }
};

struct FixedLines {
  FixedStarts u, v;
  FixedWeights weights;
};
// The slices of a row's lines, two vectors a turn. The places of each are found while the one before is added, those of
// a line's first while the line before ends.
HWY_NOINLINE void add_fixed_row(const FixedLines& lines, const FixedRow& row, const Piece& piece,
                                const float* HWY_RESTRICT texels, float* HWY_RESTRICT sums) {
  const float* HWY_RESTRICT dz = slice_numbers.dz + piece.begin;
  const std::int64_t last = piece.end - piece.begin - 8;
  FixedCoordinate u(lines.u, 0), v(lines.v, 0);
  Fractions even, odd;
  TexelNumbers even_numbers, odd_numbers;
  const auto find = [&](TexelNumbers& numbers, Fractions& fractions) HWY_ATTR {
    uint32x4_t number = u.at;
    const uint32x4_t v_at = v.at;
    fractions.insert(number, v_at);
    u.advance();
    v.advance();
    // After all else that needs u: it is overwritten, which saves a copy.
    asm("sri %0.4s, %1.4s, #9" : "+w"(number) : "w"(v_at), "w"(u.at), "w"(fractions.u));
    numbers.store(number);
  };
  find(even_numbers, even);
  for (int k = 0; k < row.count; ++k) {
    // To be added to, hence in memory: see Constant (trace-inl.h).
    alignas(16) float weight[4];
    vst1q_f32(weight, vld1q_dup_f32(lines.weights.weight + k));
    const float32x4_t weight1 = vld1q_dup_f32(lines.weights.weight1 + k);
    float* HWY_RESTRICT own = sums + row.sums[k] + piece.begin;
    const auto add = [&](std::int64_t z, const TexelNumbers& numbers, const Fractions& fractions) HWY_ATTR {
      float32x4_t constant;
      asm volatile("ldr %q0, %1" : "=w"(constant) : "m"(weight));
      add_fixed(fixed_values(texels, numbers, fractions), vld1q_f32(dz + z), constant, weight1, own + z);
    };
    for (std::int64_t z = 0; z < last; z += 8) {
      find(odd_numbers, odd);
      add(z, even_numbers, even);
      find(even_numbers, even);
      add(z + 4, odd_numbers, odd);
    }
    find(odd_numbers, odd);
    add(last, even_numbers, even);
    const int next = std::min(k + 1, row.count - 1);
    u = FixedCoordinate(lines.u, next);
    v = FixedCoordinate(lines.v, next);
    find(even_numbers, even);
    add(last + 4, odd_numbers, odd);
  }
}

// A few slices of a row. Their sums are `apart` floats apart.
HWY_INLINE void add_fixed_slices(const FixedPaths (&u)[largest_tile / 4], const FixedPaths (&v)[largest_tile / 4],
                                 const FixedWeights& weights, int count, const Piece& piece,
                                 const float* HWY_RESTRICT texels, float* sums, std::int64_t apart) {
  for (std::int64_t z = piece.first; z < piece.last; ++z) {
    const auto lane = static_cast<std::uint32_t>(z % 4);
    const VectorNumber n(z);
    const auto at = [=](const FixedPaths& p) HWY_ATTR {
      const uint32x4_t first = vmlaq_n_u32(vmlaq_n_u32(p.a, p.b, lane), p.c, lane * lane);
      return vmlaq_n_u32(vmlaq_n_u32(vmlaq_n_u32(first, p.d, n.i), p.g, lane * n.i), p.e, n.pairs);
    };
    TexelNumbers numbers[largest_tile / 4];
    Fractions fractions[largest_tile / 4];
    for (int k = 0; k < count; k += 4) {
      const uint32x4_t u_at = at(u[k / 4]), v_at = at(v[k / 4]);
      fractions[k / 4].insert(u_at, v_at);
      numbers[k / 4].store(vsriq_n_u32(u_at, v_at, 9));
    }
    for (int k = 0; k < count; k += 4)
      add_fixed(fixed_values(texels, numbers[k / 4], fractions[k / 4]), vdupq_n_f32(slice_numbers.dz[z]),
                vld1q_f32(weights.weight + k), vld1q_f32(weights.weight1 + k), sums + (z - piece.first) * apart + k);
  }
}

// One view into the sums of a tile; meanwhile the next is brought.
template <bool fan>
HWY_INLINE void add_fixed_view(const Job& job, const Piece& piece, const Matrix34& m, const ViewBand& band,
                               const PixelBox& box, const SumPlaces& place, const Preview& next, Scratch& scratch) {
  const FixedView view(job, m, static_cast<double>(piece.first_slice + chunk / 2), box);
  const float* texels = make_fixed_texels(job, band, box, scratch);
  float* sums = scratch.sums.data();
  const FixedOrder order(m, piece, box, place);
  FixedRow row;
  for (std::int64_t i = 0; i < order.rows(); ++i) {
    prefetch(job, next, i, order.rows());
    order.go_to(i, row);
    if (piece.few()) {
      FixedPaths u[largest_tile / 4], v[largest_tile / 4];
      FixedWeights weights;
      trace_fixed<fan>(view, row, weights, [&](int k, const FixedPaths& u_paths, const FixedPaths& v_paths) HWY_ATTR {
        u[k / 4] = u_paths;
        v[k / 4] = v_paths;
      });
      add_fixed_slices(u, v, weights, whole_count(row.count), piece, texels, sums + row.sums[0], place.slice_step());
      continue;
    }
    FixedLines lines;
    const VectorNumber begin(piece.begin);
    trace_fixed<fan>(view, row, lines.weights, [&](int k, const FixedPaths& u, const FixedPaths& v) HWY_ATTR {
      lines.u.set(k, u, begin);
      lines.v.set(k, v, begin);
    });
    add_fixed_row(lines, row, piece, texels, sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
#endif
