// SPDX-License-Identifier: Apache-2.0
// The first stage of upright-inl.h, compiled once per SIMD target: where the voxel columns of a tile fall onto the
// detector, and, of a few slices, where the taps of each lie.
#if defined(LEPUS_BACKEND_CPU_TRACE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_TRACE_INL_H_
#undef LEPUS_BACKEND_CPU_TRACE_INL_H_
#else
#define LEPUS_BACKEND_CPU_TRACE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "device/host/texels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// What the paths of a tile lead over.
struct Texels {
  const float* data;
  std::int64_t stride;  // floats per column
  bool inside;          // nothing must be clamped
  Frame frame;
  float columns_apart, corner;  // in texels: of pixels side by side, and of the frame's first taps; whole numbers
};

// NEON adds four symmetric views by a loop of its own (walk_four_views), which needs no ratio of weights.
template <Interpolation kind, int group>
constexpr bool own_walk = LEPUS_NEON&& kind == Interpolation::linear&& group == 4;

// A number in every lane, in memory.
struct Constant {
  alignas(32) float lanes[LEPUS_MAXIMUM_LANES];

  HWY_INLINE void operator=(VF v) { hn::Store(v, Floats(), lanes); }
  HWY_INLINE void operator=(float v) { *this = hn::Set(Floats(), v); }
  HWY_INLINE VF operator()() const { return hn::Load(Floats(), lanes); }
  // To be added to. A multiply-add of NEON overwrites its addend: a copy of a register takes a slot of the arithmetic,
  // a load does not. It is volatile, or else the compiler would load once and copy.
  HWY_INLINE VF addend() const {
#if LEPUS_NEON
    return VF{*reinterpret_cast<const volatile float32x4_t*>(lanes)};
#else
    return (*this)();
#endif
  }
};

// 1 / w by Newton's iteration: the estimate has at least 8 bits, and each step doubles them. A division takes longer.
HWY_INLINE VF reciprocal(VF w, const Constant& one) {
  VF r = hn::ApproximateReciprocal(w);
  for (int step = 0; step < 2; ++step) r = hn::MulAdd(r, hn::NegMulAdd(w, r, one.addend()), r);
  return r;
}

// Voxel columns in a row, counted from the tile's middle along the axis that the row runs along. Lanes past the end
// repeat the last, so that whole pairs of vectors can be computed.
struct RowNumbers {
  alignas(64) float of[largest_tile];
  int count;

  void set(std::int64_t start, std::int64_t step, int n) {
    count = whole_count((n + 1) / 2) * 2;
    for (int k = 0; k < count; ++k) of[k] = static_cast<float>(start + step * std::min(k, n - 1));
  }
};

// A tile's voxel columns in rows, in the order of work, and where these stand as the view sees them, turned: counted
// from the middle of the turned tile.
struct TileRows {
  bool swapped;                    // rows run along the tile's y
  std::int64_t count, length;      // rows, and voxel columns of each
  bool along_y;                    // turned, rows run along the grid's y
  std::int64_t other, other_step;  // of the first row on the other axis, and from row to row
  RowNumbers numbers;

  TileRows(const Job& job, const Piece& piece, const Frame& frame, int group, int turn, bool swap)
      : swapped(swap),
        count(swap ? piece.x1 - piece.x0 : piece.y1 - piece.y0),
        length(swap ? piece.y1 - piece.y0 : piece.x1 - piece.x0) {
    const auto from_middle = [&](std::int64_t row, std::int64_t k) {
      const ColumnIndex at = column(row, k);
      const ColumnIndex t = turned(ColumnIndex{piece.x0 + at.x, piece.y0 + at.y}, job.grid, group, turn);
      return ColumnIndex{t.x - frame.middle.x, t.y - frame.middle.y};
    };
    const ColumnIndex first = from_middle(0, 0), second = from_middle(0, 1), next = from_middle(1, 0);
    along_y = second.y != first.y;
    other = along_y ? first.x : first.y;
    other_step = (along_y ? next.x : next.y) - other;
    numbers.set(along_y ? first.y : first.x, along_y ? second.y - first.y : second.x - first.x,
                static_cast<int>(length));
  }
  // Column k of a row, counted from the tile's first.
  ColumnIndex column(std::int64_t row, std::int64_t k) const { return {swapped ? row : k, swapped ? k : row}; }
  VF aside(std::int64_t row) const { return hn::Set(Floats(), static_cast<float>(other + row * other_step)); }
};

