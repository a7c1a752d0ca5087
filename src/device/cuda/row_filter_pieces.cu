// SPDX-License-Identifier: Apache-2.0
// The row filter in pieces around cuFFT, for rows of any length, and the repair of pixels that are not finite.
#include "device/cuda/cuda_check.h"
#include "device/cuda/row_filter_pixels.cuh"

namespace lepus::cuda {
namespace {

constexpr int threads = 256;

// A block per row.
__global__ void prepare(const __grid_constant__ RowJob job, std::int64_t view_index, std::int64_t first_row, int length,
                        float* lines) {
  __shared__ RowContext context;
  __shared__ RayLine middle;
  __shared__ ViewWeight view;
  const std::int64_t view_number = job.batch.first_view + view_index * job.batch.view_step;
  const std::int64_t row = first_row + blockIdx.x;
  if (threadIdx.x == 0) {
    view = job.views[view_number];
    context = prepare_row(job, view, view_index, row);
    middle = ray_line(view, job.shape.middle_column, job.shape.middle_row);
  }
  __syncthreads();
  float* line = lines + blockIdx.x * static_cast<std::int64_t>(length + 2);
  for (int place = threadIdx.x; place < length; place += threads)
    line[place] = continued_pixel(job, view, middle, context, place, length);
  if (!(job.saturation < INFINITY) || row < job.batch.counted_row0 || row >= job.batch.counted_row1) return;
  unsigned saturated = 0;
  for (int column = threadIdx.x; column < job.columns; column += threads)
    with_pixel(job.type, [&](auto pixel) {
      saturated += grey<pixel_of<decltype(pixel)>>(job, context.first_pixel + column) >= job.saturation;
    });
  if (saturated > 0) atomicAdd(&job.bad[view_number].saturated, saturated);
}

__global__ void respond(const float* response, int frequencies, Complex* spectra) {
  Complex* spectrum = spectra + blockIdx.x * static_cast<std::int64_t>(frequencies);
  for (int k = threadIdx.x; k < frequencies; k += threads) spectrum[k] = response[k] * spectrum[k];
}

__global__ void keep(const float* lines, int length, int wide, float* out, std::int64_t out_row) {
  const float* line = lines + blockIdx.x * static_cast<std::int64_t>(length + 2);
  for (int k = threadIdx.x; k < wide; k += threads) out[blockIdx.x * out_row + k] = line[k];
}

// A block per view.
__global__ void fill_shares(const __grid_constant__ RowJob job, float* shares) {
  __shared__ ViewWeight view;
  __shared__ RayLine middle;
  if (threadIdx.x == 0) {
    view = job.views[blockIdx.x];
    middle = ray_line(view, job.shape.middle_column, job.shape.middle_row);
  }
  __syncthreads();
  for (int column = threadIdx.x; column < job.columns; column += threads)
    shares[blockIdx.x * static_cast<std::int64_t>(job.columns) + column] =
        redundancy_of(job, view, middle, static_cast<float>(column) - static_cast<float>(job.shape.middle_column));
}

// A warp looks at a row; where something is wrong its first lane walks along it.
template <class Pixel>
__global__ void repair(const __grid_constant__ RowJob job) {
  const std::int64_t rows = job.batch.row1 - job.batch.row0;
  const std::int64_t index = (blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x) / 32;
  if (index >= rows * job.batch.views) return;
  const std::int64_t view_index = index / rows, row = job.batch.row0 + index % rows;
  Pixel* line = static_cast<Pixel*>(job.batch.pixels) + view_index * job.batch.view_pixels + index % rows * job.columns;
  const auto good = [&](int i) { return isfinite(static_cast<float>(line[i])); };
  unsigned wrong = 0;
  for (int i = threadIdx.x % 32; i < job.columns; i += 32) wrong += !good(i);
  for (int distance = 16; distance > 0; distance /= 2) wrong += __shfl_down_sync(0xFFFFFFFFU, wrong, distance);
  if (threadIdx.x % 32 != 0 || wrong == 0) return;
  if (row >= job.batch.counted_row0 && row < job.batch.counted_row1)
    atomicAdd(&job.bad[job.batch.first_view + view_index * job.batch.view_step].not_finite, wrong);
  int right = 0;
  for (int i = 0; i < job.columns; ++i) {
    if (good(i)) continue;
    if (right <= i) right = i + 1;
    while (right < job.columns && !good(right)) ++right;
    const float before = i > 0 ? static_cast<float>(line[i - 1]) : 0.0F;
    const float after = right < job.columns ? static_cast<float>(line[right]) : 0.0F;
    const float value = i > 0 && right < job.columns ? 0.5F * (before + after) : i > 0 ? before : after;
    line[i] = static_cast<Pixel>(value);
  }
}

}  // namespace

void launch_prepare(const RowJob& job, std::int64_t view, std::int64_t row0, std::int64_t row1, std::int64_t length,
                    float* lines, cudaStream_t stream) {
  prepare<<<static_cast<unsigned>(row1 - row0), threads, 0, stream>>>(job, view, row0, static_cast<int>(length), lines);
  check_launch("line integrals");
}

void launch_respond(const float* response, std::int64_t length, std::int64_t rows, Complex* spectra,
                    cudaStream_t stream) {
  respond<<<static_cast<unsigned>(rows), threads, 0, stream>>>(response, static_cast<int>(length / 2 + 1), spectra);
  check_launch("ramp filter");
}

void launch_keep(const RowJob& job, std::int64_t view, std::int64_t row0, std::int64_t row1, std::int64_t length,
                 const float* lines, cudaStream_t stream) {
  float* out = job.batch.out + view * job.batch.out_view + (row0 - job.batch.row0) * job.batch.out_row;
  keep<<<static_cast<unsigned>(row1 - row0), threads, 0, stream>>>(lines, static_cast<int>(length), job.wide, out,
                                                                   job.batch.out_row);
  check_launch("filtered rows");
}

void launch_shares(const RowJob& job, std::int64_t views, float* shares, cudaStream_t stream) {
  fill_shares<<<static_cast<unsigned>(views), threads, 0, stream>>>(job, shares);
  check_launch("weights of the views");
}

void launch_repair(const RowJob& job, cudaStream_t stream) {
  const std::int64_t warps = (job.batch.row1 - job.batch.row0) * job.batch.views;
  const auto blocks = static_cast<unsigned>((32 * warps + threads - 1) / threads);
  if (job.type == PixelType::f32) repair<float><<<blocks, threads, 0, stream>>>(job);
  if (job.type == PixelType::f64) repair<double><<<blocks, threads, 0, stream>>>(job);
  check_launch("search for pixels that are not numbers");
}

}  // namespace lepus::cuda
