// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/opencl/band_kernels.h"
#include "device/opencl/program.h"

namespace lepus::opencl {
namespace {

constexpr std::int64_t views_per_sum = 32, zinger_group = 64;
constexpr std::int64_t copy_bytes = std::int64_t{64} << 20;  // scratch for corrected sinograms, at least one of them

// As kernels/zingers.cl has it.
struct ZingerPlanes {
  cl_long width, height, row_stride, plane_stride;
};

}  // namespace

void replace_zingers(const Sinograms& s, const ZingerRules& rules, std::int64_t* counts, Queue& queue) {
  if (s.count == 0 || s.width == 0) return;
  OpenclQueue& q = opencl_queue(queue);
  Program& program = q.context().program("zingers", "");
  const std::int64_t blocks = (s.height + views_per_sum - 1) / views_per_sum;
  const std::int64_t floats = s.width * s.height;
  const std::int64_t most = std::clamp<std::int64_t>(copy_bytes / (4 * floats), 1, s.count);
  const ScratchScope scope(queue);
  auto* const sums = queue.scratch<float>(most * blocks * s.width);
  auto* const thresholds = queue.scratch<float>(most * s.width);
  auto* const corrected = queue.scratch<float>(most * floats);
  auto* const found = queue.scratch<std::int32_t>(most);
  const ZingerPlanes planes{s.width, s.height, s.row_stride, s.plane_stride};
  const std::int64_t wide = (s.width + zinger_group - 1) / zinger_group;
  const Sizes group{zinger_group, 1, 1};
  const auto call = [&](const char* kernel) { return KernelCall(q.context(), program, kernel); };
  for (std::int64_t first = 0; first < s.count; first += most) {
    const std::int64_t count = std::min(most, s.count - first);
    float* const data = s.data + first * s.plane_stride;
    queue.device().clear(found, 4 * count, queue);
    call("zinger_sums").value(rules).value(planes).memory(data).memory(sums).run(q.get(), {wide, blocks, count}, group);
    call("zinger_thresholds")
        .value(rules)
        .value(planes)
        .memory(sums)
        .memory(thresholds)
        .value(static_cast<cl_long>(blocks))
        .run(q.get(), {wide, 1, count}, group);
    call("zinger_correct")
        .value(rules)
        .value(planes)
        .memory(data)
        .memory(thresholds)
        .memory(corrected)
        .memory(found)
        .run(q.get(), {wide, s.height, count}, group);
    call("zinger_finish")
        .value(planes)
        .memory(data)
        .memory(corrected)
        .memory(found)
        .memory(counts + first)
        .run(q.get(), {wide, s.height, count}, group);
  }
}

}  // namespace lepus::opencl
