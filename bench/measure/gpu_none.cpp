// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/gpu.h"

#include "bench/measure/limits_parts.h"
#include <lepus/error.h>

namespace lepus::measure {
namespace {

Error built_without_cuda() {
  return Error(
      ErrorKind::unsupported,
      {.what = "no GPU can be measured", .where = {}, .why = why_no_gpu(0), .hint = "build lepus where nvcc is found"});
}

}  // namespace

std::string why_no_gpu(int /*device*/) { return "this lepus was built without CUDA"; }

GpuDescription describe_gpu(int /*device*/) { throw built_without_cuda(); }

void measure_gpu_limits(Limits& /*limits*/, int /*device*/, bool /*quick*/) { throw built_without_cuda(); }

}  // namespace lepus::measure
