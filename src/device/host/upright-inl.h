// SPDX-License-Identifier: Apache-2.0
// Backprojection along upright orbits, compiled once per SIMD target: u and w are constant along a voxel column, v is
// affine, so that a column of voxels walks down two columns of the detector; no division, no gather.
// What a tile of voxel columns sees of a group of views is first copied into texels of neighbouring floats:
//   group 4: the same pixel of four views a quarter turn apart. Voxel R^j X sees view k where X turned by (j - k) sees
//            view 0: four voxels and four views share one coordinate, and a vector holds the four voxels;
//   group 2: the same pixel of two views, half a turn apart; with the row below it that makes four floats;
//   group 1: two neighbouring columns of one view; with the row below them all four taps.
// One load of 16 bytes then brings four useful floats wherever v falls.
#if defined(LEPUS_BACKEND_CPU_UPRIGHT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_UPRIGHT_INL_H_
#undef LEPUS_BACKEND_CPU_UPRIGHT_INL_H_
#else
#define LEPUS_BACKEND_CPU_UPRIGHT_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "device/host/texels-inl.h"
#include "project/detector_point.h"
#include "project/interpolate.h"

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

// 1 / w by Newton's iteration: the estimate has at least 8 bits, and each step doubles them. A division takes longer.
HWY_INLINE VF reciprocal(VF w) {
  VF r = hn::ApproximateReciprocal(w);
  for (int step = 0; step < 2; ++step) r = hn::MulAdd(r, hn::NegMulAdd(w, r, hn::Set(Floats(), 1.0f)), r);
  return r;
}

// Voxel columns in a row, counted from the tile's middle along the axis that the row runs along. Lanes past the end
// repeat the last, so that whole vectors can be computed.
struct RowNumbers {
  alignas(64) float of[largest_tile];
  int count;  // whole vectors

  RowNumbers(std::int64_t start, std::int64_t step, int n) : count(whole_count(n)) {
    for (int k = 0; k < count; ++k) of[k] = static_cast<float>(start + step * std::min(k, n - 1));
  }
};

// The whole number below, by adding a large one, whose unit in the last place is one: v is positive, and exactly at a
// whole number it may be the one before.
HWY_INLINE VF rounded_down(VF v) {
  const Floats d;
  return hn::Sub(hn::Add(v, hn::Set(d, 8388607.5f)), hn::Set(d, 8388608.0f));  // 2^23 - 1/2, 2^23
}

