// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/opencl/band_kernels.h"

namespace lepus::opencl {
namespace {

constexpr std::int64_t copy_bytes = std::int64_t{64} << 20;  // scratch for corrected sinograms, at least one of them

// pixels::ZingerRules as kernels/zingers.cl has them.
struct ZingerArgument {
  cl_double limit;
  cl_int neighbours, radius, along;
  cl_float sign;
};

}  // namespace

void replace_zingers(const Planes& s, const pixels::ZingerRules& given, std::int64_t* counts, Queue& queue) {
  if (s.count == 0 || s.width == 0) return;
  OpenclQueue& q = opencl_queue(queue);
  Program& program = q.context().program("zingers", "");
  const ZingerArgument rules{given.limit, static_cast<cl_int>(given.neighbours), given.radius, given.along, given.sign};
  const std::int64_t blocks = (s.height + pixels::views_per_sum - 1) / pixels::views_per_sum;
  const std::int64_t floats = s.width * s.height;
  const std::int64_t most = std::clamp<std::int64_t>(copy_bytes / (4 * floats), 1, s.count);
  const ScratchScope scope(queue);
  auto* const sums = queue.scratch<float>(most * blocks * s.width);
  auto* const thresholds = queue.scratch<float>(most * s.width);
  auto* const corrected = queue.scratch<float>(most * floats);
  auto* const found = queue.scratch<std::int32_t>(most);
  const PlanesArgument planes(s);
  const auto call = [&](const char* kernel) { return KernelCall(q.context(), program, kernel); };
  for (std::int64_t first = 0; first < s.count; first += most) {
    const std::int64_t count = std::min(most, s.count - first);
    float* const data = s.data + first * s.plane_stride;
    queue.device().clear(found, 4 * count, queue);
    call("zinger_sums")
        .value(rules)
        .value(planes)
        .memory(data)
        .memory(sums)
        .run(q.get(), along_columns(s.width, blocks, count), columns_group);
    call("zinger_thresholds")
        .value(rules)
        .value(planes)
        .memory(sums)
        .memory(thresholds)
        .value(static_cast<cl_long>(blocks))
        .run(q.get(), along_columns(s.width, 1, count), columns_group);
    call("zinger_correct")
        .value(rules)
        .value(planes)
        .memory(data)
        .memory(thresholds)
        .memory(corrected)
        .memory(found)
        .run(q.get(), along_columns(s.width, s.height, count), columns_group);
    call("zinger_finish")
        .value(planes)
        .memory(data)
        .memory(corrected)
        .memory(found)
        .memory(counts + first)
        .run(q.get(), along_columns(s.width, s.height, count), columns_group);
  }
}

}  // namespace lepus::opencl
