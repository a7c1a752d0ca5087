// SPDX-License-Identifier: Apache-2.0
// The bilateral filter along rows on a device, by pairs: two pixels of a row share the weight between them, so that one
// exponential serves both. A multiprocessor makes 16 exponentials per clock: that is the wall, and the six other
// instructions of a pair hide behind them.
//
// A thread owns eight neighbouring pixels of a line in shared memory. In turn k it weighs them against the eight of the
// thread k further on, and leaves there what those get of it; no two threads visit the same one in one turn.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "project/filter_window.h"

namespace lepus::filters {

constexpr int own_pixels = 8, maximum_line_threads = 256, line_blocks_at_once = 3;
constexpr double log2_e = 1.4426950408889634;
constexpr int usual_reach = 30;  // the default of filters and rings: all of its turns are unrolled

// How rows are cut into lines, one for each block of threads: `piece` pixels that come out, `margin` before and behind.
struct LineCut {
  int pieces = 0, piece = 0, margin = 0, reach = 0;
  float scale = 1;  // values are multiplied with it: then the exponent falls by the difference's square, to base 2,
  float per_distance2 = 0;  // and by the distance's times this
  float exponents[usual_reach + 1] = {};

  LEPUS_HD int owners() const { return (piece + 2 * margin + own_pixels - 1) / own_pixels; }
  unsigned threads() const { return static_cast<unsigned>((owners() + 31) / 32 * 32); }
  // In shared memory fours of floats: the first four pixels of each thread, then the others. A warp writes to both at
  // once, and meets in no bank where they are 4 more than a multiple of 8 apart.
  LEPUS_HD int half() const { return (owners() + 3) / 8 * 8 + 4; }
  LEPUS_HD int table_fours() const { return reach / 4 + 1; }
  std::size_t shared_bytes() const { return sizeof(float) * 4 * static_cast<std::size_t>(6 * half() + table_fours()); }
};

// False where the mask leaves too little of a line, or does not go along rows alone.
inline bool cut_lines(const Pass& pass, std::int64_t width, LineCut& cut) {
  constexpr std::int64_t most = own_pixels * maximum_line_threads;
  if (pass.reach_v > 0 || pass.reach_z > 0 || pass.reach_u < 1 || pass.reach_u >= most) return false;
  const bool alone = pass.border == FilterBorder::partial && width <= most;
  const std::int64_t margin = alone ? 0 : pass.reach_u, room = most - 2 * margin;
  if (room < most / 4) return false;
  const std::int64_t pieces = (width + room - 1) / room, each = own_pixels * pieces;
  cut.pieces = static_cast<int>(pieces);
  cut.piece = static_cast<int>(std::min(room, (width + each - 1) / each * own_pixels));
  cut.margin = static_cast<int>(margin);
  cut.reach = static_cast<int>(pass.reach_u);
  cut.scale = static_cast<float>(std::sqrt(log2_e / 2) / pass.sigma_value);
  cut.per_distance2 = static_cast<float>(log2_e / (2 * pass.sigma * pass.sigma));
  for (int i = 0; i <= usual_reach; ++i) cut.exponents[i] = -cut.per_distance2 * static_cast<float>(i * i);
  return true;
}

__device__ inline float exp2_of(float t) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  return power;
}

// What pixels get: sums of weight times difference from the pixel, and of weights.
struct Weighed {
  float sum[own_pixels], weight[own_pixels];
};

// fixed_reach: usual_reach where the mask has it, 0 for any.
template <int fixed_reach>
class PairLine {
public:
  // Shared memory of cut.shared_bytes(). All threads of the block make one, then set values, then call wait().
  __device__ PairLine(const LineCut& cut, float4* shared)
      : cut_(cut), half_(cut.half()), table_(shared), values_(shared + cut.table_fours()) {
    if constexpr (fixed_reach == 0)
      for (int i = static_cast<int>(threadIdx.x); i <= cut.reach; i += static_cast<int>(blockDim.x))
        reinterpret_cast<float*>(table_)[i] = -cut.per_distance2 * static_cast<float>(i) * static_cast<float>(i);
  }
  __device__ int pixels() const { return own_pixels * cut_.owners(); }
  __device__ float& value(int pixel) const {
    const int four = pixel / 4 % 2 * half_ + pixel / own_pixels;
    return reinterpret_cast<float*>(values_)[4 * four + pixel % 4];
  }
  __device__ void wait() const { __syncthreads(); }