// A plane of the frame, as rows of voxel columns need it: see on_plane.
struct PlaneAt {
  Constant middle, along_x, along_y;
  Constant row;                           // in rows along x: plane[2] dy + plane[0]
  alignas(64) float inner[largest_tile];  // in rows along y: the same for each voxel column

  HWY_INLINE PlaneAt(const Frame::Plane& plane, const RowNumbers& numbers, bool rows_along_y) {
    along_x = plane[1];
    middle = plane[0];
    along_y = plane[2];
    const Floats d;
    if (rows_along_y)
      for (int k = 0; k < numbers.count; k += static_cast<int>(hn::Lanes(d)))
        hn::Store(hn::MulAdd(along_y(), hn::Load(d, numbers.of + k), middle()), d, inner + k);
  }
  HWY_INLINE void go_to_row(VF y) { row = hn::MulAdd(along_y(), y, middle()); }
};

// What a tile's voxel columns have in common in one view: see Frame.
struct Constants {
  PlaneAt depth, u, v;
  Constant one, u_offset, v_offset, dv, inverse_w, u_low, u_high, v_low, v_high, columns_apart, corner;

  HWY_INLINE Constants(const Texels& texels, const RowNumbers& row, bool along_y)
      : depth(texels.frame.depth, row, along_y), u(texels.frame.u, row, along_y), v(texels.frame.v, row, along_y) {
    const Frame& f = texels.frame;
    one = 1.0f;
    u_offset = f.u_offset;
    v_offset = f.v_offset;
    dv = f.dv;
    inverse_w = f.inverse_w;
    u_low = f.u_low;
    u_high = f.u_high;
    v_low = f.v_low;
    v_high = f.v_high;
    columns_apart = texels.columns_apart;
    corner = texels.corner;
  }
};

// The whole number below, by adding a large one, whose unit in the last place is one: v is positive, and exactly at a
// whole number it may be the one before.
HWY_INLINE VF rounded_down(VF v) {
  const Floats d;
  return hn::Sub(hn::Add(v, hn::Set(d, 8388607.5f)), hn::Set(d, 8388608.0f));  // 2^23 - 1/2, 2^23
}

// A plane of the frame at a vector of voxel columns. The same formula in the same order along x and y, so that the
// direction does not change a bit: plane[1] dx + (plane[2] dy + plane[0]). What is in brackets is the same for a whole
// row along x, and in rows along y the same for all rows.
template <bool along_y>
HWY_INLINE VF on_plane(const PlaneAt& at, const RowNumbers& row, int k, VF aside) {
  return along_y ? hn::MulAdd(at.along_x(), aside, hn::Load(Floats(), at.inner + k))
                 : hn::MulAdd(at.along_x(), hn::Load(Floats(), row.of + k), at.row.addend());
}

