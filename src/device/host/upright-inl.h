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
#include "device/host/make_texels-inl.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "device/host/texels-inl.h"
#include "device/host/trace-inl.h"
#include "project/detector_point.h"
#include "project/interpolate.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

constexpr int steps_ahead = 4;

// Where the first tap of each slice lies and how far beyond it v is.
template <Interpolation kind, int group, bool clamped>
HWY_INLINE void count_steps(const SlicesOfColumn& lanes, const Frame& frame, std::int64_t begin, std::int64_t end,
                            Steps& steps) {
  const Floats d;
  const Ints di;
  const VF low = hn::Set(d, frame.v_low), high = hn::Set(d, frame.v_high);
  for (std::int64_t z = begin; z < end; z += static_cast<std::int64_t>(hn::Lanes(d))) {
    VF f;
    const VI row = row_below<kind, clamped>(low, high, hn::MulAdd(lanes.dv(), lanes.dz(z), lanes.v()), f);
    hn::Store(hn::Mul(row, hn::Set(di, texel_size(kind, group))), di, steps.offset + z);
    hn::Store(f, d, steps.fraction + z);
  }
}

#if LEPUS_NEON
// Four times four voxels, of two columns of texels with the weights a and b, and f beyond. The first taps are texels
// numbers[i], as the float 2^23 + n has a whole number n in its bits: what these begin with is taken from the address.
HWY_INLINE void add_four_views(VF a, VF b, VF f, const std::int32_t* HWY_RESTRICT numbers, const float* texels,
                               std::int64_t stride, float* HWY_RESTRICT sums) {
  constexpr std::uintptr_t bits_of_unit = 0x4B000000, texel_bytes = 4 * sizeof(float);
  const Floats d;
  const std::uintptr_t zero = reinterpret_cast<std::uintptr_t>(texels) - bits_of_unit * texel_bytes;
  const VF a1 = hn::Mul(f, a), b1 = hn::Mul(f, b), a0 = hn::Sub(a, a1), b0 = hn::Sub(b, b1);
  const auto add = [&](auto lane, std::int64_t number) HWY_ATTR {
    // By a number: no pointer may stand where these would begin.
    const std::uintptr_t address = zero + static_cast<std::uintptr_t>(number) * texel_bytes;
    const auto* left = reinterpret_cast<const float*>(address);  // NOLINT(performance-no-int-to-ptr)
    const float* right = left + stride;
    const float32x4x2_t taps = vld1q_f32_x2(left), more = vld1q_f32_x2(right);
    float* HWY_RESTRICT own = sums + 4 * lane;
    VF sum = mul_add_lane<lane>(hn::Load(d, own), VF{taps.val[0]}, a0);
    sum = mul_add_lane<lane>(sum, VF{more.val[0]}, b0);
    sum = mul_add_lane<lane>(sum, VF{taps.val[1]}, a1);
    hn::Store(mul_add_lane<lane>(sum, VF{more.val[1]}, b1), d, own);
  };
  const TwoOffsets low(numbers), high(numbers + 2);
  add(std::integral_constant<int, 0>(), low.first());
  add(std::integral_constant<int, 1>(), low.second());
  add(std::integral_constant<int, 2>(), high.first());
  add(std::integral_constant<int, 3>(), high.second());
}