// A row of voxel columns over the detector: see Frame. `other` is where the row stands on the other axis. The same
// formula in the same order along x and y, so that the direction does not change a bit.
template <Interpolation kind, int group, bool along_y>
HWY_INLINE void trace(const Job& job, const Texels& texels, const RowNumbers& row, std::int64_t other, Paths& paths) {
  const Floats d;
  const Frame frame = texels.frame;
  const VF one = hn::Set(d, 1.0f), aside = hn::Set(d, static_cast<float>(other));
  const auto divide_v = hn::Eq(hn::Set(d, job.beam == Beam::fan ? 0.0f : 1.0f), one);
  for (int k = 0; k < row.count; k += static_cast<int>(hn::Lanes(d))) {
    const VF along = hn::Load(d, row.of + k), dx = along_y ? aside : along, dy = along_y ? along : aside;
    const auto on = [&](const Frame::Plane& plane) HWY_ATTR {
      return hn::MulAdd(hn::Set(d, plane[1]), dx, hn::MulAdd(hn::Set(d, plane[2]), dy, hn::Set(d, plane[0])));
    };
    const VF s = reciprocal(on(frame.depth)), sv = hn::IfThenElse(divide_v, s, one);
    VF u = hn::MulAdd(on(frame.u), s, hn::Set(d, frame.u_offset));
    if (!texels.inside) {
      u = hn::Min(hn::Max(u, hn::Set(d, frame.u_low)), hn::Set(d, frame.u_high));
      hn::Store(u, d, paths.u + k);
    }
    const VF cell = own_walk<kind, group> ? rounded_down(u) : hn::ConvertTo(d, whole(u));
    const VF f = hn::Sub(u, cell), inverse = hn::Mul(hn::Set(d, frame.inverse_w), s);
    const VF distance = job.weighted ? hn::Mul(inverse, inverse) : one;
    hn::Store(hn::MulAdd(on(frame.v), sv, hn::Set(d, frame.v_offset)), d, paths.v + k);
    hn::Store(hn::Mul(hn::Set(d, frame.dv), sv), d, paths.dv + k);
    hn::Store(hn::MulAdd(cell, hn::Set(d, texels.columns_apart), hn::Set(d, texels.corner)), d, paths.corner + k);
    if constexpr (kind == Interpolation::nearest) {
      hn::Store(distance, d, paths.weight[0] + k);
    } else if constexpr (kind == Interpolation::linear) {
      const VF a = hn::Mul(hn::Sub(one, f), distance), b = hn::Mul(f, distance);
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
}

constexpr int steps_ahead = 4;

// Where the first tap of each lies and how far beyond it v is.
template <Interpolation kind, int group, bool clamped, class Lanes>
HWY_INLINE void count_steps(const Lanes& lanes, const Frame& frame, std::int64_t begin, std::int64_t end,
                            Steps& steps) {
  const Floats d;
  const Ints di;
  const VF low = hn::Set(d, frame.v_low), high = hn::Set(d, frame.v_high);
  for (std::int64_t z = begin; z < end; z += static_cast<std::int64_t>(hn::Lanes(d))) {
    VF v = hn::MulAdd(lanes.dv(z), lanes.dz(z), lanes.v(z));
    if constexpr (clamped) v = hn::Min(hn::Max(v, low), high);
    const VI row = whole(v);
    hn::Store(hn::Mul(lanes.from_corner(row, z), hn::Set(di, texel_size(kind, group))), di, steps.offset + z);
    // nearest takes the whole part alone
    const VF f = kind == Interpolation::nearest ? hn::Zero(d) : hn::Sub(v, hn::ConvertTo(d, row));
    hn::Store(f, d, steps.fraction + z);
  }
}

#if LEPUS_NEON
// Both stages in one for four symmetric views, which is what NEON wants:
//   - conversions between floats and whole numbers block one of two pipes for two cycles each, so v is rounded down by
//     adding a large number, whose unit in the last place is one (v is at least 2; exactly at a pixel either of two
//     cells gives its value);
//   - a multiply-add overwrites its addend and takes a factor from any lane: each tap is added to the sum as it is
//     loaded, with the weights of four lanes side by side;
//   - a store of a vector takes a slot of the arithmetic, so only the rows go through memory, one step ahead.
template <bool clamped, class Lanes>
HWY_INLINE void walk_four_views(const Lanes& lanes, const Texels& texels, std::int64_t begin, std::int64_t end,
                                const Walk* walk) {
  const Floats d;
  const Ints di;
  const std::int64_t stride = texels.stride;
  const VF low = hn::Set(d, texels.frame.v_low), high = hn::Set(d, texels.frame.v_high);
  const VF whole_unit = hn::Set(d, 8388608.0f), round_down = hn::Set(d, 8388607.5f);  // 2^23, 2^23 - 1/2
  alignas(16) std::int32_t rows[chunk + 4];
  const auto fraction = [&](std::int64_t z) HWY_ATTR {
    VF v = hn::MulAdd(lanes.dv(z), lanes.dz(z), lanes.v(z));
    if constexpr (clamped) v = hn::Min(hn::Max(v, low), high);
    const VF row = hn::Add(v, round_down);
    hn::Store(hn::Sub(hn::BitCast(di, lanes.from_corner(row, z)), hn::BitCast(di, whole_unit)), di, rows + z);
    return hn::Sub(v, hn::Sub(row, whole_unit));
  };
  const float* HWY_RESTRICT data = walk[0].texels;
  float* HWY_RESTRICT sums = walk[0].sums;
  VF f = fraction(begin);
  for (std::int64_t z = begin; z < end; z += 4) {
    const VF next = fraction(z + 4);
    if constexpr (Lanes::looks_ahead) hwy::Prefetch(walk[1].sums + 4 * z);
    const VF a = lanes.weights(0, z), b = lanes.weights(1, z);
    const VF a1 = hn::Mul(f, a), b1 = hn::Mul(f, b), a0 = hn::Sub(a, a1), b0 = hn::Sub(b, b1);
    const auto add = [&](auto lane, std::int64_t row) HWY_ATTR {
      const float *left = data + 4 * row, *right = left + stride;
      const float32x4x2_t taps = vld1q_f32_x2(left), more = vld1q_f32_x2(right);
      float* HWY_RESTRICT own = sums + 4 * (z + lane);
      VF sum = mul_add_lane<lane>(hn::Load(d, own), VF{taps.val[0]}, a0);
      sum = mul_add_lane<lane>(sum, VF{more.val[0]}, b0);
      sum = mul_add_lane<lane>(sum, VF{taps.val[1]}, a1);
      hn::Store(mul_add_lane<lane>(sum, VF{more.val[1]}, b1), d, own);
    };
    const TwoOffsets low_rows(rows + z), high_rows(rows + z + 2);
    add(std::integral_constant<int, 0>(), low_rows.first());
    add(std::integral_constant<int, 1>(), low_rows.second());
    add(std::integral_constant<int, 2>(), high_rows.first());
    add(std::integral_constant<int, 3>(), high_rows.second());
    f = next;
  }
}
#endif

// Does this voxel column stand for its turned ones? The middle one of an odd grid stands for itself.
HWY_INLINE bool represents(ColumnIndex c, const VolumeGrid& grid, int group) {
  if (group == 1) return true;
  const std::int64_t half_x = (grid.nx + 1) / 2, half_y = grid.ny / 2;
  if (group == 4) return (c.x < half_x && c.y < half_y) || (grid.nx % 2 == 1 && c.x == half_y && c.y == half_y);
  return c.y < half_y || (grid.ny % 2 == 1 && c.y == half_y && c.x < half_x);
}

template <Interpolation kind, int group, class Lanes>
HWY_INLINE void add_steps(const Lanes& lanes, const Steps& steps, std::int64_t begin, std::int64_t end,
                          std::int64_t stride, const Walk* walk) {
  if constexpr (kind == Interpolation::cubic)
    add_cubic<group>(lanes, steps, begin, end, stride, walk);
  else
    add_linear<group>(lanes, steps, begin, end, stride, walk);
}

// A few slices of a row of voxel columns.
template <Interpolation kind, int group, bool clamped>
HWY_INLINE void walk_along_row(const Piece& piece, const Paths& paths, int count, const Texels& texels,
                               const SumPlaces& place, std::int64_t y, float* sums) {
  for (std::int64_t z = piece.first; z < piece.last; ++z) {
    const ColumnsOfRow lanes(paths, z);
    const Walk walk{texels.data, sums + place(0, y, z)};
#if LEPUS_NEON
    if constexpr (own_walk<kind, group>) {
      walk_four_views<clamped>(lanes, texels, 0, count, &walk);
      continue;
    }
#endif
    Steps steps;
    count_steps<kind, group, clamped>(lanes, texels.frame, 0, count, steps);
    add_steps<kind, group>(lanes, steps, 0, count, texels.stride, &walk);
  }
}

// Many slices of each voxel column, which see something.
template <Interpolation kind, int group>
HWY_INLINE void walk_along_z(const Piece& piece, const Paths& paths, const int* columns, int n, const Texels& texels,
                             const Walk* walks) {
#if LEPUS_NEON
  if constexpr (own_walk<kind, group>) {
    for (int k = 0; k < n; ++k) {
      const int column = columns[k];
      const SlicesOfColumn lanes(paths, column);
      const float v = paths.v[column], reach = std::abs(paths.dv[column]) * (chunk / 2);
      if (texels.inside || (v - reach > texels.frame.v_low && v + reach < texels.frame.v_high))
        walk_four_views<false>(lanes, texels, piece.begin, piece.end, walks + k);
      else
        walk_four_views<true>(lanes, texels, piece.begin, piece.end, walks + k);
    }
    return;
  }
#endif
  for (int first = 0; first < n; first += steps_ahead) {
    Steps steps[steps_ahead];
    const int last = std::min(first + steps_ahead, n);
    for (int k = first; k < last; ++k) {
      const SlicesOfColumn lanes(paths, columns[k]);
      texels.inside ? count_steps<kind, group, false>(lanes, texels.frame, piece.begin, piece.end, steps[k - first])
                    : count_steps<kind, group, true>(lanes, texels.frame, piece.begin, piece.end, steps[k - first]);
    }
    for (int k = first; k < last; ++k)
      add_steps<kind, group>(SlicesOfColumn(paths, columns[k]), steps[k - first], piece.begin, piece.end, texels.stride,
                             walks + k);
  }
}

// One tile, one group of views, one turn, in which the tile sees `box`; meanwhile the next is brought.
template <Interpolation kind, int group>
void add_turn(const Job& job, const Piece& piece, std::int64_t view, int turn, Sight sight, const PixelBox& box,
              const Preview& next, Scratch& scratch) {
  if (sight == Sight::nothing) return;
  const Matrix34& m = job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)];
  float* sums = scratch.sums.data();
  const SumPlaces place(job, piece, group);
  if (sight == Sight::awkward) {
    for (std::int64_t y = piece.y0; y < piece.y1; ++y)
      for (std::int64_t x = piece.x0; x < piece.x1; ++x)
        for (int k = 0; k < group; ++k)
          if (represents({x, y}, job.grid, group))
            add_plainly(job, piece, view + k, turned(ColumnIndex{x, y}, job.grid, group, (turn + k) % group),
                        sums + place(x - piece.x0, y - piece.y0, piece.first, (turn + k) % group), place.slice_step());
    return;
  }
  Texels texels{nullptr, 0, inside_detector(job, box), frame_of(job, m, turned(piece, job.grid, group, turn)), 0, 0};
  texels.data = make_texels<kind, group>(job, job.wedge->bands.data() + view, box, turn, scratch, texels.stride);
  const std::int64_t apart = texels.stride / texel_size(kind, group);
  texels.columns_apart = static_cast<float>(apart);
  texels.corner = static_cast<float>((texels.frame.first_column - taps_before(kind) - box.columns.first) * apart +
                                     (texels.frame.first_row - taps_before(kind) - box.rows.first));
  // Neighbours in the order of work should see the same columns of the detector, which are then still in the L1 cache:
  // go along the axis that moves u less. A few rows of the detector always are.
  const double u = static_cast<double>(box.columns.first);
  const bool swap = !piece.few() && (std::abs(m(0, 0) - u * m(2, 0)) > std::abs(m(0, 1) - u * m(2, 1))) !=
                                        (group == 4 && turn % 2 == 1);
  const std::int64_t outer = swap ? piece.x1 - piece.x0 : piece.y1 - piece.y0;
  const std::int64_t inner = swap ? piece.y1 - piece.y0 : piece.x1 - piece.x0;
  const auto from_middle = [&](ColumnIndex c) HWY_ATTR {
    const ColumnIndex t = turned(c, job.grid, group, turn);
    return ColumnIndex{t.x - texels.frame.middle.x, t.y - texels.frame.middle.y};
  };
  const ColumnIndex first = from_middle({piece.x0, piece.y0}),
                    second = from_middle({piece.x0 + (swap ? 0 : 1), piece.y0 + (swap ? 1 : 0)});
  const bool along_y = second.y != first.y;
  const RowNumbers row(along_y ? first.y : first.x, along_y ? second.y - first.y : second.x - first.x,
                       static_cast<int>(inner));
  Paths paths{};
  for (std::int64_t i = 0; i < outer; ++i) {
    if (!piece.few()) prefetch(job, next, i, outer);  // of a few rows the cache finds the next lines by itself
    // In stages, each many times in a row: a processor that looks a few hundred instructions ahead then always finds
    // independent ones, where one voxel column after the other would make it wait for each result.
    const auto column = [&](std::int64_t j) HWY_ATTR {
      return ColumnIndex{piece.x0 + (swap ? i : j), piece.y0 + (swap ? j : i)};
    };
    const ColumnIndex start = from_middle(column(0));
    along_y ? trace<kind, group, true>(job, texels, row, start.x, paths)
            : trace<kind, group, false>(job, texels, row, start.y, paths);
    if (piece.few()) {
      texels.inside ? walk_along_row<kind, group, false>(piece, paths, row.count, texels, place, i, sums)
                    : walk_along_row<kind, group, true>(piece, paths, row.count, texels, place, i, sums);
      continue;
    }
    Walk walks[largest_tile + 1];
    int columns[largest_tile], n = 0;
    for (int j = 0; j < inner; ++j) {
      const ColumnIndex at = column(j);
      const bool sees = texels.inside || (paths.u[j] > texels.frame.u_low && paths.u[j] < texels.frame.u_high);
      if (!sees || !represents(at, job.grid, group)) continue;
      columns[n] = j;
      walks[n++] = {texels.data + static_cast<std::int64_t>(paths.corner[j]) * texel_size(kind, group),
                    sums + place(at.x - piece.x0, at.y - piece.y0, 0)};
    }
    if (n > 0) walks[n] = walks[n - 1];  // what the last one may prefetch
    walk_along_z<kind, group>(piece, paths, columns, n, texels, walks);
  }
}

