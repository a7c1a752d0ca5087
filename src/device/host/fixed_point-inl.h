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

#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "device/host/texels-inl.h"

#if LEPUS_NEON
HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

constexpr double fixed_unit = 8388608;        // 2^23 in a pixel
constexpr std::int64_t fixed_texel_size = 4;  // floats
constexpr std::int64_t fixed_stride = largest_fixed_box * fixed_texel_size;

// One coordinate of a row of voxel columns. dz = 4 i + lane slices from the chunk's middle it is
//   a + b lane + c lane^2 + (d + g lane) i + e i (i - 1) / 2   modulo 2^32.
struct FixedPaths {
  using Each = std::uint32_t[largest_tile];
  alignas(16) Each a;
  alignas(16) Each b;
  alignas(16) Each c;
  alignas(16) Each d;
  alignas(16) Each g;
  alignas(16) Each e;
};
struct FixedLines {
  FixedPaths u, v;
  alignas(16) float weight[largest_tile];  // 1/w^2 = weight + weight1 dz
  alignas(16) float weight1[largest_tile];
};

// Four numbers, each rounded to a whole one modulo 2^32: 1.5 * 2^52 is added, whose unit in the last place is one.
HWY_INLINE uint32x4_t rounded(VD low, VD high) {
  const VD large = hn::Set(Doubles(), 6755399441055744.0);
  return vuzp1q_u32(vreinterpretq_u32_f64(hn::Add(low, large).raw), vreinterpretq_u32_f64(hn::Add(high, large).raw));
}

// at + slope dz + curve dz^2, of two voxel columns, in pixels * fixed_unit.
struct Parabolas {
  float64x2_t at, slope, curve;
};
HWY_INLINE void set_paths(const Parabolas& low, const Parabolas& high, std::uint32_t corner, FixedPaths& paths, int k) {
  const auto step = [](const Parabolas& p) HWY_ATTR {
    const Doubles d;
    return hn::MulAdd(hn::Set(d, 16.0), VD{p.curve}, hn::Mul(hn::Set(d, 4.0), VD{p.slope}));
  };
  const VD change = hn::Set(Doubles(), 32.0);
  // All from the two steps that are taken again and again, so that these alone must be exact.
  const int32x4_t d = vreinterpretq_s32_u32(rounded(step(low), step(high)));
  const int32x4_t e = vreinterpretq_s32_u32(rounded(hn::Mul(change, VD{low.curve}), hn::Mul(change, VD{high.curve})));
  const auto store = [k](FixedPaths::Each& each, int32x4_t v)
                         HWY_ATTR { vst1q_u32(each + k, vreinterpretq_u32_s32(v)); };
  vst1q_u32(paths.a + k, vsubq_u32(rounded(VD{low.at}, VD{high.at}), vdupq_n_u32(corner)));
  store(paths.b, vrshrq_n_s32(vsubq_s32(d, vshrq_n_s32(e, 1)), 2));
  store(paths.c, vrshrq_n_s32(e, 5));
  store(paths.d, d);
  store(paths.g, vrshrq_n_s32(e, 2));
  store(paths.e, e);
}

