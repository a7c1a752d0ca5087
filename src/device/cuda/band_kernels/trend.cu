// SPDX-License-Identifier: Apache-2.0
// The trend method on the device: sums over some views of what a filter takes away, then the pattern from the sums of
// all views, taken away from every view.
#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/bilateral_pairs.cuh"
#include "device/cuda/band_kernels/ring_kernels.h"
#include "project/stripe_pattern.h"

namespace lepus::rings {
namespace {

using filters::LineCut;
using filters::own_pixels;

// Views [first, last) of a part.
__device__ RowBand views_of(const Planes& sinograms, std::int64_t part) {
  const std::int64_t first = part * views_per_part, last = first + views_per_part;
  return {first, last < sinograms.height ? last : sinograms.height};
}

// A block per line of a part's views.
template <bool relative, int fixed_reach>
__global__ void __launch_bounds__(filters::maximum_line_threads, filters::line_blocks_at_once)
    sum_bilateral(Planes sinograms, StripeSums sums, const __grid_constant__ LineCut cut) {
  extern __shared__ float4 trend_shared[];
  const filters::PairLine<fixed_reach> line(cut, trend_shared);
  const int x0 = static_cast<int>(blockIdx.x % cut.pieces) * cut.piece, thread = static_cast<int>(threadIdx.x);
  const std::int64_t part = blockIdx.x / cut.pieces % sums.parts, plane = blockIdx.x / cut.pieces / sums.parts;
  const auto width = static_cast<int>(sinograms.width);
  const RowBand views = views_of(sinograms, part);
  // Of few views, and the ratio forgets what the values' sum loses: floats do.
  float rest[own_pixels] = {}, own[own_pixels] = {};
  for (std::int64_t view = views.first; view < views.last; ++view) {
    const float* row = sinograms.row(plane, view);
    for (int i = thread; i < line.pixels(); i += static_cast<int>(blockDim.x)) {
      const int x = x0 - cut.margin + i;
      line.value(i) = x >= 0 && x < width ? cut.scale * __ldg(row + x) : filters::nowhere;
    }
    line.wait();
    float values[own_pixels];
    filters::Weighed got;
    line.weigh(values, got);
#pragma unroll
    for (int i = 0; i < own_pixels; ++i) {
      rest[i] -= __fdividef(got.sum[i], got.weight[i]);
      if (relative) own[i] += values[i];
    }
  }
  const double per_scale = 1 / static_cast<double>(cut.scale);
  const int first = own_pixels * thread - cut.margin;
#pragma unroll
  for (int i = 0; i < own_pixels; ++i) {
    const int x = x0 + first + i;
    if (first + i < 0 || first + i >= cut.piece || x >= width) continue;
    const std::int64_t at = sums.at(plane, part, x);
    sums.rest[at] = per_scale * static_cast<double>(rest[i]);
    if (relative) sums.own[at] = per_scale * static_cast<double>(own[i]);
  }
}

// A thread per column.
__global__ void sum_difference(Planes sinograms, Planes smooth, StripeSums sums) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, part = blockIdx.y;
  if (x >= sinograms.width) return;
  const RowBand views = views_of(sinograms, part);
  for (std::int64_t plane = blockIdx.z; plane < sinograms.count; plane += gridDim.z) {
    double rest = 0, own = 0;
#pragma unroll 4
    for (std::int64_t view = views.first; view < views.last; ++view) {
      const float value = sinograms.row(plane, view)[x];
      rest += static_cast<double>(value - smooth.row(plane, view)[x]);
      own += static_cast<double>(value);
    }
    const std::int64_t at = sums.at(plane, part, x);
    sums.rest[at] = rest;
    if (sums.own) sums.own[at] = own;
  }
}

__global__ void find_pattern(std::int64_t views, std::int64_t planes, StripeSums sums) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t plane = blockIdx.y; plane < planes && x < sums.width; plane += gridDim.y) {
    double rest = 0, own = 0;
    for (std::int64_t part = 0; part < sums.parts; ++part) {
      rest += sums.rest[sums.at(plane, part, x)];
      if (sums.own) own += sums.own[sums.at(plane, part, x)];
    }
    sums.pattern[plane * sums.width + x] =
        static_cast<float>(sums.own ? gain_repair(own, own - rest) : rest / static_cast<double>(views));
  }
}

// A thread has a column of eight views, all on their way to it at once.
constexpr int views_at_once = 8;

template <bool relative>
__global__ void take_away(Planes sinograms, const float* pattern) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t groups = (sinograms.height + views_at_once - 1) / views_at_once;
  for (std::int64_t plane = blockIdx.z; plane < sinograms.count && x < sinograms.width; plane += gridDim.z)
    for (std::int64_t group = blockIdx.y; group < groups; group += gridDim.y) {
      const float here = pattern[plane * sinograms.width + x];
      float* column = sinograms.row(plane, group * views_at_once) + x;
      const std::int64_t views = sinograms.height - group * views_at_once;
      float values[views_at_once];
#pragma unroll
      for (int i = 0; i < views_at_once; ++i)
        if (i < views) values[i] = column[i * sinograms.row_stride];
#pragma unroll
      for (int i = 0; i < views_at_once; ++i)
        if (i < views) column[i * sinograms.row_stride] = relative ? values[i] * here : values[i] - here;
    }
}

}  // namespace

bool launch_sum_bilateral(const Planes& sinograms, const filters::Pass& pass, const StripeSums& sums,
                          cudaStream_t stream) {
  LineCut cut;
  if (!filters::cut_lines(pass, sinograms.width, cut)) return false;
  const auto launch = [&](auto kernel) {
    kernel<<<static_cast<unsigned>(cut.pieces * sums.parts * sinograms.count), cut.threads(), cut.shared_bytes(),
             stream>>>(sinograms, sums, cut);
  };
  if (cut.reach == filters::usual_reach)
    launch(sums.own ? sum_bilateral<true, filters::usual_reach> : sum_bilateral<false, filters::usual_reach>);
  else
    launch(sums.own ? sum_bilateral<true, 0> : sum_bilateral<false, 0>);
  cuda::check_launch("sum_bilateral");
  return true;
}

void launch_sum_difference(const Planes& sinograms, const Planes& smooth, const StripeSums& sums, cudaStream_t stream) {
  const dim3 blocks(blocks_for(sinograms.width, 128), static_cast<unsigned>(sums.parts), capped(sinograms.count));
  sum_difference<<<blocks, 128, 0, stream>>>(sinograms, smooth, sums);
  cuda::check_launch("sum_difference");
}

void launch_take_pattern(const Planes& sinograms, const StripeSums& sums, cudaStream_t stream) {
  const unsigned columns = blocks_for(sinograms.width, 256), planes = capped(sinograms.count);
  find_pattern<<<dim3(columns, planes), 256, 0, stream>>>(sinograms.height, sinograms.count, sums);
  cuda::check_launch("find_pattern");
  const auto kernel = sums.own ? take_away<true> : take_away<false>;
  kernel<<<dim3(columns, capped(blocks_for(sinograms.height, views_at_once)), planes), 256, 0, stream>>>(sinograms,
                                                                                                         sums.pattern);
  cuda::check_launch("take_away");
}

}  // namespace lepus::rings
