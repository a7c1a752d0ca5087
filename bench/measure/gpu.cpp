// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/gpu.h"

#include "bench/measure/gpu_part.h"
#include "bench/measure/limits_parts.h"

namespace lepus::measure {

std::string why_no_gpu(int device) {
  const std::vector<GpuMeasure> all = gpu_measure();
  return all.empty() ? "this build of lepus has no CUDA" : all.front().why_not(device);
}

GpuDescription describe_gpu(int device) { return gpu_part(gpu_measure(), "cuda").describe(device); }

void measure_gpu_limits(Limits& limits, int device, bool quick) {
  gpu_part(gpu_measure(), "cuda").limits(limits, device, quick);
}

}  // namespace lepus::measure