// The paths of n voxel columns from `start` on, along y or x (see trace_lines).
template <bool along_y>
void trace_fixed(const Job& job, const Matrix34& m, double z, const PixelBox& box, ColumnIndex start, int n,
                 FixedLines& lines) {
  const Doubles d;
  const bool fan = job.beam == Beam::fan, same_weight = job.beam == Beam::parallel || !job.weighted;
  const VD one = hn::Set(d, 1.0), zero = hn::Zero(d), unit = hn::Set(d, fixed_unit);
  const double base[3] = {m(0, 2) * z + m(0, 3), m(1, 2) * z + m(1, 3), m(2, 2) * z + m(2, 3)};
  const VD x0 = hn::Set(d, static_cast<double>(start.x)), y0 = hn::Set(d, static_cast<double>(start.y));
  const VD last = hn::Set(d, static_cast<double>(n - 1));
  // dz^3 is replaced as in trace_lines.
  const VD cubed = hn::Set(d, 0.75 * (chunk / 2) * (chunk / 2));
  const auto corner = [](std::int64_t pixel) { return static_cast<std::uint32_t>(pixel) << 23; };
  const auto trace = [&](int k, Parabolas& u, Parabolas& v) HWY_ATTR {
    const VD number = hn::Min(hn::Iota(d, static_cast<double>(k)), last);
    const VD x = along_y ? x0 : hn::Add(x0, number), y = along_y ? hn::Add(y0, number) : y0;
    const auto dot = [&](int i) HWY_ATTR {
      return hn::MulAdd(hn::Set(d, m(i, 0)), x, hn::MulAdd(hn::Set(d, m(i, 1)), y, hn::Set(d, base[i])));
    };
    const VD w = dot(2);
    VD r{vrecpeq_f64(w.raw)};
    for (int step = 0; step < 3; ++step) r = hn::MulAdd(r, hn::NegMulAdd(w, r, one), r);  // 8 bits, 16, 32, 64
    const VD t = hn::Mul(hn::Set(d, m(2, 2)), r);
    const auto parabola = [&](int i, VD divisor, VD change) HWY_ATTR {
      const VD scaled = hn::Mul(divisor, unit), at = hn::Mul(dot(i), scaled);
      const VD slope = hn::NegMulAdd(at, change, hn::Mul(hn::Set(d, m(i, 2)), scaled));
      return Parabolas{at.raw, hn::MulAdd(hn::Mul(slope, cubed), hn::Mul(change, change), slope).raw,
                       hn::Neg(hn::Mul(slope, change)).raw};
    };
    u = parabola(0, r, t);
    v = parabola(1, fan ? one : r, fan ? zero : t);
    const VD weight = job.weighted ? hn::Mul(r, r) : one;
    store_single(weight, lines.weight + k);
    store_single(same_weight ? zero : hn::Mul(hn::Mul(hn::Set(d, -2.0), weight), t), lines.weight1 + k);
  };
  for (int k = 0; k < whole_count(n); k += 4) {
    Parabolas u0, u1, v0, v1;
    trace(k, u0, v0);
    trace(k + 2, u1, v1);
    set_paths(u0, u1, corner(box.columns.first), lines.u, k);
    set_paths(v0, v1, corner(box.rows.first), lines.v, k);
  }
}

