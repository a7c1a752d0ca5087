// SPDX-License-Identifier: Apache-2.0
// Zingers on a device: mean distances from the median per block of views and column, thresholds, then the corrected
// sinograms into scratch and back: neighbours are judged by what was measured, not by what was corrected before them.
// Compiled without fused operations, so that host and device replace the same values.
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "project/hot_rules.h"
#include "device/cuda/band_kernels/pixel_kernels.h"

namespace lepus::pixels {
namespace {

constexpr unsigned zinger_threads = 128;
constexpr std::int64_t copy_bytes = std::int64_t{64} << 20;  // scratch for corrected sinograms, at least one of them

__device__ float view_median_at(const ZingerRules& rules, const Planes& s, std::int64_t plane, std::int64_t view,
                                std::int64_t x) {
  const float* w = s.row(plane, first_neighbour(view, rules.radius, s.height)) + x;
  const auto at = [&](int i) { return w[i * s.row_stride]; };
  const ExchangeFloats exchange;
  if (rules.radius == 1) return median_of_3(at(0), at(1), at(2), exchange);
  if (rules.radius == 2) return median_of_5(at(0), at(1), at(2), at(3), at(4), exchange);
  return median_of_7(at(0), at(1), at(2), at(3), at(4), at(5), at(6), exchange);
}

__device__ float median_at(const ZingerRules& rules, const Planes& s, std::int64_t plane, std::int64_t view,
                           std::int64_t x) {
  return rules.neighbours == ZingerNeighbours::row ? row_median_at(s.row(plane, view), s.width, x)
                                                   : view_median_at(rules, s, plane, view, x);
}

__global__ void zinger_sums(ZingerRules rules, Planes sinograms, float* blocks) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, plane = blockIdx.z;
  if (x >= sinograms.width) return;
  const std::int64_t view0 = blockIdx.y * views_per_sum;
  float sum = 0;
  for (std::int64_t view = view0; view < view0 + views_per_sum && view < sinograms.height; ++view)
    sum += fabsf(sinograms.row(plane, view)[x] - median_at(rules, sinograms, plane, view, x));
  blocks[(plane * gridDim.y + blockIdx.y) * sinograms.width + x] = sum;
}

__global__ void zinger_thresholds(ZingerRules rules, std::int64_t columns, std::int64_t views, std::int64_t blocks,
                                  const float* sums, float* thresholds, unsigned long long* found) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, plane = blockIdx.z;
  if (x == 0) found[plane] = 0;
  if (x >= columns) return;
  double total = 0;
  for (std::int64_t block = 0; block < blocks; ++block) total += sums[(plane * blocks + block) * columns + x];
  thresholds[plane * columns + x] = static_cast<float>(rules.limit * total / static_cast<double>(views));
}

__global__ void zinger_correct(ZingerRules rules, Planes sinograms, const float* thresholds, float* corrected,
                               unsigned long long* found) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, plane = blockIdx.z;
  if (x >= sinograms.width) return;
  const float threshold = thresholds[plane * sinograms.width + x];
  const std::int64_t view0 = blockIdx.y * views_per_sum;
  int replaced = 0;
  for (std::int64_t view = view0; view < view0 + views_per_sum && view < sinograms.height; ++view) {
    float value = sinograms.row(plane, view)[x];
    const float median = median_at(rules, sinograms, plane, view, x);
    const float* near[4] = {};
    for (int i = 0; i < 2; ++i) {
      if (view >= 2 - i) near[i] = sinograms.row(plane, view - 2 + i);
      if (view + 1 + i < sinograms.height) near[2 + i] = sinograms.row(plane, view + 1 + i);
    }
    if (rules.sign * (value - median) > threshold &&
        (rules.neighbours != ZingerNeighbours::both ||
         alone_in_row(rules, sinograms.row(plane, view), near, sinograms.width, x, threshold))) {
      value = median;
      ++replaced;
    }
    corrected[(plane * sinograms.height + view) * sinograms.width + x] = value;
  }
  if (replaced > 0) atomicAdd(found + plane, static_cast<unsigned long long>(replaced));  // whole numbers: any order
}

__global__ void zinger_finish(Planes sinograms, const float* corrected, const unsigned long long* found,
                              std::int64_t* counts) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, plane = blockIdx.z;
  if (x == 0 && blockIdx.y == 0) counts[plane] = static_cast<std::int64_t>(found[plane]);
  if (x >= sinograms.width) return;
  const std::int64_t view0 = blockIdx.y * views_per_sum;
  for (std::int64_t view = view0; view < view0 + views_per_sum && view < sinograms.height; ++view)
    sinograms.row(plane, view)[x] = corrected[(plane * sinograms.height + view) * sinograms.width + x];
}

}  // namespace

void launch_zingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, Queue& queue) {
  const std::int64_t columns = sinograms.width, views = sinograms.height;
  const std::int64_t blocks = (views + views_per_sum - 1) / views_per_sum;
  const std::int64_t sinogram_bytes = columns * views * static_cast<std::int64_t>(sizeof(float));
  std::int64_t most = copy_bytes / sinogram_bytes;
  most = most < 1 ? 1 : most > 32768 ? 32768 : most;  // a grid has at most 65535 layers
  if (most > sinograms.count) most = sinograms.count;
  const ScratchScope scope(queue);
  float* const sums = queue.scratch<float>(most * blocks * columns);
  float* const thresholds = queue.scratch<float>(most * columns);
  float* const corrected = queue.scratch<float>(most * views * columns);
  auto* const found = queue.scratch<unsigned long long>(most);
  const cudaStream_t stream = cuda::stream_of(queue);
  for (std::int64_t plane0 = 0; plane0 < sinograms.count; plane0 += most) {
    Planes part = sinograms;
    part.data = sinograms.row(plane0, 0);
    part.count = sinograms.count - plane0 < most ? sinograms.count - plane0 : most;
    const auto wide = static_cast<unsigned>((columns + zinger_threads - 1) / zinger_threads);
    const auto planes = static_cast<unsigned>(part.count);
    const dim3 pixels(wide, 1, planes), all(wide, static_cast<unsigned>(blocks), planes);
    zinger_sums<<<all, zinger_threads, 0, stream>>>(rules, part, sums);
    zinger_thresholds<<<pixels, zinger_threads, 0, stream>>>(rules, columns, views, blocks, sums, thresholds, found);
    zinger_correct<<<all, zinger_threads, 0, stream>>>(rules, part, thresholds, corrected, found);
    zinger_finish<<<all, zinger_threads, 0, stream>>>(part, corrected, found, counts + plane0);
    cuda::check_launch("zinger_finish");
  }
}

}  // namespace lepus::pixels