// What the tile, turned, sees of a group's first view.
template <int group>
HWY_INLINE Sight look_from_turn(const Job& job, const Piece& piece, std::int64_t view, int turn, PixelBox& box) {
  return look(job, job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)],
              turned(piece, job.grid, group, turn), box);
}

// The sums of the voxel columns that stand for others, and of those.
template <int group>
HWY_INLINE void add_turned(const Job& job, const Piece& piece, const SumPlaces& place, const float* HWY_RESTRICT sums) {
  alignas(64) float separate[4 * chunk];
  for (std::int64_t y = piece.y0; y < piece.y1; ++y) {
    if (piece.few()) {
      // Those that stand for others are neighbours; the last may be the middle of an odd grid, which does not turn.
      std::int64_t begin = piece.x0;
      while (begin < piece.x1 && !represents({begin, y}, job.grid, group)) ++begin;
      std::int64_t end = begin;
      while (end < piece.x1 && represents({end, y}, job.grid, group)) ++end;
      for (int j = 0; j < group && begin < end; ++j) {
        if (j == 1 && turned(ColumnIndex{end - 1, y}, job.grid, group, 1).x == end - 1 &&
            turned(ColumnIndex{end - 1, y}, job.grid, group, 1).y == y)
          --end;
        add_row_to_slab(job, piece, place, {begin, y}, end - begin, group, j, sums);
      }
      continue;
    }
    for (std::int64_t x = piece.x0; x < piece.x1; ++x) {
      if (!represents({x, y}, job.grid, group)) continue;
      const float* own = sums + place(x - piece.x0, y - piece.y0, 0);
      if constexpr (group == 4) separate_voxels(own, piece.begin, piece.end, separate);
      for (int j = 0; j < group; ++j) {
        const ColumnIndex c = turned(ColumnIndex{x, y}, job.grid, group, j);
        if (j > 0 && c.x == x && c.y == y) break;
        add_to_slab(job, piece, c, group == 4 ? separate + j * chunk : own + j * chunk);
      }
    }
  }
}

