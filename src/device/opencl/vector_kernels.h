// SPDX-License-Identifier: Apache-2.0
// Vectors and volumes in the memory of an OpenCL device.
#pragma once

#include <memory>

#include "device/opencl/context.h"
#include "device/vector_kernels.h"

namespace lepus::opencl {

// Needs a device with double precision: sums run in it.
std::unique_ptr<VectorKernels> make_vector_kernels(Context& context);

// x = argmin |x - volume|^2 / 2 + strength TV(x), as vector_kernels.h has it.
struct VariationStep {
  const float* volume;
  float strength, low, high;
  int steps;
};
void total_variation_step(const VariationStep& job, float* const dual[3], float* out, const VolumeShape& shape,
                          Queue& queue);
void gradient(const float* volume, float* const gradient[3], const VolumeShape& shape, Queue& queue);
void divergence(const float* const gradient[3], float* volume, const VolumeShape& shape, Queue& queue);

}  // namespace lepus::opencl
