// SPDX-License-Identifier: Apache-2.0
// The kernels that a GPU's limits are measured with. Each leaves a result that is known.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace lepus::measure {

void launch_pattern(std::uint32_t* data, std::int64_t words, cudaStream_t stream);  // word i: 2654435761 (i + 1)
// Adds to *count how many words are not those of the pattern.
void launch_count_wrong(const std::uint32_t* data, std::int64_t words, unsigned long long* count, cudaStream_t stream);

inline constexpr int limit_block = 256;  // threads

// `rounds` times four bilinear samples of a texture that holds x + 2 y at pixel (x, y), 64 x 64, in every thread; its
// sum goes to out[thread]. The lanes of a warp cover 8 x 4 neighbouring pixels, a quarter of a pixel off the centres.
inline constexpr int texture_edge = 64, samples_in_round = 4;
void launch_samples(cudaTextureObject_t texture, float* out, int blocks, int rounds, cudaStream_t stream);
double expected_sum_of_samples(int thread, int rounds);  // of that thread of its block; exact in fp32

// `rounds` times eight multiply-adds in every thread; out[thread]: how far a chain is from 2.
inline constexpr int device_chains = 8;
void launch_multiply_adds(float* out, int blocks, int rounds, cudaStream_t stream);

}  // namespace lepus::measure