// A vector of voxel columns over the detector: see Frame. Their weights go to memory, what leads to a slice's taps is
// the result. plain: v is divided by w too, FDK's weight, nothing must be clamped.
template <Interpolation kind, int group, bool along_y, bool plain>
HWY_INLINE void trace_vector(const Job& job, bool inside, const Constants& tile, const RowNumbers& row, VF aside, int k,
                             Paths& paths, VF& v, VF& dv, VF& corner) {
  const Floats d;
  const VF s = hn::Load(d, paths.s + k), sv = plain || job.beam != Beam::fan ? s : tile.one();
  VF u = hn::MulAdd(on_plane<along_y>(tile.u, row, k, aside), s, tile.u_offset.addend());
  if (!plain && !inside) {
    u = hn::Min(hn::Max(u, tile.u_low()), tile.u_high());
    hn::Store(u, d, paths.u + k);
  }
  const VF cell = own_walk<kind, group> ? rounded_down(u) : hn::ConvertTo(d, whole(u));
  const VF f = hn::Sub(u, cell), inverse = hn::Mul(tile.inverse_w(), s);
  const VF distance = plain || job.weighted ? hn::Mul(inverse, inverse) : tile.one();
  v = hn::MulAdd(on_plane<along_y>(tile.v, row, k, aside), sv, tile.v_offset.addend());
  dv = hn::Mul(tile.dv(), sv);
  corner = hn::MulAdd(cell, tile.columns_apart(), tile.corner.addend());
  if constexpr (kind == Interpolation::nearest) {
    hn::Store(distance, d, paths.weight[0] + k);  // the second column counts nothing
    hn::Store(hn::Zero(d), d, paths.weight[1] + k);
    hn::Store(hn::Zero(d), d, paths.ratio + k);
  } else if constexpr (kind == Interpolation::linear) {
    const VF a = hn::Mul(hn::Sub(tile.one(), f), distance), b = hn::Mul(f, distance);
    hn::Store(a, d, paths.weight[0] + k);
    hn::Store(b, d, paths.weight[1] + k);
    if constexpr (!own_walk<kind, group>) hn::Store(hn::Div(b, a), d, paths.ratio + k);
  } else {
    VF a, b, c, e;
    cubic_weights(d, f, a, b, c, e);
    hn::Store(hn::Mul(a, distance), d, paths.weight[0] + k);
    hn::Store(hn::Mul(b, distance), d, paths.weight[1] + k);
    hn::Store(hn::Mul(c, distance), d, paths.weight[2] + k);
    hn::Store(hn::Mul(e, distance), d, paths.weight[3] + k);
  }
}

// visit(first voxel column, v, dv, corner, and those of the second vector) for pairs of vectors of row `i`. All
// reciprocals first, and then pairs: a processor waits for each result of a long chain, and sees too few instructions
// ahead to begin the next vector meanwhile.
template <Interpolation kind, int group, bool along_y, bool plain, class Visit>
HWY_INLINE void trace_pairs(const Job& job, bool inside, Constants& tile, const TileRows& rows, std::int64_t i,
                            Paths& paths, const Visit& visit) {
  const Floats d;
  const RowNumbers& row = rows.numbers;
  const VF aside = rows.aside(i);
  if constexpr (!along_y) {
    tile.depth.go_to_row(aside);
    tile.u.go_to_row(aside);
    tile.v.go_to_row(aside);
  }
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int k = 0; k < row.count; k += lanes)
    hn::Store(reciprocal(on_plane<along_y>(tile.depth, row, k, aside), tile.one), d, paths.s + k);
  for (int k = 0; k < row.count; k += 2 * lanes) {
    VF v0, dv0, corner0, v1, dv1, corner1;
    trace_vector<kind, group, along_y, plain>(job, inside, tile, row, aside, k, paths, v0, dv0, corner0);
    trace_vector<kind, group, along_y, plain>(job, inside, tile, row, aside, k + lanes, paths, v1, dv1, corner1);
    visit(k, v0, dv0, corner0, v1, dv1, corner1);
  }
}

// For vectors along z: the paths of a row.
template <Interpolation kind, int group, bool along_y>
HWY_INLINE void trace(const Job& job, bool inside, Constants& tile, const TileRows& rows, std::int64_t i,
                      Paths& paths) {
  const auto keep = [&](int k, VF v0, VF dv0, VF corner0, VF v1, VF dv1, VF corner1) HWY_ATTR {
    const Floats d;
    const int next = k + static_cast<int>(hn::Lanes(d));
    hn::Store(v0, d, paths.v + k);
    hn::Store(v1, d, paths.v + next);
    hn::Store(dv0, d, paths.dv + k);
    hn::Store(dv1, d, paths.dv + next);
    hn::Store(corner0, d, paths.corner + k);
    hn::Store(corner1, d, paths.corner + next);
  };
  trace_pairs<kind, group, along_y, false>(job, inside, tile, rows, i, paths, keep);
}