// Both stages in one for four symmetric views, which is what NEON wants:
//   - conversions between floats and whole numbers block one of two pipes for two cycles each, so v is rounded down by
//     adding a large number, whose unit in the last place is one (v is at least 2; exactly at a pixel either of two
//     cells gives its value);
//   - a multiply-add overwrites its addend and takes a factor from any lane: each tap is added to the sum as it is
//     loaded, with the weights of four lanes side by side;
//   - a store of a vector takes a slot of the arithmetic, so only the rows go through memory, one step ahead.
template <bool clamped>
HWY_INLINE void walk_four_views(const SlicesOfColumn& lanes, const Texels& texels, std::int64_t begin, std::int64_t end,
                                const Walk* walk) {
  const Floats d;
  const Ints di;
  const VF low = hn::Set(d, texels.frame.v_low), high = hn::Set(d, texels.frame.v_high);
  const VF whole_unit = hn::Set(d, 8388608.0f), round_down = hn::Set(d, 8388607.5f);  // 2^23, 2^23 - 1/2
  alignas(16) std::int32_t rows[chunk + 4];
  const auto fraction = [&](std::int64_t z) HWY_ATTR {
    VF v = hn::MulAdd(lanes.dv(), lanes.dz(z), lanes.v());
    if constexpr (clamped) v = hn::Min(hn::Max(v, low), high);
    const VF row = hn::Add(v, round_down);
    hn::Store(hn::BitCast(di, row), di, rows + z);
    return hn::Sub(v, hn::Sub(row, whole_unit));
  };
  const float* HWY_RESTRICT data = walk[0].texels;
  float* HWY_RESTRICT sums = walk[0].sums;
  const float* next_sums = walk[1].sums;
  VF f = fraction(begin);
  for (std::int64_t z = begin; z < end; z += 4) {
    const VF next = fraction(z + 4);
    hwy::Prefetch(next_sums + 4 * z);
    add_four_views(lanes.weights(0, z), lanes.weights(1, z), f, rows + z, data, texels.stride, sums + 4 * z);
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
template <Interpolation kind, int group>
HWY_INLINE void walk_along_row(const Piece& piece, const Paths& paths, const Steps* steps, int count,
                               const Texels& texels, const SumPlaces& place, std::int64_t y, float* sums) {
  for (std::int64_t z = piece.first; z < piece.last; ++z, ++steps) {
    const ColumnsOfRow lanes(paths);
    const Walk walk{texels.data, sums + place(0, y, z)};
#if LEPUS_NEON
    if constexpr (own_walk<kind, group>) {
      for (std::int64_t k = 0; k < count; k += 4)
        add_four_views(lanes.weights(0, k), lanes.weights(1, k), hn::Load(Floats(), steps->fraction + k),
                       steps->offset + k, walk.texels, texels.stride, walk.sums + 4 * k);
      continue;
    }
#endif
    add_steps<kind, group>(lanes, *steps, 0, count, texels.stride, &walk);
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

// A few slices of a tile in one view. Functions of their own, and not inlined: the loops of one would cost those of the
// other registers.
template <Interpolation kind, int group, bool along_y, bool plain>
HWY_NOINLINE void add_few_slices(const Job& job, const Piece& piece, const Texels& texels, const TileRows& rows,
                                 float* sums) {
  const SumPlaces place(job, piece, group);
  Constants tile(texels, rows.numbers, along_y);
  Paths paths;
  Steps steps[few_slices];
  for (std::int64_t i = 0; i < rows.count; ++i) {
    step_along_row<kind, group, along_y, plain>(job, piece, texels.inside, tile, rows, i, paths, steps);
    walk_along_row<kind, group>(piece, paths, steps, rows.numbers.count, texels, place, i, sums);
  }
}

// Many slices of a tile in one view; meanwhile what it sees next is brought.
template <Interpolation kind, int group>
HWY_NOINLINE void add_many_slices(const Job& job, const Piece& of_tile, const Texels& of_view, const TileRows& rows,
                                  const Preview& next, float* sums) {
  const Piece piece = of_tile;  // copies, which what is stored cannot change
  const Texels texels = of_view;
  const SumPlaces place(job, piece, group);
  Constants tile(texels, rows.numbers, rows.along_y);
  Paths paths;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    prefetch(job, next, i, rows.count);
    // In stages, each many times in a row: a processor that looks a few hundred instructions ahead then always finds
    // independent ones, where one voxel column after the other would make it wait for each result.
    rows.along_y ? trace<kind, group, true>(job, texels.inside, tile, rows, i, paths)
                 : trace<kind, group, false>(job, texels.inside, tile, rows, i, paths);
    Walk walks[largest_tile + 1];
    int columns[largest_tile], n = 0;
    for (int j = 0; j < rows.length; ++j) {
      const ColumnIndex at = rows.column(i, j);
      const bool sees = texels.inside || (paths.u[j] > texels.frame.u_low && paths.u[j] < texels.frame.u_high);
      if (!sees || !represents({piece.x0 + at.x, piece.y0 + at.y}, job.grid, group)) continue;
      columns[n] = j;
      walks[n++] = {texels.data + static_cast<std::int64_t>(paths.corner[j]) * texel_size(kind, group),
                    sums + place(at.x, at.y, 0)};
    }
    if (n > 0) walks[n] = walks[n - 1];  // what the last one may prefetch
    walk_along_z<kind, group>(piece, paths, columns, n, texels, walks);
  }
}

// One tile, one group of views, one turn, in which the tile sees `box`; meanwhile the next is brought.
template <Interpolation kind, int group>
void add_turn(const Job& job, const Piece& piece, std::int64_t view, int turn, Sight sight, const PixelBox& box,
              const Preview& next, Scratch& scratch) {
  if (sight == Sight::nothing) return;
  const Matrix34& m = job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)];
  float* sums = scratch.sums.data();
  if (sight == Sight::awkward) {
    const SumPlaces place(job, piece, group);
    for (std::int64_t y = piece.y0; y < piece.y1; ++y)
      for (std::int64_t x = piece.x0; x < piece.x1; ++x)
        for (int k = 0; k < group; ++k)
          if (represents({x, y}, job.grid, group))
            add_plainly(job, piece, view + k, turned(ColumnIndex{x, y}, job.grid, group, (turn + k) % group),
                        sums + place(x - piece.x0, y - piece.y0, piece.first, (turn + k) % group), place.slice_step());
    return;
  }
  Texels texels{nullptr, 0, inside_detector(job, box), frame_of(job, m, turned(piece, job.grid, group, turn), box),
                0,       0};
  texels.data = make_texels<kind, group>(job, job.wedge->bands.data() + view, box, turn, scratch, texels.stride);
  const std::int64_t apart = texels.stride / texel_size(kind, group);
  texels.columns_apart = static_cast<float>(apart);
  texels.corner = static_cast<float>((texels.frame.first_column - taps_before(kind) - box.columns.first) * apart +
                                     (texels.frame.first_row - taps_before(kind) - box.rows.first));
  if (piece.few()) {
    const TileRows rows(job, piece, texels.frame, group, turn, false);
    const bool plain = texels.inside && job.weighted && job.beam != Beam::fan;
    if (rows.along_y)
      return plain ? add_few_slices<kind, group, true, true>(job, piece, texels, rows, sums)
                   : add_few_slices<kind, group, true, false>(job, piece, texels, rows, sums);
    return plain ? add_few_slices<kind, group, false, true>(job, piece, texels, rows, sums)
                 : add_few_slices<kind, group, false, false>(job, piece, texels, rows, sums);
  }
  // Neighbours in the order of work should see the same columns of the detector, which are then still in the L1 cache:
  // go along the axis that moves u less. Of a few slices all that is seen always is there.
  const double u = static_cast<double>(box.columns.first);
  const bool swap =
      (std::abs(m(0, 0) - u * m(2, 0)) > std::abs(m(0, 1) - u * m(2, 1))) != (group == 4 && turn % 2 == 1);
  add_many_slices<kind, group>(job, piece, texels, TileRows(job, piece, texels.frame, group, turn, swap), next, sums);
}

// What the tile, turned, sees of a group's first view.
template <int group>
HWY_INLINE Sight look_from_turn(const Job& job, const Piece& piece, std::int64_t view, int turn, PixelBox& box) {
  return look(job, job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)],
              turned(piece, job.grid, group, turn), box);
}

