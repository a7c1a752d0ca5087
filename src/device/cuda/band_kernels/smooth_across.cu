// SPDX-License-Identifier: Apache-2.0
// Box and Gaussian on a device along v or along z. A thread makes 16 neighbouring pixels of a column: every value that
// it loads serves 16 sums. Sums run in the order of the mask: they do not depend on where a band begins.
#include <algorithm>

#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/smooth_mask.cuh"

namespace lepus::filters {
namespace {

constexpr int pixels_down = 16, threads_across = 256;

struct Column {
  const float* pixels;  // of row or plane 0 of the whole
  std::int64_t stride;  // between pixels of the column
  std::int64_t n;       // pixels in the whole
  std::int64_t first;   // of those that the first mask sees; < 0 beyond the edge
  FilterBorder border;
};

// Adds `count` values, from the begin-th that the masks see, to the sums. recent[i % 16] is the weight of tap i of the
// first pixel's mask, tap i - j of the j-th. Nothing is read that none of the masks sees: it may not be there.
template <bool inside>
__device__ inline void add_values(const Column& column, const float* weights, int begin, int count, float* recent,
                                  float* sums) {
  float values[pixels_down];
#pragma unroll
  for (int step = 0; step < pixels_down; ++step) {
    std::int64_t at = column.first + begin + step;
    if constexpr (!inside) at = step < count ? border_index(column.border, at, column.n) : -1;
    values[step] = at < 0 ? 0.0f : column.pixels[at * column.stride];
  }
#pragma unroll
  for (int step = 0; step < pixels_down; ++step) {
    recent[step] = weights[begin + step];
#pragma unroll
    for (int j = 0; j < pixels_down; ++j)
      sums[j] = fmaf(recent[(step - j + pixels_down) % pixels_down], values[step], sums[j]);
  }
}

// A block per 256 columns, 16 pixels of each (blocks along y), and plane or row (along z). Shared: weights, and zeros
// for what the first mask does not see.
__global__ void __launch_bounds__(threads_across, 3)
    smooth_across(const __grid_constant__ DeviceJob job, const Mask mask, int others_done) {
  extern __shared__ float across_weights[];
  float* weights = across_weights;
  for (int k = threadIdx.x; k < mask.taps() + 2 * pixels_down; k += threads_across) weights[k] = mask.weight(k);
  __syncthreads();
  const Pass& pass = job.pass;
  const bool along_v = pass.reach_v > 0;
  const RowBand range = along_v ? pass.rows : pass.planes, others = along_v ? pass.planes : pass.rows;
  const std::int64_t width = job.from.part.width, x = std::int64_t{blockIdx.x} * threads_across + threadIdx.x;
  if (x >= width) return;
  const std::int64_t other = others.first + others_done + blockIdx.z;
  const std::int64_t first = range.first + std::int64_t{blockIdx.y} * pixels_down;
  const int made = static_cast<int>(range.last - first < pixels_down ? range.last - first : pixels_down);
  const int seen = mask.taps() + made - 1;
  const Planes& from = job.from.part;
  const Column column{(along_v ? job.from.row(other, 0) : job.from.row(0, other)) + x,
                      along_v ? from.row_stride : from.plane_stride, along_v ? job.from.rows : job.from.planes,
                      first - mask.reach, pass.border};
  float sums[pixels_down] = {}, recent[pixels_down] = {};
  const bool inside = column.first >= 0 && column.first + seen <= column.n;
  int begin = 0;
  if (inside)
    for (; begin + pixels_down <= seen; begin += pixels_down)
      add_values<true>(column, weights, begin, pixels_down, recent, sums);
  for (; begin < seen; begin += pixels_down) add_values<false>(column, weights, begin, seen - begin, recent, sums);
#pragma unroll
  for (int j = 0; j < pixels_down; ++j) {
    if (j >= made) break;
    const std::int64_t i = first + j, plane = along_v ? other : i, y = along_v ? i : other;
    float value = sums[j];
    if (pass.border == FilterBorder::partial && !full_mask(i, column.n, mask.reach))
      value /= weight_inside(mask, weights, i, column.n);
    if (row_is_kept(pass, job.to, plane, y) || column_is_kept(pass, x, width)) value = job.original.row(plane, y)[x];
    job.to.row(plane, y)[x] = value;
  }
}

}  // namespace

void smooth_across_on_device(const DeviceJob& job, const Mask& mask, cudaStream_t stream) {
  const Pass& pass = job.pass;
  const bool along_v = pass.reach_v > 0;
  const std::int64_t along = (along_v ? pass.rows : pass.planes).size(),
                     others = (along_v ? pass.planes : pass.rows).size();
  const std::int64_t bytes = (mask.taps() + 2 * pixels_down) * static_cast<std::int64_t>(sizeof(float));
  make_room(reinterpret_cast<const void*>(&smooth_across), bytes);
  const dim3 grid(static_cast<unsigned>((job.from.part.width + threads_across - 1) / threads_across),
                  static_cast<unsigned>((along + pixels_down - 1) / pixels_down));
  constexpr std::int64_t maximum_layers = 65535;  // of a grid
  for (std::int64_t done = 0; done < others; done += maximum_layers) {
    const dim3 part(grid.x, grid.y, static_cast<unsigned>(std::min(maximum_layers, others - done)));
    smooth_across<<<part, threads_across, static_cast<std::size_t>(bytes), stream>>>(job, mask, static_cast<int>(done));
    cuda::check_launch("smoothing across rows");
  }
}

}  // namespace lepus::filters