// The box' texels: with fractions f and g the value between four pixels is p + f du + g dv + f g duv, or
//   (p - du - dv + duv) + (1 + f) (du - duv) + (1 + g) (dv - duv) + (1 + f) (1 + g) duv:
// these four factors.
HWY_INLINE const float* make_fixed_texels(const Job& job, const ViewBand& band, const PixelBox& box, Scratch& scratch) {
  const std::int64_t rows = box.rows.size(), size = box.columns.size() * fixed_stride + overread;
  if (scratch.box.size() < size) scratch.box = Buffer<float>(size);
  const std::int64_t from = std::max(box.rows.first, band.first_row);
  const std::int64_t to = std::min(box.rows.last + 1, band.first_row + band.rows);
  alignas(16) float copies[2][largest_fixed_box + 8] = {};  // a column of pixels, with zeros around what the band holds
  const auto pixels = [&](std::int64_t column) HWY_ATTR {
    float* copy = copies[column & 1];
    if (column < 0 || column >= job.columns || from >= to) {
      std::fill_n(copy, rows, 0.0f);
      return copy;
    }
    std::fill_n(copy, from - box.rows.first, 0.0f);
    std::copy_n(band.data + column * job.wedge->row_stride + (from - band.first_row), to - from,
                copy + (from - box.rows.first));
    std::fill(copy + (to - box.rows.first), copy + rows, 0.0f);
    return copy;
  };
  const Floats d;
  const float* left = pixels(box.columns.first);
  for (std::int64_t column = box.columns.first; column <= box.columns.last; ++column) {
    const float* right = pixels(column + 1);
    float* out = scratch.box.data() + (column - box.columns.first) * fixed_stride;
    VF p = hn::Load(d, left), du = hn::Sub(hn::Load(d, right), p);
    for (std::int64_t r = 0; r < rows; r += 4) {
      const VF p_next = hn::Load(d, left + r + 4), du_next = hn::Sub(hn::Load(d, right + r + 4), p_next);
      const VF below{vextq_f32(p.raw, p_next.raw, 1)}, du_below{vextq_f32(du.raw, du_next.raw, 1)};
      const VF duv = hn::Sub(du_below, du), by_v = hn::Sub(hn::Sub(below, p), duv);
      hn::StoreInterleaved4(hn::Sub(hn::Sub(p, du), by_v), hn::Sub(du, duv), by_v, duv, d, out + fixed_texel_size * r);
      p = p_next;
      du = du_next;
    }
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
  uint32x4_t u, v;
};
constexpr std::uint32_t bits_of_one = 0x3f800000, fraction_mask = 0x007fffff;

// The fractions of four voxels, and in the upper 18 bits of each word their texels' numbers.
HWY_INLINE uint32x4_t divide_place(uint32x4_t u, uint32x4_t v, Fractions& fractions) {
  // The exponent stays where it was: bits are inserted below it.
  fractions.u = vbslq_u32(vdupq_n_u32(fraction_mask), u, fractions.u);
  fractions.v = vbslq_u32(vdupq_n_u32(fraction_mask), v, fractions.v);
  return vsriq_n_u32(u, v, 9);
}

// The texels of two voxels, as divide_place makes them. They go through memory, which costs a vector's pipe less than
// moving them to whole numbers; volatile, or the compiler keeps them in registers and stores them when they are needed.
using TexelNumbers = volatile std::uint64_t;
HWY_INLINE void store_numbers(uint32x4_t numbers, std::uint64_t* out) {
  vst1q_u64(out, vreinterpretq_u64_u32(numbers));
}

// The view's values at four voxels.
HWY_INLINE float32x4_t fixed_values(const float* HWY_RESTRICT texels, const TexelNumbers* numbers,
                                    const Fractions& fractions) {
  const std::uint64_t low = numbers[0], high = numbers[1];
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
class FixedCoordinate {
public:
  HWY_INLINE FixedCoordinate(const FixedPaths& p, int k, std::int64_t begin) {
    const std::int64_t group = begin / 4 - chunk / 8;
    const auto i = static_cast<std::uint32_t>(group), pairs = static_cast<std::uint32_t>(group * (group - 1) / 2);
    const uint32x4_t lanes = {0, 1, 2, 3}, squares = {0, 1, 4, 9};
    at = vmlaq_n_u32(vdupq_n_u32(p.a[k] + i * p.d[k] + pairs * p.e[k]), lanes, p.b[k] + i * p.g[k]);
    at = vmlaq_n_u32(at, squares, p.c[k]);
    step = vmlaq_n_u32(vdupq_n_u32(p.d[k] + i * p.e[k]), lanes, p.g[k]);
    change = vdupq_n_u32(p.e[k]);
  }
  HWY_INLINE void advance() {
    at = vaddq_u32(at, step);
    step = vaddq_u32(step, change);
  }
  uint32x4_t at;

private:
  uint32x4_t step, change;
};

// The slices of line k. Two vectors a turn, the places of each found while the one before is added.
HWY_NOINLINE void add_fixed_line(const FixedLines& lines, int k, const Piece& piece, const float* HWY_RESTRICT texels,
                                 float* HWY_RESTRICT sums) {
  FixedCoordinate u(lines.u, k, piece.begin), v(lines.v, k, piece.begin);
  const float32x4_t weight = vdupq_n_f32(lines.weight[k]), weight1 = vdupq_n_f32(lines.weight1[k]);
  const uint32x4_t one = vdupq_n_u32(bits_of_one);
  Fractions even{one, one}, odd{one, one};
  alignas(16) std::uint64_t numbers[4];
  const float* HWY_RESTRICT dz = slice_numbers.dz + piece.begin;
  float* HWY_RESTRICT own = sums + piece.begin;
  const auto find = [&](int place, Fractions& fractions) HWY_ATTR {
    const uint32x4_t u_at = u.at, v_at = v.at;
    u.advance();
    v.advance();
    store_numbers(divide_place(u_at, v_at, fractions), numbers + place);
  };
  const auto add = [&](std::int64_t z, int place, const Fractions& fractions) HWY_ATTR {
    add_fixed(fixed_values(texels, numbers + place, fractions), vld1q_f32(dz + z), weight, weight1, own + z);
  };
  find(0, even);
  const std::int64_t count = piece.end - piece.begin;
  for (std::int64_t z = 0; z < count; z += 8) {
    find(2, odd);
    add(z, 0, even);
    find(0, even);
    add(z + 4, 2, odd);
  }
}

// A few slices of a row. Their sums are `apart` floats apart.
HWY_INLINE void add_fixed_slices(const FixedLines& lines, int count, const Piece& piece,
                                 const float* HWY_RESTRICT texels, float* sums, std::int64_t apart) {
  const uint32x4_t one = vdupq_n_u32(bits_of_one);
  for (std::int64_t z = piece.first; z < piece.last; ++z) {
    const auto lane = static_cast<std::uint32_t>(z % 4);
    const std::int64_t group = z / 4 - chunk / 8;
    const auto i = static_cast<std::uint32_t>(group), pairs = static_cast<std::uint32_t>(group * (group - 1) / 2);
    const auto at = [=](const FixedPaths& p, int k) HWY_ATTR {
      const auto times = [k](uint32x4_t sum, const FixedPaths::Each& each, std::uint32_t n)
                             HWY_ATTR { return vmlaq_n_u32(sum, vld1q_u32(each + k), n); };
      return times(times(times(times(times(vld1q_u32(p.a + k), p.b, lane), p.c, lane * lane), p.d, i), p.g, lane * i),
                   p.e, pairs);
    };
    alignas(16) std::uint64_t numbers[largest_tile / 2];
    Fractions fractions[largest_tile / 4];
    for (int k = 0; k < count; k += 4) {
      fractions[k / 4] = {one, one};
      store_numbers(divide_place(at(lines.u, k), at(lines.v, k), fractions[k / 4]), numbers + k / 2);
    }
    for (int k = 0; k < count; k += 4)
      add_fixed(fixed_values(texels, numbers + k / 2, fractions[k / 4]), vdupq_n_f32(slice_numbers.dz[z]),
                vld1q_f32(lines.weight + k), vld1q_f32(lines.weight1 + k), sums + (z - piece.first) * apart + k);
  }
}

// One view into the sums of a tile; meanwhile the next is brought.
HWY_INLINE void add_fixed_view(const Job& job, const Piece& piece, const Matrix34& m, const ViewBand& band,
                               const PixelBox& box, const SumPlaces& place, const Preview& next, Scratch& scratch) {
  const double middle = static_cast<double>(piece.first_slice + chunk / 2);
  const float* texels = make_fixed_texels(job, band, box, scratch);
  float* sums = scratch.sums.data();
  const LineOrder order(m, piece, box);
  for (std::int64_t i = 0; i < order.rows; ++i) {
    prefetch(job, next, i, order.rows);
    FixedLines lines;
    order.along_y ? trace_fixed<true>(job, m, middle, box, order.start(i), order.lines, lines)
                  : trace_fixed<false>(job, m, middle, box, order.start(i), order.lines, lines);
    if (piece.few()) {
      add_fixed_slices(lines, whole_count(order.lines), piece, texels, sums + place(0, i, piece.first),
                       place.slice_step());
      continue;
    }
    for (int k = 0; k < order.lines; ++k)
      add_fixed_line(lines, k, piece, texels, sums + order.first_sum(place, i) + k * order.sums_apart(place));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
#endif