template <Interpolation kind, int group>
void run_upright(const Job& job, std::int64_t task, Scratch& scratch) {
  const Piece piece = piece_of(job, task);
  const auto views = static_cast<std::int64_t>(job.wedge->bands.size());
  const SumPlaces place(job, piece, group);
  for (std::int64_t block = 0; block < views; block += block_of_views) {
    std::memset(scratch.sums.data(), 0, sizeof(float) * static_cast<std::size_t>(place.size()));
    const std::int64_t block_end = std::min(block + block_of_views, views);
    PixelBox box, next_box;
    Sight sight = look_from_turn<group>(job, piece, block, 0, box);
    for (std::int64_t view = block; view < block_end; view += group)
      for (int turn = 0; turn < group; ++turn) {
        const bool last_turn = turn + 1 == group;
        const std::int64_t next_view = last_turn ? view + group : view;
        Preview next;
        Sight next_sight = Sight::nothing;
        if (next_view < block_end) {
          next_sight = look_from_turn<group>(job, piece, next_view, last_turn ? 0 : turn + 1, next_box);
          if (next_sight == Sight::plain) next = {job.wedge->bands.data() + next_view, group, next_box};
        }
        add_turn<kind, group>(job, piece, view, turn, sight, box, next, scratch);
        sight = next_sight;
        box = next_box;
      }
    add_turned<group>(job, piece, place, scratch.sums.data());
  }
}

template <Interpolation kind>
void run_upright_task(const Job& job, std::int64_t task, Scratch& scratch) {
  if (job.group == 4) return run_upright<kind, 4>(job, task, scratch);
  if constexpr (kind != Interpolation::cubic)
    if (job.group == 2) return run_upright<kind, 2>(job, task, scratch);
  run_upright<kind, 1>(job, task, scratch);
}

template <Interpolation kind>
void upright(const Job& job, std::int64_t first, std::int64_t last, Scratch& scratch) {
  note_target(hwy::TargetName(HWY_TARGET));
  for (std::int64_t task = first; task < last; ++task) run_upright_task<kind>(job, task, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
