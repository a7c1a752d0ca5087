// SPDX-License-Identifier: Apache-2.0
// The parts that measure_limits is made of.
#pragma once

#include <cstdint>

#include "core/memory.h"
#include "bench/measure/limits.h"

namespace lepus::measure {

// A figure of the group "machine"; error: what its check counted, of which nothing is allowed.
Figure machine_figure(const std::string& name, double seconds, double work, const std::string& unit, double error,
                      const std::string& error_of);

std::string thread_text(int threads);  // "one thread", "16 threads"

// Numbers that do not repeat, so that no compression and no lost piece goes unnoticed.
void fill_pattern(Buffer<std::uint64_t>& buffer, ThreadPool& threads);
double differing_bytes(const void* a, const void* b, std::int64_t bytes, ThreadPool& threads);

void measure_multiply_adds(Limits& limits, bool quick, ThreadPool& threads);
// Error(unsupported) where there is none.
void measure_gpu_limits(Limits& limits, int device, bool quick);
void measure_cuda_limits(Limits& limits, int device, bool quick);  // in a build that has CUDA

}  // namespace lepus::measure
