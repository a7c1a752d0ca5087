// SPDX-License-Identifier: Apache-2.0
// Backprojection with any matrices (tilted detectors, jittered views), compiled once per SIMD target. Lanes run along
// z. For a tile of voxel columns and a view the part of the detector that the tile sees is known beforehand: it is read
// in place where the band holds all of it, and from a copy with zeros around it where not, so that the loop over the
// voxels asks no questions. Coordinates are counted from where the chunk's middle falls, which keeps them small and
// exact; where w changes little along a chunk, as with any wobbling orbit, a series saves the division.
#if defined(LEPUS_BACKEND_CPU_GENERAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_GENERAL_INL_H_
#undef LEPUS_BACKEND_CPU_GENERAL_INL_H_
#else
#define LEPUS_BACKEND_CPU_GENERAL_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cpu/kernel.h"
#include "backend/cpu/seen.h"
#include "backend/cpu/simd-inl.h"
#include "project/interpolate.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// Between the columns at p and q: returns the taps' first row, and the second in `second`.
HWY_INLINE VF between_columns(const float* HWY_RESTRICT p, const float* HWY_RESTRICT q,
                              const std::int32_t* HWY_RESTRICT at, VF fu, VF& second) {
#if LEPUS_LANES == 4 || LEPUS_LANES == 8
  // Rows come in pairs: even slices (row, row + 1, row, row + 1, ...) in one vector, odd slices in another, so that the
  // fractions are doubled by loads and the rows separated by blends: shuffles are what this loop has too many of.
  const auto pairs_from = [at](const float* HWY_RESTRICT from, int first) HWY_ATTR {
#if LEPUS_LANES == 4
    return two_pairs(from + at[first], from + at[first + 2]);
#else
    // The second pair of a block is loaded with the two floats before it, which the first pair then replaces.
    const Floats d;
    const Quads q;
    const VF front = hn::Combine(d, hn::LoadU(q, from + at[first + 4]), hn::LoadU(q, from + at[first]));
    const VF back = hn::Combine(d, hn::LoadU(q, from + at[first + 6] - 2), hn::LoadU(q, from + at[first + 2] - 2));
    return VF{_mm256_blend_ps(front.raw, back.raw, 0xCC)};
#endif
  };
  const VF even = pairs_from(p, 0), odd = pairs_from(p, 1);
  const VF even_mixed = hn::MulAdd(hn::DupEven(fu), hn::Sub(pairs_from(q, 0), even), even);
  const VF odd_mixed = hn::MulAdd(hn::DupOdd(fu), hn::Sub(pairs_from(q, 1), odd), odd);
  second = hn::OddEven(odd_mixed, hn::DupOdd(even_mixed));
  return hn::OddEven(hn::DupEven(odd_mixed), even_mixed);
#else
  VF a, b, c, e;
  fetch_pairs(p, at, a, b);
  fetch_pairs(q, at, c, e);
  second = hn::MulAdd(fu, hn::Sub(e, b), b);
  return hn::MulAdd(fu, hn::Sub(c, a), a);
#endif
}

// The picture's value in every lane: taps start at p[at[i]], columns are stride apart.
template <Interpolation kind>
HWY_INLINE VF interpolate(const float* HWY_RESTRICT p, std::int64_t stride, const std::int32_t* HWY_RESTRICT at, VF fu,
                          VF fv) {
  VF a, b;
  if constexpr (kind == Interpolation::nearest) {
    fetch_pairs(p, at, a, b);
    return a;
  } else if constexpr (kind == Interpolation::linear) {
    const VF first = between_columns(p, p + stride, at, fu, b);
    return hn::MulAdd(fv, hn::Sub(b, first), first);
  } else {
    fetch_pairs(p, at, a, b);
    VF ra, rb, rc, re, ca, cb, cc, ce;
    cubic_weights(fv, ra, rb, rc, re);
    cubic_weights(fu, ca, cb, cc, ce);
    VF sum = hn::Zero(Floats());
    for (int column = 0; column < 4; ++column) {
      VF c, e;
      if (column > 0) fetch_pairs(p + column * stride, at, a, b);
      fetch_pairs(p + column * stride + 2, at, c, e);
      const VF along = hn::MulAdd(re, e, hn::MulAdd(rc, c, hn::MulAdd(rb, b, hn::Mul(ra, a))));
      sum = hn::MulAdd(column == 0 ? ca : column == 1 ? cb : column == 2 ? cc : ce, along, sum);
    }
    return sum;
  }
}

