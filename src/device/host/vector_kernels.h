// SPDX-License-Identifier: Apache-2.0
// Vectors and volumes in the host's memory, on the queue's threads.
#pragma once

#include <memory>

#include "device/vector_kernels.h"

namespace lepus::host {

std::unique_ptr<VectorKernels> make_vector_kernels();

// A sum is one of blocks of so many values, added in their order: it can be gone on with from that of whole blocks.
inline constexpr std::int64_t sum_block = 1 << 16;
double dot_after(double before, const float* x, const float* y, std::int64_t n, Queue& queue);
double sum_after(double before, const float* x, std::int64_t n, Queue& queue);

// total_variation.cpp
void gradient(const float* volume, float* const gradient[3], const VolumeShape& shape, Queue& queue);
void divergence(const float* const gradient[3], float* volume, const VolumeShape& shape, Queue& queue);
void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                  Queue& queue);
void total_variation_step(const float* volume, float strength, float low, float high, int steps, float* const dual[3],
                          float* out, const VolumeShape& shape, Queue& queue);
// Its parts. Steps [first, last), each of which makes `out` from `ahead`, the dual with momentum, and the next of both
// from it; and the volume moved along the divergence, within the bounds.
struct DualSteps {
  const float* volume;
  float strength, low, high;
  float* const* ahead;  // three; the dual itself before step 0
  float* const* dual;   // three
  float* out;
};
void dual_steps(const DualSteps& work, int first, int last, const VolumeShape& shape, Queue& queue);
void move_and_clamp(const float* volume, float strength, const float* const field[3], float low, float high, float* out,
                    const VolumeShape& shape, Queue& queue);

}  // namespace lepus::host
