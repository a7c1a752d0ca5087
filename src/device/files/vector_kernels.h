// SPDX-License-Identifier: Apache-2.0
// Vectors of which some lie in a file, piece by piece.
#pragma once

#include <cstdint>
#include <memory>

#include "device/files/file_memory.h"
#include "device/vector_kernels.h"

namespace lepus::files {

// The host's kernels do the work.
std::unique_ptr<VectorKernels> make_vector_kernels(std::shared_ptr<FileMemory> memory, VectorKernels& host,
                                                   std::int64_t work_bytes);

// total_variation.cpp
struct TotalVariation {
  const float* volume;
  float strength, low, high;
  int steps;
  float* const* dual;  // three
  float* out;
  VolumeShape shape;
};
void total_variation_step(TotalVariation work, FileMemory& memory, std::int64_t work_bytes, Queue& queue);

}  // namespace lepus::files
