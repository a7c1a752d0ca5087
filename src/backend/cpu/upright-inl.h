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

#include "backend/cpu/kernel.h"
#include "backend/cpu/seen.h"
#include "backend/cpu/simd-inl.h"
#include "backend/cpu/texels-inl.h"
#include "project/detector_point.h"
#include "project/interpolate.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// The path of a chunk of one voxel column over the detector. Rows are counted from base_row, a little below the lowest,
// so that coordinates are small (single precision then resolves 1e-5 pixels) and never negative.
struct Path {
  std::int64_t column, base_row;  // of the first taps
  float column_weight[4];         // of the taps, times 1/w^2
  float v0, dv;                   // v - base_row at the chunk's first slice, and per slice
  float low, high;                // v is clamped to [low, high]: outside all taps are zero
};

HWY_INLINE double inverse_depth(const Job& job, const Matrix34& m, ColumnIndex at) {
  const auto x = static_cast<double>(at.x), y = static_cast<double>(at.y);
  const double middle = 0.5 * static_cast<double>(job.grid.nz - 1);
  return 1 / (m(2, 0) * x + m(2, 1) * y + (m(2, 2) * middle + m(2, 3)));
}

// False where no voxel of the chunk sees the detector.
template <Interpolation kind>
HWY_INLINE bool trace(const Job& job, const Matrix34& m, ColumnIndex at, double inverse, std::int64_t first_slice,
                      Path& path) {
  constexpr double half = kind == Interpolation::nearest ? 0.5 : 0;
  const auto x = static_cast<double>(at.x), y = static_cast<double>(at.y);
  const double middle = 0.5 * static_cast<double>(job.grid.nz - 1);
  const double u = (m(0, 0) * x + m(0, 1) * y + (m(0, 2) * middle + m(0, 3))) * inverse;
  const double bottom = -zero_reach(kind), right = static_cast<double>(job.columns - 1) - bottom;
  if (!(u > bottom && u < right)) return false;
  const double divisor = job.beam == Beam::fan ? 1 : inverse;
  const double dv = m(1, 2) * divisor;
  const double v =
      (m(1, 0) * x + m(1, 1) * y + (m(1, 2) * static_cast<double>(first_slice) + m(1, 3))) * divisor + half;
  const double v_last = v + dv * static_cast<double>(chunk - 1);
  const double top = static_cast<double>(job.rows - 1) - bottom + half;
  const double lowest = std::min(v, v_last);
  if (!(std::max(v, v_last) > bottom && lowest < top)) return false;
  // Truncation is cheaper than std::floor; max() has made it positive enough.
  const auto base = static_cast<std::int64_t>(std::max(lowest, bottom) + 8) - 8 - 3;
  path.base_row = base - taps_before(kind);
  path.v0 = static_cast<float>(v - static_cast<double>(base));
  path.dv = static_cast<float>(dv);
  path.low = static_cast<float>(bottom - static_cast<double>(base));
  path.high = static_cast<float>(top - static_cast<double>(base));
  double weight[4] = {0, 0, 0, 0};
  path.column = first_tap(kind, u, weight);
  const double distance = job.beam == Beam::parallel ? 1 : inverse * inverse;
  for (int t = 0; t < 4; ++t) path.column_weight[t] = static_cast<float>(weight[t] * distance);
  return true;
}

constexpr int steps_ahead = 4;

// Where each slice's first tap lies and how far beyond it v is.
template <Interpolation kind>
HWY_INLINE void count_steps(const Path& path, std::int64_t begin, std::int64_t end, int texel, Steps& steps) {
  const Floats d;
  const Ints di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF v0 = hn::Set(d, path.v0), dv = hn::Set(d, path.dv);
  const VF low = hn::Set(d, path.low), high = hn::Set(d, path.high);
  const VI size = hn::Set(di, texel);
  VF slice = hn::Iota(d, static_cast<float>(begin));
  const VF step = hn::Set(d, static_cast<float>(lanes));
  for (std::int64_t z = begin; z < end; z += lanes) {
    const VF v = hn::Min(hn::Max(hn::MulAdd(dv, slice, v0), low), high);
    const VI row = whole(v);
    hn::Store(hn::Mul(row, size), di, steps.offset + z);
    // nearest takes the whole part alone
    const VF f = kind == Interpolation::nearest ? hn::Zero(d) : hn::Sub(v, hn::ConvertTo(d, row));
    hn::Store(f, d, steps.fraction + z);
    slice = hn::Add(slice, step);
  }
}

#if LEPUS_NEON
// Slices of a chunk, as floats; four more, for the step ahead.
struct SliceNumbers {
  alignas(64) float number[chunk + 4];
};
constexpr SliceNumbers slice_numbers = [] {
  SliceNumbers s{};
  for (std::int64_t z = 0; z < chunk + 4; ++z) s.number[z] = static_cast<float>(z);
  return s;
}();

