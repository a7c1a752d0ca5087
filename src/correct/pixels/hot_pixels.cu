// SPDX-License-Identifier: Apache-2.0
// Hot pixels on a device: sums of squares per block of views (threads along the row: coalesced), then per column the
// sums of its blocks in order, the judgement, and the replacement in every view. Compiled without fused operations, so
// that host and device find the same pixels. Rows in which nothing was replaced are left alone by later iterations.
#include "backend/cuda/cuda_check.h"
#include "correct/pixels/pixel_kernels.h"

namespace lepus::pixels {
namespace {

constexpr unsigned threads = 128;

struct HotBuffers {
  float* blocks = nullptr;                        // [row][block of views][left, middle, right][column]
  float* deviations = nullptr;                    // [row][left, middle, right][column]
  HotRow* rows = nullptr;                         // of the classic detector
  unsigned char *hot = nullptr, *ever = nullptr;  // [row][column]
  int* changed = nullptr;                         // [row]: in the iteration before this one
  int* changing = nullptr;                        // [row]: in this one
};

__device__ std::int64_t column_of_thread() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void hot_start(HotBuffers b, std::int64_t columns) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z;
  if (x == 0) b.changed[plane] = 1;
  if (x < columns) b.ever[plane * columns + x] = 0;
}

__global__ void hot_sums(HotRules rules, Planes sinograms, HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z, columns = sinograms.width, reach = rules.reach();
  if (x >= columns || !b.changed[plane]) return;
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

__global__ void hot_deviations(HotRules rules, std::int64_t columns, std::int64_t views, std::int64_t blocks,
                               HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z;
  if (x == 0) b.changing[plane] = 0;
  if (x >= columns || !b.changed[plane]) return;
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
  const std::int64_t x = column_of_thread(), plane = blockIdx.z;
  if (x >= columns || !b.changed[plane]) return;
  const float* d = b.deviations + plane * 3 * columns;
  const bool hot = rules.classic ? hot_in_row(rules, d + columns, b.rows[plane], columns, x)
                                 : hot_in_windows(rules, {d, d + columns, d + 2 * columns}, columns, x);
  b.hot[plane * columns + x] = hot;
  if (!hot) return;
  b.ever[plane * columns + x] = 1;
  b.changing[plane] = 1;  // every thread that writes writes the same
}

__global__ void hot_replace(HotRules rules, Planes sinograms, HotBuffers b) {
  const std::int64_t x = column_of_thread(), plane = blockIdx.z, columns = sinograms.width;
  const unsigned char* hot = b.hot + plane * columns;
  if (x >= columns || !b.changed[plane] || !hot[x]) return;
  const std::int64_t view0 = blockIdx.y * views_per_sum;
  for (std::int64_t view = view0; view < view0 + views_per_sum && view < sinograms.height; ++view) {
    float* w = sinograms.row(plane, view);
    w[x] = replacement(rules, w, hot, columns, x);
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
                       cuda::Workspace& workspace) {
  const std::int64_t columns = sinograms.width, views = sinograms.height;
  const std::int64_t blocks = (views + views_per_sum - 1) / views_per_sum;
  const auto along = [](std::int64_t n) { return static_cast<unsigned>((n + threads - 1) / threads); };
  constexpr std::int64_t most_planes = 32768;  // a grid has at most 65535 layers
  for (std::int64_t plane0 = 0; plane0 < sinograms.count; plane0 += most_planes) {
    Planes part = sinograms;
    part.data = sinograms.row(plane0, 0);
    part.count = sinograms.count - plane0 < most_planes ? sinograms.count - plane0 : most_planes;
    const cuda::Workspace::Scope scope(workspace);
    HotBuffers b;
    b.blocks = workspace.take<float>(part.count * blocks * 3 * columns);
    b.deviations = workspace.take<float>(part.count * 3 * columns);
    b.rows = workspace.take<HotRow>(part.count);
    b.hot = workspace.take<unsigned char>(part.count * columns);
    b.ever = workspace.take<unsigned char>(part.count * columns);
    b.changed = workspace.take<int>(part.count);
    b.changing = workspace.take<int>(part.count);
    const auto planes = static_cast<unsigned>(part.count);
    const dim3 pixels(along(columns), 1, planes), sums(along(columns), static_cast<unsigned>(blocks), planes);
    const cudaStream_t stream = workspace.stream();
    hot_start<<<pixels, threads, 0, stream>>>(b, columns);
    cuda::check_launch("hot_start");
    for (int iteration = 0; iteration < iterations; ++iteration) {
      hot_sums<<<sums, threads, 0, stream>>>(rules, part, b);
      hot_deviations<<<pixels, threads, 0, stream>>>(rules, columns, views, blocks, b);
      if (rules.classic) hot_classic_rows<<<along(part.count), threads, 0, stream>>>(part.count, columns, b);
      hot_judge<<<pixels, threads, 0, stream>>>(rules, columns, b);
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
