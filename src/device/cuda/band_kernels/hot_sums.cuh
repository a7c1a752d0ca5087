// SPDX-License-Identifier: Apache-2.0
// Hot pixels on a device, the pass over all pixels: for each column of sinograms[row][view][column] and each block of
// views the sums of squares of its noises n_left, n_middle, n_right (hot_rules.h). Included by hot_pixels.cu only.
#pragma once

#include <cuda_pipeline.h>

#include "project/hot_rules.h"
#include "project/planes.h"

namespace lepus::pixels {
namespace {

constexpr unsigned threads = 128;
constexpr int lanes = 32, warps = threads / lanes;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int segment = 4 * lanes;              // columns of a warp in hot_sums_of
constexpr int usual_window = 6, usual_gap = 5;  // the defaults of the correction
constexpr int usual_reach = usual_gap + usual_window - 1;
static_assert(views_per_sum == lanes, "kernels that follow single columns have one lane per view of a block");

struct HotBuffers {
  float* blocks = nullptr;                        // [row][block of views][left, middle, right][column]
  float* deviations = nullptr;                    // [row][left, middle, right][column]
  HotRow* rows = nullptr;                         // of the classic detector
  unsigned char* found = nullptr;                 // [row][column]: the Verdict of this iteration
  unsigned char *hot = nullptr, *ever = nullptr;  // [row][column]; hot: all at first, since nothing is known yet
  int* views = nullptr;                           // [row][column]: in how many a suspect stands out
  int* changed = nullptr;                         // [row]: in the iteration before this one
  int* changing = nullptr;                        // [row]: in this one
};

__device__ std::int64_t column_of_thread() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int lane_of_thread() { return static_cast<int>(threadIdx.x) % lanes; }

// Whether a column of [first, last) is hot; the same answer in all lanes of a warp, which must all ask.
__device__ bool any_hot(const unsigned char* hot, std::int64_t columns, std::int64_t first, std::int64_t last) {
  bool found = false;
  const std::int64_t end = last < columns ? last : columns;
  for (std::int64_t x = (first > 0 ? first : 0) + lane_of_thread(); x < end && !found; x += lanes) found = hot[x] != 0;
  return __any_sync(all_lanes, found);
}

// The same for columns around the `lanes` columns of a warp, of which x is the calling thread's.
__device__ bool any_hot_near(const unsigned char* hot, std::int64_t columns, std::int64_t x, std::int64_t reach) {
  const std::int64_t x0 = x - lane_of_thread();
  return any_hot(hot, columns, x0 - reach, x0 + lanes + reach);
}

// Threads along the row, for any window.
__global__ void hot_sums(HotRules rules, Planes sinograms, HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z, columns = sinograms.width, reach = rules.reach();
  if (!b.changed[plane] || !any_hot_near(b.hot + plane * columns, columns, x, reach) || x >= columns) return;
  const NoiseWeights& weights = rules.weights;
  const bool has_left = x >= reach, has_right = x + reach < columns;
  const std::int64_t view0 = blockIdx.y * views_per_sum;
  const std::int64_t view1 = view0 + views_per_sum < sinograms.height ? view0 + views_per_sum : sinograms.height;
  float left = 0, middle = 0, right = 0;
  for (std::int64_t view = view0; view < view1; ++view) {
    const float* w = sinograms.row(plane, view) + x;
    const float centre = *w;
    float n_left = 0, n_middle = 0, n_right = 0;
    for (int i = 0; i < weights.window; ++i) {
      const std::int64_t k = weights.gap + i;
      const float from_left = has_left ? centre - w[-k] : 0.0F, from_right = has_right ? centre - w[k] : 0.0F;
      n_left += weights.one[i] * from_left;
      n_right += weights.one[i] * from_right;
      n_middle += weights.two[i] * (from_left + from_right);
    }
    left += n_left * n_left;
    middle += n_middle * n_middle;
    right += n_right * n_right;
  }
  float* sums = b.blocks + (plane * gridDim.y + blockIdx.y) * 3 * columns + x;
  sums[0] = left;
  sums[columns] = has_left && has_right ? middle : 0.0F;
  sums[2 * columns] = right;
}

// The same sums for a window known to the compiler. A warp has `segment` columns, four per lane, and one block of
// views: rows come to shared memory some views ahead, from where a lane takes the pixels around its four by fours.
template <int window, int gap>
__global__ void __launch_bounds__(threads)
    hot_sums_of(NoiseWeights weights, Planes sinograms, HotBuffers b, int segments, int blocks) {
  constexpr int reach = gap + window - 1, halo = (reach + 3) / 4 * 4, fours = 2 * halo / 4 + 1;
  constexpr int loads = (segment + 2 * halo + lanes - 1) / lanes, stages = 4;
  __shared__ alignas(16) float tiles[warps][stages][loads * lanes];
  const std::int64_t plane = blockIdx.z, columns = sinograms.width;
  const int lane = lane_of_thread(), warp = static_cast<int>(threadIdx.x) / lanes;
  const int task = static_cast<int>(blockIdx.x) * warps + warp, block = task / segments;
  if (block >= blocks || !b.changed[plane]) return;
  const std::int64_t x0 = std::int64_t{task % segments} * segment, view0 = block * views_per_sum;
  if (!any_hot(b.hot + plane * columns, columns, x0 - reach, x0 + segment + reach)) return;

  // Columns beyond the row's ends are read at the end: what is made of them is not kept.
  int from[loads];
  for (int i = 0; i < loads; ++i) {
    const std::int64_t x = x0 - halo + i * lanes + lane;
    from[i] = static_cast<int>(x < 0 ? 0 : x < columns ? x : columns - 1);
  }
  const std::int64_t left_views = sinograms.height - view0;
  const int views = static_cast<int>(left_views < views_per_sum ? left_views : views_per_sum);
  const float* w = sinograms.row(plane, view0);
  const auto fetch = [&](int view) {
    if (view < views) {
      for (int i = 0; i < loads; ++i)
        __pipeline_memcpy_async(&tiles[warp][view % stages][i * lanes + lane], w + from[i], sizeof(float));
      w += sinograms.row_stride;
    }
    __pipeline_commit();
  };
  for (int view = 0; view < stages - 1; ++view) fetch(view);
  float left[4] = {}, middle[4] = {}, right[4] = {};
  for (int view = 0; view < views; ++view) {
    __pipeline_wait_prior(stages - 2);
    __syncwarp();  // this view is there for all lanes, and all are done with the one before, whose place is next
    fetch(view + stages - 1);
    float t[4 * fours];
#pragma unroll
    for (int i = 0; i < fours; ++i) {
      const float4 four = *reinterpret_cast<const float4*>(&tiles[warp][view % stages][4 * (lane + i)]);
      t[4 * i] = four.x;
      t[4 * i + 1] = four.y;
      t[4 * i + 2] = four.z;
      t[4 * i + 3] = four.w;
    }
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const float centre = t[halo + p];
      float n_left = 0, n_middle = 0, n_right = 0;
#pragma unroll
      for (int i = 0; i < window; ++i) {
        const float from_left = centre - t[halo + p - gap - i], from_right = centre - t[halo + p + gap + i];
        const float to_left = weights.one[i] * from_left, to_right = weights.one[i] * from_right;
        const float to_middle = weights.two[i] * (from_left + from_right);
        n_left = i == 0 ? to_left : n_left + to_left;  // 0 + x is x but for the sign of 0, which the square forgets
        n_right = i == 0 ? to_right : n_right + to_right;
        n_middle = i == 0 ? to_middle : n_middle + to_middle;
      }
      left[p] += n_left * n_left;
      middle[p] += n_middle * n_middle;
      right[p] += n_right * n_right;
    }
  }
  float* sums = b.blocks + (plane * blocks + block) * 3 * columns;
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const std::int64_t x = x0 + 4 * lane + p;
    if (x >= columns) break;
    const bool has_left = x >= reach, has_right = x + reach < columns;
    sums[x] = has_left ? left[p] : 0.0F;
    sums[columns + x] = has_left && has_right ? middle[p] : 0.0F;
    sums[2 * columns + x] = has_right ? right[p] : 0.0F;
  }
}

}  // namespace
}  // namespace lepus::pixels