// How the coordinates are computed: the less w changes along a chunk, the cheaper.
enum class Depth { division, series, polynomial };

// The path of a voxel column over the detector, from the chunk's middle: with dz slices from there,
//   u = column + (a + b dz) s, v = row + (c + e dz) s, s = 1 / (1 + t dz), 1/w^2 = weight * s^2
// or as polynomials: u = column + a + b dz + b2 dz^2, v = row + c + e dz + e2 dz^2, 1/w^2 = weight + weight1 dz.
struct Line {
  const float* corner;  // pixel (column, row)
  float* sums;
  float a, b, b2, c, e, e2, t, weight, weight1;
  float u_low, u_high, v_low, v_high;  // u and v are clamped to these: outside all taps are zero
};

// A row of voxel columns, x = 0 on; what they have in common.
struct Row {
  double u, v, w;     // (u w, v w, w) at x = 0 in the chunk's middle
  double ux, vx, wx;  // and how they change with x
  double uz, vz, wz;  // with z
};
HWY_INLINE Row row_of(const Matrix34& m, std::int64_t y_index, double z) {
  const auto y = static_cast<double>(y_index);
  return {m(0, 1) * y + (m(0, 2) * z + m(0, 3)),
          m(1, 1) * y + (m(1, 2) * z + m(1, 3)),
          m(2, 1) * y + (m(2, 2) * z + m(2, 3)),
          m(0, 0),
          m(1, 0),
          m(2, 0),
          m(0, 2),
          m(1, 2),
          m(2, 2)};
}

template <Interpolation kind>
HWY_INLINE void trace_line(const Job& job, const Row& of, const Seen& seen, std::int64_t x_index, Line& line) {
  const auto x = static_cast<double>(x_index);
  const double r = 1 / (of.wx * x + of.w);
  const bool fan = job.beam == Beam::fan;
  const double rv = fan ? 1 : r;
  const double u = (of.ux * x + of.u) * r, v = (of.vx * x + of.v) * rv;
  // Outside the detector only the side matters. (Adding 8 makes truncation round down, which is quicker than floor.)
  const auto column = static_cast<std::int64_t>(std::clamp(u, -3.0, static_cast<double>(job.columns + 2)) + 8) - 8;
  const auto row = static_cast<std::int64_t>(std::clamp(v, -3.0, static_cast<double>(job.rows + 2)) + 8) - 8;
  const auto column_f = static_cast<double>(column), row_f = static_cast<double>(row);
  const double t = of.wz * r, tv = fan ? 0 : t;
  const double a = u - column_f, b = of.uz * r - column_f * t, c = v - row_f, e = of.vz * rv - row_f * tv;
  const double weight = job.beam == Beam::parallel ? 1 : r * r;
  line.corner = seen.pixels + (column - taps_before(kind)) * seen.stride + (row - taps_before(kind));
  line.a = static_cast<float>(a);
  line.c = static_cast<float>(c);
  line.t = static_cast<float>(t);
  line.weight = static_cast<float>(weight);
  if (seen.nearly_constant_w && kind == Interpolation::linear) {
    // The third degree, dz^3, is replaced by 3/4 h^2 dz, which leaves a quarter of it (h: half a chunk; Chebyshev).
    constexpr double cubed = 0.75 * (chunk / 2) * (chunk / 2);
    line.b = static_cast<float>((b - a * t) * (1 + cubed * t * t));
    line.b2 = static_cast<float>((a * t - b) * t);
    line.e = static_cast<float>((e - c * tv) * (1 + cubed * tv * tv));
    line.e2 = static_cast<float>((c * tv - e) * tv);
    line.weight1 = static_cast<float>(job.beam == Beam::parallel ? 0 : -2 * weight * t);
  } else {
    line.b = static_cast<float>(b);
    line.e = static_cast<float>(e);
  }
  if (!seen.clamped) return;
  constexpr double half = kind == Interpolation::nearest ? 0.5 : 0;
  const double reach = zero_reach(kind);
  line.u_low = static_cast<float>(-reach - column_f);
  line.u_high = static_cast<float>(static_cast<double>(job.columns - 1) + reach + half - column_f);
  line.v_low = static_cast<float>(-reach - row_f);
  line.v_high = static_cast<float>(static_cast<double>(job.rows - 1) + reach + half - row_f);
}

// Where the slices of a chunk fall: their first taps, in floats from the line's corner, and the fractions beyond.
struct Places {
  alignas(64) std::int32_t offset[chunk];
  alignas(64) float fu[chunk];
  alignas(64) float fv[chunk];
  alignas(64) float weight[chunk];
};