  // The thread's own pixels against all others under the mask. All threads of the block call it; values may be set
  // again afterwards.
  __device__ void weigh(float (&own)[own_pixels], Weighed& got) const {
    const int owner = static_cast<int>(threadIdx.x), owners = cut_.owners();
    const bool here = owner < owners;
    if (here) take(values_, owner, own);
#pragma unroll
    for (int i = 0; i < own_pixels; ++i) got.sum[i] = 0, got.weight[i] = 1;
    if (here) {
#pragma unroll
      for (int distance = 1; distance < own_pixels; ++distance) {
        if (distance > reach()) break;
#pragma unroll
        for (int i = 0; i + distance < own_pixels; ++i)
          weigh_pair(own[i], own[i + distance], exponent(distance), got.sum[i], got.weight[i], got.sum[i + distance],
                     got.weight[i + distance]);
      }
    }
#pragma unroll(fixed_reach > 0 ? (fixed_reach + own_pixels - 1) / own_pixels : 1)
    for (int turn = 1; own_pixels * (turn - 1) < reach(); ++turn) {
      if (owner + turn < owners) {
#pragma unroll(fixed_reach > 0 ? 2 : 1)
        for (int side = 0; side < 2; ++side)
          visit(own_pixels * turn + 4 * side, side * half_ + owner + turn, turn == 1, own, got);
      }
      __syncthreads();
    }
    if (!here || owner == 0) return;
    Weighed left;
    take(sums(), owner, left.sum);
    take(weights(), owner, left.weight);
#pragma unroll
    for (int i = 0; i < own_pixels; ++i) got.sum[i] += left.sum[i], got.weight[i] += left.weight[i];
  }

private:
  __device__ int reach() const { return fixed_reach > 0 ? fixed_reach : cut_.reach; }
  __device__ float exponent(int distance) const {
    return fixed_reach > 0 ? cut_.exponents[distance] : reinterpret_cast<const float*>(table_)[distance];
  }
  __device__ float4* sums() const { return values_ + 2 * half_; }
  __device__ float4* weights() const { return values_ + 4 * half_; }
  __device__ void take(const float4* from, int owner, float (&to)[own_pixels]) const {
    const float4 a = from[owner], b = from[half_ + owner];
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w, to[4] = b.x, to[5] = b.y, to[6] = b.z, to[7] = b.w;
  }
  __device__ static void weigh_pair(float a, float b, float exponent, float& sum_a, float& weight_a, float& sum_b,
                                    float& weight_b) {
    const float difference = b - a, weight = exp2_of(fmaf(-difference, difference, exponent));
    sum_a = fmaf(weight, difference, sum_a);
    sum_b = fmaf(-weight, difference, sum_b);
    weight_a += weight;
    weight_b += weight;
  }

  // Own pixels against the four at `four`, of which the first is `far` away from the first of the own.
  __device__ void visit(int far, int four, bool first, const float (&own)[own_pixels], Weighed& got) const {
    const float4 v = values_[four];
    float4 s = make_float4(0, 0, 0, 0), w = s;
    if (!first) s = sums()[four], w = weights()[four];
    const float values[4] = {v.x, v.y, v.z, v.w};
    float sum[4] = {s.x, s.y, s.z, s.w}, weight[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
    for (int along = 1 - own_pixels; along < 4; ++along) {
      if (far + along > reach()) break;
      const float falls = exponent(far + along);
#pragma unroll
      for (int i = 0; i < own_pixels; ++i)
        if (i + along >= 0 && i + along < 4)
          weigh_pair(own[i], values[i + along], falls, got.sum[i], got.weight[i], sum[i + along], weight[i + along]);
    }
    sums()[four] = make_float4(sum[0], sum[1], sum[2], sum[3]);
    weights()[four] = make_float4(weight[0], weight[1], weight[2], weight[3]);
  }

  const LineCut& cut_;
  int half_;
  float4 *table_, *values_;  // behind the values sums and weights
};

// Beyond a row's ends, where the mask finds nothing: so far off that it has no weight.
constexpr float nowhere = 1e30F;

}  // namespace lepus::filters