// Both stages in one for four symmetric views, which is what NEON wants:
//   - conversions between floats and whole numbers block one of two pipes for two cycles each, so v is rounded down by
//     adding a large number, whose unit in the last place is one (v is at least 2; exactly at a pixel either of two
//     cells gives its value);
//   - a multiply-add overwrites its addend and takes a factor from any lane: each tap is added to the sum as it is
//     loaded, with the weights of four slices side by side;
//   - a store of a vector takes a slot of the arithmetic, so only the rows go through memory, one step ahead.
template <bool clamped>
HWY_INLINE void walk_four_views(const Path& path, std::int64_t begin, std::int64_t end, std::int64_t stride,
                                const Walk* walk) {
  const Floats d;
  const Ints di;
  const VF v0 = hn::Set(d, path.v0), dv = hn::Set(d, path.dv);
  const VF low = hn::Set(d, path.low), high = hn::Set(d, path.high);
  const VF whole_unit = hn::Set(d, 8388608.0f), round_down = hn::Set(d, 8388607.5f);  // 2^23, 2^23 - 1/2
  const VF a = hn::Set(d, path.column_weight[0]), b = hn::Set(d, path.column_weight[1]);
  alignas(16) std::int32_t rows[chunk + 4];
  const auto fraction = [&](std::int64_t z) HWY_ATTR {
    VF v = hn::MulAdd(dv, hn::Load(d, slice_numbers.number + z), v0);
    if constexpr (clamped) v = hn::Min(hn::Max(v, low), high);
    const VF row = hn::Add(v, round_down);
    hn::Store(hn::Sub(hn::BitCast(di, row), hn::BitCast(di, whole_unit)), di, rows + z);
    return hn::Sub(v, hn::Sub(row, whole_unit));
  };
  const float* HWY_RESTRICT texels = walk[0].texels;
  float* HWY_RESTRICT sums = walk[0].sums;
  const float* HWY_RESTRICT next_sums = walk[1].sums;
  VF f = fraction(begin);
  for (std::int64_t z = begin; z < end; z += 4) {
    const VF next = fraction(z + 4);
    hwy::Prefetch(next_sums + 4 * z);
    const VF a1 = hn::Mul(f, a), b1 = hn::Mul(f, b), a0 = hn::Sub(a, a1), b0 = hn::Sub(b, b1);
    const auto add = [&](auto slice, std::int64_t row) HWY_ATTR {
      const float *left = texels + 4 * row, *right = left + stride;
      const float32x4x2_t taps = vld1q_f32_x2(left), more = vld1q_f32_x2(right);
      float* HWY_RESTRICT own = sums + 4 * (z + slice);
      VF sum = mul_add_lane<slice>(hn::Load(d, own), VF{taps.val[0]}, a0);
      sum = mul_add_lane<slice>(sum, VF{more.val[0]}, b0);
      sum = mul_add_lane<slice>(sum, VF{taps.val[1]}, a1);
      hn::Store(mul_add_lane<slice>(sum, VF{more.val[1]}, b1), d, own);
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

// One tile, one group of views, one turn, in which the tile sees `box`; meanwhile the next is brought.
template <Interpolation kind, int group>
void add_turn(const Job& job, const Piece& piece, std::int64_t view, int turn, Sight sight, const PixelBox& box,
              const Preview& next, Scratch& scratch) {
  if (sight == Sight::nothing) return;
  const Matrix34& m = job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)];
  float* sums = scratch.sums.data();
  const auto sums_of = [&](std::int64_t x, std::int64_t y)
                           HWY_ATTR { return sums + ((y - piece.y0) * job.tile + (x - piece.x0)) * chunk * group; };
  if (sight == Sight::awkward) {
    for (std::int64_t y = piece.y0; y < piece.y1; ++y)
      for (std::int64_t x = piece.x0; x < piece.x1; ++x)
        for (int k = 0; k < group; ++k)
          if (represents({x, y}, job.grid, group))
            add_plainly(job, piece, view + k, turned(ColumnIndex{x, y}, job.grid, group, (turn + k) % group),
                        sums_of(x, y) + (turn + k) % group * (group == 4 ? 1 : chunk), group == 4 ? 4 : 1);
    return;
  }
  std::int64_t stride = 0;
  const float* texels = make_texels<kind, group>(job, job.wedge->bands.data() + view, box, turn, scratch, stride);
  // Neighbours in the order of work should see the same columns of the detector, which are then still in the L1 cache:
  // go along the axis that moves u less.
  const double u = static_cast<double>(box.columns.first);
  const bool swap =
      (std::abs(m(0, 0) - u * m(2, 0)) > std::abs(m(0, 1) - u * m(2, 1))) != (group == 4 && turn % 2 == 1);
  const std::int64_t outer = swap ? piece.x1 - piece.x0 : piece.y1 - piece.y0;
  const std::int64_t inner = swap ? piece.y1 - piece.y0 : piece.x1 - piece.x0;
  for (std::int64_t i = 0; i < outer; ++i) {
    prefetch(job, next, i, outer);
    // In three stages, each many times in a row: a processor that looks a few hundred instructions ahead then always
    // finds independent ones, where one voxel column after the other would make it wait for each result.
    Walk walks[largest_tile + 1];
    Path paths[largest_tile];
    const auto column = [&](std::int64_t j) HWY_ATTR {
      return ColumnIndex{piece.x0 + (swap ? i : j), piece.y0 + (swap ? j : i)};
    };
    double inverse[largest_tile];  // divisions first, so that they overlap
    for (std::int64_t j = 0; j < inner; ++j)
      inverse[j] = inverse_depth(job, m, turned(column(j), job.grid, group, turn));
    int n = 0;
    for (std::int64_t j = 0; j < inner; ++j) {
      const ColumnIndex at = column(j);
      Path& path = paths[n];
      if (!represents(at, job.grid, group) ||
          !trace<kind>(job, m, turned(at, job.grid, group, turn), inverse[j], piece.first_slice, path))
        continue;
      walks[n].texels = texels + (path.column - box.columns.first) * stride +
                        (path.base_row - box.rows.first) * texel_size(kind, group);
      walks[n++].sums = sums_of(at.x, at.y);
    }
    if (n > 0) walks[n] = walks[n - 1];  // what the last one may prefetch
#if LEPUS_NEON
    if constexpr (kind == Interpolation::linear && group == 4) {
      for (int k = 0; k < n; ++k) {
        const float ends[2] = {paths[k].v0, paths[k].v0 + paths[k].dv * (chunk - 1)};
        if (std::min(ends[0], ends[1]) > paths[k].low && std::max(ends[0], ends[1]) < paths[k].high)
          walk_four_views<false>(paths[k], piece.begin, piece.end, stride, walks + k);
        else
          walk_four_views<true>(paths[k], piece.begin, piece.end, stride, walks + k);
      }
      continue;
    }
#endif
    for (int first = 0; first < n; first += steps_ahead) {
      Steps steps[steps_ahead];
      const int last = std::min(first + steps_ahead, n);
      for (int k = first; k < last; ++k)
        count_steps<kind>(paths[k], piece.begin, piece.end, texel_size(kind, group), steps[k - first]);
      for (int k = first; k < last; ++k) {
        if constexpr (kind == Interpolation::cubic)
          add_cubic<group>(steps[k - first], piece.begin, piece.end, paths[k].column_weight, stride, walks + k);
        else
          add_linear<group>(steps[k - first], piece.begin, piece.end, paths[k].column_weight, stride, walks + k);
      }
    }
  }
}

// What the tile, turned, sees of a group's first view.
template <int group>
HWY_INLINE Sight look_from_turn(const Job& job, const Piece& piece, std::int64_t view, int turn, PixelBox& box) {
  return look(job, job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)],
              turned(piece, job.grid, group, turn), box);
}