template <Interpolation kind, bool clamped>
HWY_INLINE void set_place(const Line& line, VF u, VF v, VF weight, VF stride, Places& places, std::int64_t z) {
  const Floats d;
  if constexpr (kind == Interpolation::nearest) {
    u = hn::Add(u, hn::Set(d, 0.5f));
    v = hn::Add(v, hn::Set(d, 0.5f));
  }
  if constexpr (clamped) {
    u = hn::Min(hn::Max(u, hn::Set(d, line.u_low)), hn::Set(d, line.u_high));
    v = hn::Min(hn::Max(v, hn::Set(d, line.v_low)), hn::Set(d, line.v_high));
  }
  const VF u_whole = hn::Floor(u), v_whole = hn::Floor(v);
  hn::Store(hn::Sub(u, u_whole), d, places.fu + z);
  hn::Store(hn::Sub(v, v_whole), d, places.fv + z);
  hn::Store(weight, d, places.weight + z);
  // Whole numbers below 2^24 are exact in single precision; look() refuses larger ones.
  hn::Store(whole(hn::MulAdd(u_whole, stride, v_whole)), Ints(), places.offset + z);
}

template <Interpolation kind, Depth depth, bool clamped>
HWY_INLINE void find_places(const Job& job, const Line& line, std::int64_t stride, std::int64_t begin, std::int64_t end,
                            Places& places) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float step = static_cast<float>(lanes);
  // Differences add up from vector to vector, so these start where the chunk does, wherever the slab is cut.
  if constexpr (depth == Depth::polynomial) begin = 0;
  VF dz = hn::Iota(d, static_cast<float>(begin - chunk / 2));
  const VF a = hn::Set(d, line.a), b = hn::Set(d, line.b), c = hn::Set(d, line.c), e = hn::Set(d, line.e);
  const VF t = hn::Set(d, line.t), weight = hn::Set(d, line.weight),
           column_stride = hn::Set(d, static_cast<float>(stride));
  if constexpr (depth == Depth::polynomial) {
    // u stays within a few pixels and the weight within a thousandth: sums of differences are exact enough for them.
    const VF b2 = hn::Set(d, line.b2), e2 = hn::Set(d, line.e2);
    VF u = hn::MulAdd(dz, hn::MulAdd(b2, dz, b), a);
    VF du = hn::MulAdd(hn::Set(d, 2 * step * line.b2), dz, hn::Set(d, step * line.b + step * step * line.b2));
    VF w = hn::MulAdd(hn::Set(d, line.weight1), dz, weight);
    const VF ddu = hn::Set(d, 2 * step * step * line.b2), dw = hn::Set(d, step * line.weight1);
    for (std::int64_t z = begin; z < end; z += lanes) {
      set_place<kind, clamped>(line, u, hn::MulAdd(dz, hn::MulAdd(e2, dz, e), c), w, column_stride, places, z);
      u = hn::Add(u, du);
      du = hn::Add(du, ddu);
      w = hn::Add(w, dw);
      dz = hn::Add(dz, hn::Set(d, step));
    }
  } else {
    const VF one = hn::Set(d, 1.0f);
    const bool fan = job.beam == Beam::fan, parallel = job.beam == Beam::parallel;
    for (std::int64_t z = begin; z < end; z += lanes) {
      const VF tz = hn::Mul(t, dz);
      const VF change = depth == Depth::series ? hn::Mul(tz, hn::Sub(tz, one))  // of s from 1
                                               : hn::Neg(hn::Div(tz, hn::Add(one, tz)));
      VF u = hn::MulAdd(b, dz, a), v = hn::MulAdd(e, dz, c);
      u = hn::MulAdd(u, change, u);
      if (!fan) v = hn::MulAdd(v, change, v);
      const VF s = hn::Add(change, one);
      set_place<kind, clamped>(line, u, v, parallel ? weight : hn::Mul(hn::Mul(weight, s), s), column_stride, places,
                               z);
      dz = hn::Add(dz, hn::Set(d, step));
    }
  }
}

template <Interpolation kind>
HWY_INLINE void add_line(const Line& line, std::int64_t stride, std::int64_t begin, std::int64_t end,
                         const Places& places) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t z = begin; z < end; z += lanes) {
    const VF value = interpolate<kind>(line.corner, stride, places.offset + z, hn::Load(d, places.fu + z),
                                       hn::Load(d, places.fv + z));
    hn::Store(hn::MulAdd(hn::Load(d, places.weight + z), value, hn::Load(d, line.sums + z)), d, line.sums + z);
  }
}

