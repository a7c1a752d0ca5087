// SPDX-License-Identifier: Apache-2.0
// Hot pixels on a device: sums of squares per block of views, then per column the sums of its blocks in order, the
// judgement (for suspects in each view), and the replacement in every view. Compiled without fused operations, so that
// host and device find the same pixels. Later iterations look only at columns whose neighbourhood was replaced: what
// reads the same pixels again finds the same.
#include <limits>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/band_kernels/hot_sums.cuh"
#include "device/cuda/band_kernels/pixel_kernels.h"

namespace lepus::pixels {
namespace {

__global__ void hot_start(HotBuffers b, std::int64_t columns) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z;
  if (x == 0) b.changed[plane] = 1;
  if (x >= columns) return;
  b.hot[plane * columns + x] = 1;
  b.ever[plane * columns + x] = 0;
}

__global__ void hot_deviations(HotRules rules, std::int64_t columns, std::int64_t views, std::int64_t blocks,
                               HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z;
  if (x == 0) b.changing[plane] = 0;
  if (!b.changed[plane] || !any_hot_near(b.hot + plane * columns, columns, x, rules.reach()) || x >= columns) return;
  for (int i = 0; i < 3; ++i) {
    double total = 0;
    for (std::int64_t block = 0; block < blocks; ++block)
      total += b.blocks[((plane * blocks + block) * 3 + i) * columns + x];
    const double scale = i == 1 ? rules.weights.two_scale : rules.weights.one_scale;
    b.deviations[(plane * 3 + i) * columns + x] = deviation_of(total, views, scale);
  }
}

// One thread per row, in the host's order; there are as many rows as it takes to hide that.
__global__ void hot_classic_rows(std::int64_t planes, std::int64_t columns, HotBuffers b) {
  const std::int64_t plane = column_of_thread();
  if (plane >= planes || !b.changed[plane]) return;
  b.rows[plane] = classic_row(b.deviations + (plane * 3 + 1) * columns, columns);
}

__global__ void hot_judge(HotRules rules, std::int64_t columns, HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z, at = plane * columns + x;
  if (!b.changed[plane]) return;
  // A column of which neither its deviations nor its windows' changed is not hot now, as it was not before.
  const bool again = any_hot_near(b.hot + plane * columns, columns, x, 2 * rules.reach()) || rules.classic;
  if (x >= columns) return;
  Verdict found = Verdict::good;
  if (again) {
    const float* d = b.deviations + plane * 3 * columns;
    found = rules.classic ? verdict(rules, hot_in_row(rules, d + columns, b.rows[plane], columns, x), false)
                          : hot_in_windows(rules, {d, d + columns, d + 2 * columns}, columns, x);
  }
  b.found[at] = static_cast<unsigned char>(found);
  b.views[at] = 0;
}

// A warp has `lanes` columns and one block of views; for one suspect after the other each lane looks at its view. With
// the usual windows the pixels come from shared memory: read by rows, used by columns.
__global__ void hot_views(HotRules rules, Planes sinograms, HotBuffers b) {
  constexpr int maximum_columns = lanes + 4 * usual_reach, loads = (maximum_columns + lanes - 1) / lanes;
  __shared__ float tiles[warps][lanes][maximum_columns + 1];  // an odd pitch: no two lanes in one bank
  static_assert(maximum_columns % 2 == 0);
  const std::int64_t x = column_of_thread(), plane = blockIdx.z, columns = sinograms.width;
  const bool suspect =
      x < columns && b.changed[plane] && b.found[plane * columns + x] == static_cast<unsigned char>(Verdict::suspect);
  const unsigned suspects = __ballot_sync(all_lanes, suspect);
  if (suspects == 0) return;
  const int lane = lane_of_thread(), warp = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t view0 = blockIdx.y * views_per_sum, left_views = sinograms.height - view0;
  const int views = static_cast<int>(left_views < lanes ? left_views : lanes);
  // All that stands_out reads of a row is in [first, last), which ends before 2 reach only where the row does.
  const std::int64_t x0 = x - lane, around = 2 * rules.reach();
  const std::int64_t first = x0 > around ? x0 - around : 0;
  const std::int64_t last = x0 + lanes + around < columns ? x0 + lanes + around : columns;
  const float* w = sinograms.row(plane, view0) + first;
  if (around <= 2 * usual_reach) {
#pragma unroll 4
    for (int view = 0; view < views; ++view, w += sinograms.row_stride)
      for (int i = 0; i < loads; ++i)
        if (i * lanes + lane < last - first) tiles[warp][view][i * lanes + lane] = w[i * lanes + lane];
    __syncwarp();
    w = tiles[warp][lane];
  } else if (lane < views) {
    w += lane * sinograms.row_stride;
  }
  for (unsigned left = suspects; left != 0; left &= left - 1) {
    const std::int64_t at = x0 + __ffs(static_cast<int>(left)) - 1;
    const bool out = lane < views && stands_out<float>(rules, w, last - first, at - first);
    const int count = __popc(__ballot_sync(all_lanes, out));
    if (lane == 0 && count > 0) atomicAdd(b.views + plane * columns + at, count);  // whole numbers: any order
  }
}

__global__ void hot_settle(HotRules rules, std::int64_t columns, HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z, at = plane * columns + x;
  if (x >= columns || !b.changed[plane]) return;
  const auto found = static_cast<Verdict>(b.found[at]);
  const bool hot = found == Verdict::hot || (found == Verdict::suspect && b.views[at] >= rules.minimum_views);
  b.hot[at] = hot;
  if (!hot) return;
  b.ever[at] = 1;
  b.changing[plane] = 1;  // every thread that writes writes the same
}

// Columns and views as in hot_views. Only good pixels are read, and only hot ones written.
__global__ void hot_replace(HotRules rules, Planes sinograms, HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z, columns = sinograms.width;
  const unsigned char* hot = b.hot + plane * columns;
  const unsigned found = __ballot_sync(all_lanes, x < columns && b.changed[plane] && hot[x]);
  const int lane = lane_of_thread();
  const std::int64_t view = blockIdx.y * views_per_sum + lane;
  if (view >= sinograms.height) return;
  float* w = sinograms.row(plane, view);
  for (unsigned left = found; left != 0; left &= left - 1) {
    const std::int64_t at = x - lane + __ffs(static_cast<int>(left)) - 1;
    w[at] = replacement(rules, w, hot, columns, at);
  }
}

__global__ void hot_count(std::int64_t columns, HotBuffers b, std::int64_t* counts) {
  std::int64_t total = 0;
  for (std::int64_t x0 = 0; x0 < columns; x0 += blockDim.x) {
    const std::int64_t x = x0 + threadIdx.x;
    total += __syncthreads_count(x < columns && b.ever[blockIdx.x * columns + x]);
  }
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

}  // namespace

void launch_hot_pixels(const HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                       Queue& queue) {
  const std::int64_t columns = sinograms.width, views = sinograms.height;
  const std::int64_t blocks = (views + views_per_sum - 1) / views_per_sum;
  const auto along = [](std::int64_t n) { return static_cast<unsigned>((n + threads - 1) / threads); };
  constexpr std::int64_t maximum_planes = 32768;  // a grid has at most 65535 layers
  for (std::int64_t plane0 = 0; plane0 < sinograms.count; plane0 += maximum_planes) {
    Planes part = sinograms;
    part.data = sinograms.row(plane0, 0);
    part.count = sinograms.count - plane0 < maximum_planes ? sinograms.count - plane0 : maximum_planes;
    const ScratchScope scope(queue);
    HotBuffers b;
    b.blocks = queue.scratch<float>(part.count * blocks * 3 * columns);
    b.deviations = queue.scratch<float>(part.count * 3 * columns);
    b.rows = queue.scratch<HotRow>(part.count);
    b.found = queue.scratch<unsigned char>(part.count * columns);
    b.hot = queue.scratch<unsigned char>(part.count * columns);
    b.ever = queue.scratch<unsigned char>(part.count * columns);
    b.views = queue.scratch<int>(part.count * columns);
    b.changed = queue.scratch<int>(part.count);
    b.changing = queue.scratch<int>(part.count);
    const auto planes = static_cast<unsigned>(part.count);
    const dim3 pixels(along(columns), 1, planes), sums(along(columns), static_cast<unsigned>(blocks), planes);
    const std::int64_t segments = (columns + segment - 1) / segment, tasks = segments * blocks;
    const dim3 usual_sums(static_cast<unsigned>((tasks + warps - 1) / warps), 1, planes);
    const bool usual = rules.weights.window == usual_window && rules.weights.gap == usual_gap &&
                       tasks < std::numeric_limits<int>::max() - warps;
    const cudaStream_t stream = cuda::stream_of(queue);
    hot_start<<<pixels, threads, 0, stream>>>(b, columns);
    cuda::check_launch("hot_start");
    for (int iteration = 0; iteration < iterations; ++iteration) {
      if (usual)
        hot_sums_of<usual_window, usual_gap><<<usual_sums, threads, 0, stream>>>(
            rules.weights, part, b, static_cast<int>(segments), static_cast<int>(blocks));
      else
        hot_sums<<<sums, threads, 0, stream>>>(rules, part, b);
      hot_deviations<<<pixels, threads, 0, stream>>>(rules, columns, views, blocks, b);
      if (rules.classic) hot_classic_rows<<<along(part.count), threads, 0, stream>>>(part.count, columns, b);
      hot_judge<<<pixels, threads, 0, stream>>>(rules, columns, b);
      if (rules.minimum_views > 0) hot_views<<<sums, threads, 0, stream>>>(rules, part, b);
      hot_settle<<<pixels, threads, 0, stream>>>(rules, columns, b);
      hot_replace<<<sums, threads, 0, stream>>>(rules, part, b);
      cuda::check_launch("hot_replace");
      int* const before = b.changed;
      b.changed = b.changing;
      b.changing = before;
    }
    hot_count<<<planes, threads, 0, stream>>>(columns, b, counts + plane0);
    cuda::check_launch("hot_count");
  }
}

}  // namespace lepus::pixels
