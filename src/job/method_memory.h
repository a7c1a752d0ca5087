// SPDX-License-Identifier: Apache-2.0
// What an iterative method takes of the memory that its vectors lie in: for its run and for the plan before it.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "iterative/method.h"

namespace lepus {

// Of all vectors, at most.
std::int64_t method_bytes(const MethodKind& kind, std::int64_t values, std::int64_t voxels);
// Throws Error(memory) where the host has less.
void require_host_memory(std::int64_t bytes, const Compute& compute);
// What is left beside them for what could be computed again (Problem::spare_bytes).
std::int64_t spare_bytes(std::int64_t method_bytes, const Device& home, const Compute& compute);

}  // namespace lepus