// A row of voxel columns, in stages (see upright-inl.h).
template <Interpolation kind, Depth depth, bool clamped>
void add_lines(const Job& job, const Piece& piece, const Line* lines, int n, std::int64_t stride) {
  constexpr int ahead = 4;
  for (int first = 0; first < n; first += ahead) {
    Places places[ahead];
    const int last = std::min(first + ahead, n);
    for (int k = first; k < last; ++k)
      find_places<kind, depth, clamped>(job, lines[k], stride, piece.begin, piece.end, places[k - first]);
    for (int k = first; k < last; ++k) add_line<kind>(lines[k], stride, piece.begin, piece.end, places[k - first]);
  }
}

HWY_INLINE const Matrix34& matrix_of(const Job& job, std::int64_t view) {
  return job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)];
}

template <Interpolation kind>
void run_general(const Job& job, std::int64_t task, Scratch& scratch) {
  const Piece piece = piece_of(job, task);
  const auto views = static_cast<std::int64_t>(job.wedge->bands.size());
  const double middle = static_cast<double>(piece.first_slice + chunk / 2);
  for (std::int64_t block = 0; block < views; block += block_of_views) {
    float* sums = scratch.sums.data();
    std::memset(sums, 0, sizeof(float) * static_cast<std::size_t>(job.tile * job.tile * chunk));
    const std::int64_t block_end = std::min(block + block_of_views, views);
    PixelBox box, next_box;
    Sight sight = look(job, matrix_of(job, block), piece, box), next_sight = Sight::nothing;
    for (std::int64_t view = block; view < block_end; ++view, sight = next_sight, box = next_box) {
      const Matrix34& m = matrix_of(job, view);
      Preview next;
      next_sight = Sight::nothing;
      if (view + 1 < block_end) {
        next_sight = look(job, matrix_of(job, view + 1), piece, next_box);
        if (next_sight == Sight::plain) next = {job.wedge->bands.data() + view + 1, 1, next_box};
      }
      if (sight == Sight::nothing) continue;
      Seen seen;
      if (sight == Sight::plain)
        seen = bring(job, m, job.wedge->bands[static_cast<std::size_t>(view)], piece, box, scratch);
      for (std::int64_t y = piece.y0; y < piece.y1; ++y) {
        prefetch(job, next, y - piece.y0, piece.y1 - piece.y0);
        const Row row = row_of(m, y, middle);
        Line lines[largest_tile];
        int n = 0;
        for (std::int64_t x = piece.x0; x < piece.x1; ++x) {
          float* own = sums + ((y - piece.y0) * job.tile + (x - piece.x0)) * chunk;
          if (sight == Sight::awkward) {
            add_plainly(job, piece, view, {x, y}, own, 1);
            continue;
          }
          trace_line<kind>(job, row, seen, x, lines[n]);
          lines[n++].sums = own;
        }
        // Only linear interpolation has a variant for each case: it is the one that is used.
        if (seen.nearly_constant_w && kind == Interpolation::linear)
          seen.clamped ? add_lines<kind, Depth::polynomial, true>(job, piece, lines, n, seen.stride)
                       : add_lines<kind, Depth::polynomial, false>(job, piece, lines, n, seen.stride);
        else if (kind == Interpolation::linear && seen.slowly_changing_w)
          seen.clamped ? add_lines<kind, Depth::series, true>(job, piece, lines, n, seen.stride)
                       : add_lines<kind, Depth::series, false>(job, piece, lines, n, seen.stride);
        else
          seen.clamped ? add_lines<kind, Depth::division, true>(job, piece, lines, n, seen.stride)
                       : add_lines<kind, Depth::division, false>(job, piece, lines, n, seen.stride);
      }
    }
    for (std::int64_t y = piece.y0; y < piece.y1; ++y)
      for (std::int64_t x = piece.x0; x < piece.x1; ++x)
        add_to_slab(job, piece, {x, y}, sums + ((y - piece.y0) * job.tile + (x - piece.x0)) * chunk);
  }
}

void general(const Job& job, std::int64_t first, std::int64_t last, Scratch& scratch) {
  note_target(hwy::TargetName(HWY_TARGET));
  for (std::int64_t task = first; task < last; ++task) {
    if (job.interpolation == Interpolation::nearest)
      run_general<Interpolation::nearest>(job, task, scratch);
    else if (job.interpolation == Interpolation::linear)
      run_general<Interpolation::linear>(job, task, scratch);
    else
      run_general<Interpolation::cubic>(job, task, scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
