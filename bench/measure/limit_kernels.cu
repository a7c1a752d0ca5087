// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/limit_kernels.h"

#include "device/cuda/cuda_check.h"

namespace lepus::measure {
namespace {

__device__ std::uint32_t pattern_word(std::int64_t i) { return 2654435761u * (static_cast<std::uint32_t>(i) + 1u); }

__global__ void pattern_kernel(std::uint32_t* data, std::int64_t words) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step)
    data[i] = pattern_word(i);
}

__global__ void count_wrong_kernel(const std::uint32_t* data, std::int64_t words, unsigned long long* count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long wrong = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step)
    wrong += data[i] != pattern_word(i);
  if (wrong > 0) atomicAdd(count, wrong);
}

// Where the four samples of a round lie, beside the thread's own pixel.
constexpr float sample_offset = 0.75f;  // half a pixel to the centre, and a quarter off it

__global__ void sample_kernel(cudaTextureObject_t texture, float* out, int rounds) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const float u = static_cast<float>(lane % 8 + warp) + sample_offset;
  const float v = static_cast<float>(lane / 8) + sample_offset;
  float a = 0, b = 0, c = 0, d = 0;
#pragma unroll 4
  for (int i = 0; i < rounds; ++i) {
    const float w = v + static_cast<float>(i & 15);
    a += tex2D<float>(texture, u, w);
    b += tex2D<float>(texture, u + 8, w);
    c += tex2D<float>(texture, u + 16, w);
    d += tex2D<float>(texture, u + 24, w);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = (a + b) + (c + d);
}

__global__ void multiply_add_kernel(float* out, int rounds) {
  float x[device_chains];
#pragma unroll
  for (int k = 0; k < device_chains; ++k) x[k] = static_cast<float>(threadIdx.x + static_cast<unsigned>(k));
#pragma unroll 8
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int k = 0; k < device_chains; ++k) x[k] = __fmaf_rn(x[k], 0.5f, 1.0f);
  float worst = 0;
#pragma unroll
  for (int k = 0; k < device_chains; ++k) worst = fmaxf(worst, fabsf(x[k] - 2.0f));
  out[blockIdx.x * blockDim.x + threadIdx.x] = worst;
}

constexpr int stream_blocks = 1024;

}  // namespace

void launch_pattern(std::uint32_t* data, std::int64_t words, cudaStream_t stream) {
  pattern_kernel<<<stream_blocks, limit_block, 0, stream>>>(data, words);
  cuda::check_launch("pattern");
}

void launch_count_wrong(const std::uint32_t* data, std::int64_t words, unsigned long long* count, cudaStream_t stream) {
  count_wrong_kernel<<<stream_blocks, limit_block, 0, stream>>>(data, words, count);
  cuda::check_launch("comparison");
}

void launch_samples(cudaTextureObject_t texture, float* out, int blocks, int rounds, cudaStream_t stream) {
  sample_kernel<<<static_cast<unsigned>(blocks), limit_block, 0, stream>>>(texture, out, rounds);
  cuda::check_launch("texture samples");
}

double expected_sum_of_samples(int thread, int rounds) {
  const int warp = thread / 32, lane = thread % 32;
  const double u = lane % 8 + warp + 0.25, v = lane / 8 + 0.25;  // of pixel centres
  double sum = 0;
  for (int i = 0; i < rounds; ++i)
    for (int k = 0; k < samples_in_round; ++k) sum += u + 8 * k + 2 * (v + (i & 15));
  return sum;
}

void launch_multiply_adds(float* out, int blocks, int rounds, cudaStream_t stream) {
  multiply_add_kernel<<<static_cast<unsigned>(blocks), limit_block, 0, stream>>>(out, rounds);
  cuda::check_launch("multiply-adds");
}

}  // namespace lepus::measure
