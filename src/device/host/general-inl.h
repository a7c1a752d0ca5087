// SPDX-License-Identifier: Apache-2.0
// Backprojection with any matrices (tilted detectors, jittered views), compiled once per SIMD target. Lanes run along
// z, or along x where there are only a few slices. For a tile of voxel columns and a view the part of the detector that
// the tile sees is known beforehand. For linear interpolation it is copied into texels (a pixel and the difference to
// the next column's), so that one load of 16 bytes brings all four taps; for the others it is read in place where the
// band holds all of it. Copies have zeros around them, so that the loop over the voxels asks no questions. Coordinates
// are counted from where the chunk's middle falls, which keeps them small and exact; where w changes little along a
// chunk, as with any wobbling orbit, a series saves the division. NEON has a loop of its own for most of it:
// fixed_point-inl.h.
#if defined(LEPUS_BACKEND_CPU_GENERAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_GENERAL_INL_H_
#undef LEPUS_BACKEND_CPU_GENERAL_INL_H_
#else
#define LEPUS_BACKEND_CPU_GENERAL_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "device/host/fixed_point-inl.h"
#include "device/host/kernel.h"
#include "device/host/make_texels-inl.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "device/host/texels-inl.h"
#include "project/interpolate.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// Four taps lie together in texels of two floats, a pixel and what the next column's differs from it by, row after row:
// the picture's value in every lane, where taps start at texel p[at[i]].
HWY_INLINE VF interpolate_texels(const float* HWY_RESTRICT p, const std::int32_t* HWY_RESTRICT at, VF fu,
                                 const float* HWY_RESTRICT fv) {
  const Floats d;
#if LEPUS_LANES == 4 || LEPUS_LANES == 8
  const hn::Repartition<double, Floats> pairs;
  const auto fetch = [p, at](int i) HWY_ATTR {
    const auto quad = [p, at](int k) HWY_ATTR { return hn::LoadU(Quads(), p + 2 * std::int64_t{at[k]}); };
#if LEPUS_LANES == 4
    return quad(i);
#else
    return hn::Combine(Floats(), quad(i + 4), quad(i));
#endif
  };
  // Of two lanes at a time (in every block of four): the first rows' pixels and differences, the second rows'.
  const auto between_rows = [&](int i) HWY_ATTR {
    const VF x = fetch(i), y = fetch(i + 1);
    const VF first = hn::InterleaveLower(d, x, y), second = hn::InterleaveUpper(d, x, y);
    return hn::BitCast(pairs, hn::MulAdd(load_pairs_twice(fv + i), hn::Sub(second, first), first));
  };
  const auto low = between_rows(0), high = between_rows(2);
  const VF pixels = hn::BitCast(d, hn::InterleaveLower(pairs, low, high));
  return hn::MulAdd(fu, hn::BitCast(d, hn::InterleaveUpper(pairs, low, high)), pixels);
#else
  const VI offset = hn::Load(Ints(), at), first = hn::Add(offset, offset);
  const VF f = hn::Load(d, fv);
  const auto row = [&](const float* HWY_RESTRICT q) HWY_ATTR {
    return hn::MulAdd(fu, hn::GatherIndex(d, q + 1, first), hn::GatherIndex(d, q, first));
  };
  const VF a = row(p), b = row(p + 2);
  return hn::MulAdd(f, hn::Sub(b, a), a);
#endif
}

