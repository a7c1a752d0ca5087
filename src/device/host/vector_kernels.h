// SPDX-License-Identifier: Apache-2.0
// Vectors and volumes in the host's memory, on the queue's threads.
#pragma once

#include <memory>

#include "device/vector_kernels.h"

namespace lepus::host {

std::unique_ptr<VectorKernels> make_vector_kernels();

// total_variation.cpp
void gradient(const float* volume, float* const gradient[3], const VolumeShape& shape, Queue& queue);
void divergence(const float* const gradient[3], float* volume, const VolumeShape& shape, Queue& queue);
void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                  Queue& queue);
void total_variation_step(const float* volume, float strength, float low, float high, int steps, float* const dual[3],
                          float* out, const VolumeShape& shape, Queue& queue);

}  // namespace lepus::host