// The first row of taps, and how far beyond it v is.
template <Interpolation kind, bool clamped>
HWY_INLINE VI row_below(VF low, VF high, VF v, VF& f) {
  const Floats d;
  if constexpr (clamped) v = hn::Min(hn::Max(v, low), high);
  const VI row = whole(v);
  // nearest takes the whole part alone
  f = kind == Interpolation::nearest ? hn::Zero(d) : hn::Sub(v, hn::ConvertTo(d, row));
  return row;
}

// Where the first taps of a vector of voxel columns lie in one slice, and how far beyond them v is, or the weights of
// the rows; to the bits of add_linear, where they are made for each slice.
template <Interpolation kind, int group, bool clamped>
HWY_INLINE void step_of_slice(const Constants& tile, const Paths& paths, VF v, VF corner, int k, Steps& steps) {
  const Floats d;
  const Ints di;
  if constexpr (own_walk<kind, group>) {  // see walk_four_views
    if constexpr (clamped) v = hn::Min(hn::Max(v, tile.v_low()), tile.v_high());
    const VF unit = hn::Set(d, 8388608.0f), row = hn::Add(v, hn::Set(d, 8388607.5f));  // 2^23, 2^23 - 1/2
    hn::Store(hn::BitCast(di, hn::Add(row, corner)), di, steps.offset + k);
    hn::Store(hn::Sub(v, hn::Sub(row, unit)), d, steps.fraction + k);
  } else {
    VF f;
    const VI row = row_below<kind, clamped>(tile.v_low(), tile.v_high(), v, f);
    hn::Store(hn::Mul(hn::Add(row, whole(corner)), hn::Set(di, texel_size(kind, group))), di, steps.offset + k);
    if constexpr (row_weights<kind, group>) {
      const VF a = hn::Load(d, paths.weight[0] + k);
      hn::Store(hn::NegMulAdd(a, f, a), d, steps.near_row + k);
      hn::Store(hn::Mul(a, f), d, steps.far_row + k);
    } else {
      hn::Store(f, d, steps.fraction + k);
    }
  }
}

// A few slices of a row of voxel columns, from tracing them to where their taps lie.
template <Interpolation kind, int group, bool along_y, bool plain>
HWY_INLINE void step_along_row(const Job& job, const Piece& piece, bool inside, Constants& tile, const TileRows& rows,
                               std::int64_t i, Paths& paths, Steps* steps) {
  const float* HWY_RESTRICT dzs = slice_numbers.dz + piece.first;
  const std::int64_t slices = piece.last - piece.first;
  const auto count = [dzs, slices, steps, &tile, &paths](int k, VF v0, VF dv0, VF corner0, VF v1, VF dv1,
                                                         VF corner1) HWY_ATTR {
    const Floats d;
    const int next = k + static_cast<int>(hn::Lanes(d));
    const auto slice = [&](std::int64_t z) HWY_ATTR {
      const VF dz = hn::Set(d, dzs[z]);
      step_of_slice<kind, group, !plain>(tile, paths, hn::MulAdd(dv0, dz, v0), corner0, k, steps[z]);
      step_of_slice<kind, group, !plain>(tile, paths, hn::MulAdd(dv1, dz, v1), corner1, next, steps[z]);
    };
    // The last one by itself: most often it is the only one, and then all is one run of instructions.
    for (std::int64_t z = 0; z < slices - 1; ++z) slice(z);
    slice(slices - 1);
  };
  trace_pairs<kind, group, along_y, plain>(job, inside, tile, rows, i, paths, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