// The same of a picture as it is (nearest and cubic): taps start at p[at[i]], columns are stride apart.
template <Interpolation kind>
HWY_INLINE VF interpolate(const float* HWY_RESTRICT p, std::int64_t stride, const std::int32_t* HWY_RESTRICT at, VF fu,
                          VF fv) {
  VF a, b;
  if constexpr (kind == Interpolation::nearest) {
    fetch_pairs(p, at, a, b);
    return a;
  } else {
    fetch_pairs(p, at, a, b);
    VF ra, rb, rc, re, ca, cb, cc, ce;
    cubic_weights(Floats(), fv, ra, rb, rc, re);
    cubic_weights(Floats(), fu, ca, cb, cc, ce);
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

constexpr int floats_per_pixel(Interpolation kind) { return kind == Interpolation::linear ? 2 : 1; }

// How the coordinates are computed: the less w changes along a chunk, the cheaper.
enum class Depth { division, series, polynomial };

// The paths of a row of voxel columns over the detector, each from the chunk's middle: with dz slices from there,
//   u = column + (a + b dz) s, v = row + (c + e dz) s, s = 1 / (1 + t dz), 1/w^2 = weight * s^2
// or as polynomials: u = column + a + b dz + b2 dz^2, v = row + c + e dz + e2 dz^2, 1/w^2 = weight + weight1 dz.
struct Lines {
  using Each = float[largest_tile];
  alignas(64) Each a;
  alignas(64) Each b;
  alignas(64) Each b2;
  alignas(64) Each c;
  alignas(64) Each e;
  alignas(64) Each e2;
  alignas(64) Each t;
  alignas(64) Each weight;
  alignas(64) Each weight1;
  // u and v are clamped to these: outside all taps are zero
  alignas(64) Each u_low;
  alignas(64) Each u_high;
  alignas(64) Each v_low;
  alignas(64) Each v_high;
  alignas(64) std::int32_t corner[largest_tile];  // pixel (column, row), counted from the box' corner
};

// Slices counted from the chunk's middle.
struct Slices {
  alignas(64) float dz[chunk];
  alignas(64) float squared[chunk];
};
constexpr Slices slices = [] {
  Slices s{};
  for (std::int64_t z = 0; z < chunk; ++z) {
    s.dz[z] = static_cast<float>(z - chunk / 2);
    s.squared[z] = s.dz[z] * s.dz[z];
  }
  return s;
}();

// What a vector holds (see texels-inl.h): the slices of one line, ...
class SlicesOfLine {
public:
  static constexpr bool looks_ahead = true;

  HWY_INLINE SlicesOfLine(const Lines& lines, int k) : lines_(lines), k_(k) {}
  HWY_INLINE VF dz(std::int64_t z) const { return hn::Load(Floats(), slices.dz + z); }
  HWY_INLINE VF dz_squared(std::int64_t z) const { return hn::Load(Floats(), slices.squared + z); }
  HWY_INLINE VF of(const Lines::Each& each, std::int64_t) const { return hn::Set(Floats(), each[k_]); }
  HWY_INLINE VI corner(std::int64_t) const { return hn::Zero(Ints()); }  // the pixels start at the line's own
  HWY_INLINE const Lines& lines() const { return lines_; }

private:
  const Lines& lines_;
  int k_;
};

// ... or the lines of a row, in one slice.
class LinesOfRow {
public:
  static constexpr bool looks_ahead = false;

  HWY_INLINE LinesOfRow(const Lines& lines, std::int64_t z) : lines_(lines), z_(z) {}
  HWY_INLINE VF dz(std::int64_t) const { return hn::Set(Floats(), slices.dz[z_]); }
  HWY_INLINE VF dz_squared(std::int64_t) const { return hn::Set(Floats(), slices.squared[z_]); }
  HWY_INLINE VF of(const Lines::Each& each, std::int64_t i) const { return hn::Load(Floats(), each + i); }
  HWY_INLINE VI corner(std::int64_t i) const { return hn::Load(Ints(), lines_.corner + i); }
  HWY_INLINE const Lines& lines() const { return lines_; }

private:
  const Lines& lines_;
  std::int64_t z_;
};

// n voxel columns from `start` on, along y or x; lanes past the end repeat the last, so that whole vectors can be
// computed. The same formula in the same order for both, so that the choice does not change a bit.
template <Interpolation kind, bool along_y>
void trace_lines(const Job& job, const Matrix34& m, double z, const Seen& seen, const PixelBox& box, ColumnIndex start,
                 int n, Lines& lines) {
  const Doubles d;
  const bool fan = job.beam == Beam::fan, parallel = job.beam == Beam::parallel;
  const bool polynomial = seen.nearly_constant_w && kind == Interpolation::linear;
  const VD one = hn::Set(d, 1.0), zero = hn::Zero(d);
  const double reach = zero_reach(kind), half = kind == Interpolation::nearest ? 0.5 : 0;
  const double right = static_cast<double>(job.columns - 1) + reach, top = static_cast<double>(job.rows - 1) + reach;
  const double base[3] = {m(0, 2) * z + m(0, 3), m(1, 2) * z + m(1, 3), m(2, 2) * z + m(2, 3)};
  const auto pixels_per_column = static_cast<double>(seen.stride / floats_per_pixel(kind));
  const double corner0 = -pixels_per_column * static_cast<double>(box.columns.first + taps_before(kind)) -
                         static_cast<double>(box.rows.first + taps_before(kind));
  const VD x0 = hn::Set(d, static_cast<double>(start.x)), y0 = hn::Set(d, static_cast<double>(start.y));
  const VD last = hn::Set(d, static_cast<double>(n - 1));
  for (int k = 0; k < whole_count(n); k += static_cast<int>(hn::Lanes(d))) {
    const VD number = hn::Min(hn::Iota(d, static_cast<double>(k)), last);
    const VD x = along_y ? x0 : hn::Add(x0, number), y = along_y ? hn::Add(y0, number) : y0;
    const auto dot = [&](int i) HWY_ATTR {
      return hn::MulAdd(hn::Set(d, m(i, 0)), x, hn::MulAdd(hn::Set(d, m(i, 1)), y, hn::Set(d, base[i])));
    };
    const VD r = hn::Div(one, dot(2)), rv = fan ? one : r;
    const VD u = hn::Mul(dot(0), r), v = hn::Mul(dot(1), rv);
    // Outside the detector only the side matters.
    const auto cell = [&](VD at, double end)
                          HWY_ATTR { return hn::Floor(hn::Min(hn::Max(at, hn::Set(d, -3.0)), hn::Set(d, end))); };
    const VD column = cell(u, static_cast<double>(job.columns + 2)), row = cell(v, static_cast<double>(job.rows + 2));
    const VD t = hn::Mul(hn::Set(d, m(2, 2)), r), tv = fan ? zero : t;
    const VD a = hn::Sub(u, column), b = hn::Sub(hn::Mul(hn::Set(d, m(0, 2)), r), hn::Mul(column, t));
    const VD c = hn::Sub(v, row), e = hn::Sub(hn::Mul(hn::Set(d, m(1, 2)), rv), hn::Mul(row, tv));
    const VD weight = job.weighted ? hn::Mul(r, r) : one;
    store_whole(hn::Add(hn::MulAdd(column, hn::Set(d, pixels_per_column), row), hn::Set(d, corner0)), lines.corner + k);
    store_single(a, lines.a + k);
    store_single(c, lines.c + k);
    store_single(weight, lines.weight + k);
    if (polynomial) {
      // The third degree, dz^3, is replaced by 3/4 h^2 dz, which leaves a quarter of it (h: half a chunk; Chebyshev).
      const VD cubed = hn::Set(d, 0.75 * (chunk / 2) * (chunk / 2));
      const VD b1 = hn::Sub(b, hn::Mul(a, t)), e1 = hn::Sub(e, hn::Mul(c, tv));
      store_single(hn::Mul(b1, hn::Add(one, hn::Mul(cubed, hn::Mul(t, t)))), lines.b + k);
      store_single(hn::Neg(hn::Mul(b1, t)), lines.b2 + k);
      store_single(hn::Mul(e1, hn::Add(one, hn::Mul(cubed, hn::Mul(tv, tv)))), lines.e + k);
      store_single(hn::Neg(hn::Mul(e1, tv)), lines.e2 + k);
      store_single(parallel || !job.weighted ? zero : hn::Mul(hn::Mul(hn::Set(d, -2.0), weight), t), lines.weight1 + k);
    } else {
      store_single(b, lines.b + k);
      store_single(e, lines.e + k);
      store_single(t, lines.t + k);
    }
    if (!seen.clamped) continue;
    store_single(hn::Sub(hn::Set(d, -reach), column), lines.u_low + k);
    store_single(hn::Sub(hn::Set(d, right + half), column), lines.u_high + k);
    store_single(hn::Sub(hn::Set(d, -reach), row), lines.v_low + k);
    store_single(hn::Sub(hn::Set(d, top + half), row), lines.v_high + k);
  }
}

// Where voxels fall: their first taps, in pixels from the line's corner or the box', and the fractions beyond.
struct Places {
  alignas(64) std::int32_t offset[chunk];
  alignas(64) float fu[chunk];
  alignas(64) float fv[chunk];
  alignas(64) float weight[chunk];
};

template <Interpolation kind, bool clamped, class Lanes>
HWY_INLINE void set_place(const Lanes& lanes, VF u, VF v, VF stride, Places& places, std::int64_t i) {
  const Floats d;
  if constexpr (kind == Interpolation::nearest) {
    u = hn::Add(u, hn::Set(d, 0.5f));
    v = hn::Add(v, hn::Set(d, 0.5f));
  }
  if constexpr (clamped) {
    const Lines& lines = lanes.lines();
    u = hn::Min(hn::Max(u, lanes.of(lines.u_low, i)), lanes.of(lines.u_high, i));
    v = hn::Min(hn::Max(v, lanes.of(lines.v_low, i)), lanes.of(lines.v_high, i));
  }
  const VF u_whole = hn::Floor(u), v_whole = hn::Floor(v);
  hn::Store(hn::Sub(u, u_whole), d, places.fu + i);
  hn::Store(hn::Sub(v, v_whole), d, places.fv + i);
  // Whole numbers below 2^24 are exact in single precision; look() refuses larger ones.
  hn::Store(hn::Add(whole(hn::MulAdd(u_whole, stride, v_whole)), lanes.corner(i)), Ints(), places.offset + i);
}

template <Interpolation kind, Depth depth, bool clamped, class Lanes>
HWY_INLINE void find_places(const Job& job, const Lanes& lanes, std::int64_t stride, std::int64_t begin,
                            std::int64_t end, Places& places) {
  const Floats d;
  const Lines& lines = lanes.lines();
  const VF one = hn::Set(d, 1.0f), column_stride = hn::Set(d, static_cast<float>(stride / floats_per_pixel(kind)));
  const bool fan = job.beam == Beam::fan, same_weight = job.beam == Beam::parallel || !job.weighted;
  for (std::int64_t i = begin; i < end; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const VF dz = lanes.dz(i), weight = lanes.of(lines.weight, i);
    const VF a = lanes.of(lines.a, i), b = lanes.of(lines.b, i), c = lanes.of(lines.c, i), e = lanes.of(lines.e, i);
    if constexpr (depth == Depth::polynomial) {
      const VF squared = lanes.dz_squared(i);
      const VF u = hn::MulAdd(b, dz, hn::MulAdd(lanes.of(lines.b2, i), squared, a));
      const VF v = hn::MulAdd(e, dz, hn::MulAdd(lanes.of(lines.e2, i), squared, c));
      set_place<kind, clamped>(lanes, u, v, column_stride, places, i);
      hn::Store(hn::MulAdd(lanes.of(lines.weight1, i), dz, weight), d, places.weight + i);
    } else {
      const VF tz = hn::Mul(lanes.of(lines.t, i), dz);
      const VF change = depth == Depth::series ? hn::Mul(tz, hn::Sub(tz, one))  // of s from 1
                                               : hn::Neg(hn::Div(tz, hn::Add(one, tz)));
      VF u = hn::MulAdd(b, dz, a), v = hn::MulAdd(e, dz, c);
      u = hn::MulAdd(u, change, u);
      if (!fan) v = hn::MulAdd(v, change, v);
      const VF s = hn::Add(change, one);
      set_place<kind, clamped>(lanes, u, v, column_stride, places, i);
      hn::Store(same_weight ? weight : hn::Mul(hn::Mul(weight, s), s), d, places.weight + i);
    }
  }
}

// What the next line will read is fetched into the L1 cache meanwhile, at the same offsets from its corner `ahead`.
template <Interpolation kind, bool looks_ahead>
HWY_INLINE void add_places(const Places& places, const float* HWY_RESTRICT corner, const float* HWY_RESTRICT ahead,
                           std::int64_t stride, std::int64_t begin, std::int64_t end, float* HWY_RESTRICT sums) {
  const Floats d;
  for (std::int64_t i = begin; i < end; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const VF fu = hn::Load(d, places.fu + i);
    VF value;
    if constexpr (kind == Interpolation::linear) {
      if constexpr (looks_ahead) hwy::Prefetch(ahead + 2 * std::int64_t{places.offset[i]});
      value = interpolate_texels(corner, places.offset + i, fu, places.fv + i);
    } else {
      value = interpolate<kind>(corner, stride, places.offset + i, fu, hn::Load(d, places.fv + i));
    }
    hn::Store(hn::MulAdd(hn::Load(d, places.weight + i), value, hn::Load(d, sums + i)), d, sums + i);
  }
}

// A row of voxel columns, in stages (see upright-inl.h). Their sums are `apart` floats apart.
template <Interpolation kind, Depth depth, bool clamped>
void add_lines(const Job& job, const Piece& piece, const Seen& seen, const Lines& lines, int n, float* sums,
               std::int64_t apart) {
  constexpr int ahead = 4;
  for (int first = 0; first < n; first += ahead) {
    Places places[ahead];
    const int last = std::min(first + ahead, n);
    for (int k = first; k < last; ++k)
      find_places<kind, depth, clamped>(job, SlicesOfLine(lines, k), seen.stride, piece.begin, piece.end,
                                        places[k - first]);
    for (int k = first; k < last; ++k) {
      const auto corner = [&](int i)
                              HWY_ATTR { return seen.pixels + std::int64_t{lines.corner[i]} * floats_per_pixel(kind); };
      const int next = std::min(k + 1, n - 1);
      for (std::int64_t z = piece.begin; z < piece.end; z += 16) hwy::Prefetch(sums + next * apart + z);
      add_places<kind, true>(places[k - first], corner(k), corner(next), seen.stride, piece.begin, piece.end,
                             sums + k * apart);
    }
  }
}

// A few slices of a row. Their sums are `apart` floats apart.
template <Interpolation kind, Depth depth, bool clamped>
void add_slices(const Job& job, const Piece& piece, const Seen& seen, const Lines& lines, int count, float* sums,
                std::int64_t apart) {
  for (std::int64_t z = piece.first; z < piece.last; ++z) {
    Places places;
    find_places<kind, depth, clamped>(job, LinesOfRow(lines, z), seen.stride, 0, count, places);
    add_places<kind, false>(places, seen.pixels, nullptr, seen.stride, 0, count, sums + (z - piece.first) * apart);
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
  const SumPlaces place(job, piece, 1);
  for (std::int64_t block = 0; block < views; block += block_of_views) {
    float* sums = scratch.sums.data();
    std::memset(sums, 0, sizeof(float) * static_cast<std::size_t>(place.size()));
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
      if (sight == Sight::awkward)
        for (std::int64_t y = piece.y0; y < piece.y1; ++y)
          for (std::int64_t x = piece.x0; x < piece.x1; ++x)
            add_plainly(job, piece, view, {x, y}, sums + place(x - piece.x0, y - piece.y0, piece.first),
                        place.slice_step());
      if (sight != Sight::plain) continue;
      const ViewBand& band = job.wedge->bands[static_cast<std::size_t>(view)];
      Seen seen = survey(job, m, band, piece, box);
#if LEPUS_NEON
      if (kind == Interpolation::linear && seen.fixed_point) {
        job.beam == Beam::fan ? add_fixed_view<true>(job, piece, m, band, box, place, next, scratch)
                              : add_fixed_view<false>(job, piece, m, band, box, place, next, scratch);
        continue;
      }
#endif
      if constexpr (kind == Interpolation::linear)
        seen.pixels = make_texels<kind, 1, true>(job, &band, box, 0, scratch, seen.stride);
      else
        bring(job, band, box, scratch, seen);
      const LineOrder order(m, piece, box);
      for (std::int64_t i = 0; i < order.rows; ++i) {
        prefetch(job, next, i, order.rows);
        Lines lines;
        order.along_y ? trace_lines<kind, true>(job, m, middle, seen, box, order.start(i), order.lines, lines)
                      : trace_lines<kind, false>(job, m, middle, seen, box, order.start(i), order.lines, lines);
        // Only linear interpolation has a variant for each case: it is the one that is used.
        const auto add = [&](auto depth) HWY_ATTR {
          if (piece.few()) {
            float* own = sums + place(0, i, piece.first);
            const int count = whole_count(order.lines);
            seen.clamped ? add_slices<kind, depth, true>(job, piece, seen, lines, count, own, place.slice_step())
                         : add_slices<kind, depth, false>(job, piece, seen, lines, count, own, place.slice_step());
            return;
          }
          float* own = sums + order.first_sum(place, i);
          const std::int64_t apart = order.sums_apart(place);
          seen.clamped ? add_lines<kind, depth, true>(job, piece, seen, lines, order.lines, own, apart)
                       : add_lines<kind, depth, false>(job, piece, seen, lines, order.lines, own, apart);
        };
        if (kind == Interpolation::linear && seen.nearly_constant_w)
          add(std::integral_constant<Depth, Depth::polynomial>());
        else if (kind == Interpolation::linear && seen.slowly_changing_w)
          add(std::integral_constant<Depth, Depth::series>());
        else
          add(std::integral_constant<Depth, Depth::division>());
      }
    }
    if (piece.few())
      for (std::int64_t y = piece.y0; y < piece.y1; ++y)
        add_row_to_slab(job, piece, place, {piece.x0, y}, false, piece.x1 - piece.x0, 1, 0, sums);
    for (std::int64_t y = piece.y0; !piece.few() && y < piece.y1; ++y)
      for (std::int64_t x = piece.x0; x < piece.x1; ++x)
        add_to_slab(job, piece, {x, y}, sums + place(x - piece.x0, y - piece.y0, 0));
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
