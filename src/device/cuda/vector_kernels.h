// SPDX-License-Identifier: Apache-2.0
// Vectors and volumes in the memory of a card.
#pragma once

#include <memory>

#include <cuda_runtime_api.h>

#include "device/vector_kernels.h"

namespace lepus::cuda {

std::unique_ptr<VectorKernels> make_vector_kernels(int device);

// total_variation.cu
void launch_gradient(const float* volume, float* const gradient[3], const VolumeShape& shape, cudaStream_t stream);
void launch_divergence(const float* const gradient[3], float* volume, const VolumeShape& shape, cudaStream_t stream);
// out = volume + strength * divergence, within [low, high]
void launch_move_and_clamp(const float* volume, float strength, const float* const field[3], float low, float high,
                           float* out, const VolumeShape& shape, cudaStream_t stream);
// One step of the dual fast gradient method: next = ahead + rise * gradient(x), shortened to length 1, where
// ahead = now + momentum * (now - before) and x = volume + strength * divergence(ahead), within [low, high].
struct DualStep {
  const float* volume;
  const float *now[3], *before[3];  // before: not read without momentum
  float* next[3];
  float strength, rise, momentum, low, high;
  int nx, ny, nz;
};
void launch_dual_step(const DualStep& step, cudaStream_t stream);
// total_variation_pair.cu: this step and the next one, which starts from what the first leaves in its `next`. No memory
// that is written is read as well.
struct DualStepPair {
  DualStep first;
  float* next[3];
  float momentum;  // of the second one
};
void launch_dual_step_pair(const DualStepPair& pair, cudaStream_t stream);

}  // namespace lepus::cuda