template <Interpolation kind, int group>
void run_upright(const Job& job, std::int64_t task, Scratch& scratch) {
  const Piece piece = piece_of(job, task);
  const auto views = static_cast<std::int64_t>(job.wedge->bands.size());
  alignas(64) float separate[4 * chunk];
  for (std::int64_t block = 0; block < views; block += block_of_views) {
    std::memset(scratch.sums.data(), 0, sizeof(float) * static_cast<std::size_t>(job.tile * job.tile * chunk * group));
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
    for (std::int64_t y = piece.y0; y < piece.y1; ++y)
      for (std::int64_t x = piece.x0; x < piece.x1; ++x) {
        if (!represents({x, y}, job.grid, group)) continue;
        const float* sums = scratch.sums.data() + ((y - piece.y0) * job.tile + (x - piece.x0)) * chunk * group;
        if constexpr (group == 4) separate_voxels(sums, piece.begin, piece.end, separate);
        for (int j = 0; j < group; ++j) {
          const ColumnIndex c = turned(ColumnIndex{x, y}, job.grid, group, j);
          if (j > 0 && c.x == x && c.y == y) break;
          add_to_slab(job, piece, c, (group == 4 ? separate : sums) + j * chunk);
        }
      }
  }
}

template <Interpolation kind>
void run_upright_task(const Job& job, std::int64_t task, Scratch& scratch) {
  if (job.group == 4) return run_upright<kind, 4>(job, task, scratch);
  if constexpr (kind != Interpolation::cubic)
    if (job.group == 2) return run_upright<kind, 2>(job, task, scratch);
  run_upright<kind, 1>(job, task, scratch);
}

void upright(const Job& job, std::int64_t first, std::int64_t last, Scratch& scratch) {
  note_target(hwy::TargetName(HWY_TARGET));
  for (std::int64_t task = first; task < last; ++task) {
    if (job.interpolation == Interpolation::nearest)
      run_upright_task<Interpolation::nearest>(job, task, scratch);
    else if (job.interpolation == Interpolation::linear)
      run_upright_task<Interpolation::linear>(job, task, scratch);
    else
      run_upright_task<Interpolation::cubic>(job, task, scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