// The sums of a few slices of the voxel columns that stand for others, and of those. The former are a rectangle, and a
// part of one more row in the middle of an odd grid.
template <int group>
HWY_INLINE void add_few_turned(const Job& job, const Piece& piece, const SumPlaces& place,
                               const float* HWY_RESTRICT sums) {
  const std::int64_t middle = job.grid.ny / 2;
  const std::int64_t x1 = group == 4 ? std::min(piece.x1, (job.grid.nx + 1) / 2) : piece.x1;
  const std::int64_t y1 = group > 1 ? std::min(piece.y1, middle) : piece.y1;
  for (int j = 0; j < group; ++j)  // along rows of the slab
    if (group == 4 && j % 2 == 1)
      for (std::int64_t x = piece.x0; x < x1; ++x)
        add_row_to_slab(job, piece, place, {x, piece.y0}, true, y1 - piece.y0, group, j, sums);
    else
      for (std::int64_t y = piece.y0; y < y1; ++y)
        add_row_to_slab(job, piece, place, {piece.x0, y}, false, x1 - piece.x0, group, j, sums);
  if (group == 1 || middle < piece.y0 || middle >= piece.y1) return;
  std::int64_t begin = piece.x0;
  while (begin < piece.x1 && !represents({begin, middle}, job.grid, group)) ++begin;
  std::int64_t end = begin;
  while (end < piece.x1 && represents({end, middle}, job.grid, group)) ++end;
  for (int j = 0; j < group && begin < end; ++j) {
    // The last may be the middle of the grid, which does not turn.
    const ColumnIndex last = turned(ColumnIndex{end - 1, middle}, job.grid, group, 1);
    if (j == 1 && last.x == end - 1 && last.y == middle) --end;
    add_row_to_slab(job, piece, place, {begin, middle}, false, end - begin, group, j, sums);
  }
}

// The same of many slices.
template <int group>
HWY_INLINE void add_turned(const Job& job, const Piece& piece, const SumPlaces& place, const float* HWY_RESTRICT sums) {
  alignas(64) float separate[4 * chunk];
  for (std::int64_t y = piece.y0; y < piece.y1; ++y)
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
    piece.few() ? add_few_turned<group>(job, piece, place, scratch.sums.data())
                : add_turned<group>(job, piece, place, scratch.sums.data());
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
