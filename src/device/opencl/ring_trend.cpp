// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "device/opencl/ring_methods.h"

namespace lepus::opencl {
namespace {

// The weights of distances 0 to radius.
std::vector<float> mask_of(const RingOptions& options) {
  std::vector<float> mask;
  for (std::int64_t k = 0; k <= options.radius; ++k)
    mask.push_back(static_cast<float>(std::exp(-static_cast<double>(k * k) / (2 * options.sigma * options.sigma))));
  return mask;
}

}  // namespace

void remove_rings_by_trend(const Planes& sinograms, const RingOptions& options, Queue& queue) {
  constexpr std::int64_t views_per_part = 12;
  const bool median = options.filter == FilterKind::median;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  Program& program = context.program("ring_trend", "");
  const std::vector<float> mask = mask_of(options);
  const ConstantBuffer weights(context, mask.data(), static_cast<std::int64_t>(mask.size() * sizeof(float)));
  const auto per_value = static_cast<cl_float>(1 / (std::sqrt(2.0) * options.sigma_value));
  const std::int64_t width = sinograms.width, height = sinograms.height;
  const std::int64_t parts = (height + views_per_part - 1) / views_per_part;
  const std::int64_t group = planes_at_once(sinograms, width * height, queue);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    const ScratchScope scope(queue);
    const Planes s = rings::part_of(sinograms, first, group);
    const PlanesArgument planes(s);
    const std::int64_t columns = s.count * width;
    auto* const rest = queue.scratch<double>(columns * parts);
    auto* const own = options.relative ? queue.scratch<double>(columns * parts) : nullptr;
    auto* const pattern = queue.scratch<float>(columns);
    const Planes smooth = median ? packed_planes(s, height, width, queue) : Planes{};
    for (int i = 0; i < options.iterations; ++i) {
      if (median) find_row_medians({.in = s, .out = smooth, .radius = options.radius, .mirror = false}, queue);
      KernelCall sums(context, program, median ? "sum_difference" : "sum_bilateral");
      sums.value(planes).memory(s.data);
      if (median)
        sums.memory(smooth.data);
      else
        sums.object(weights.get()).value(static_cast<cl_int>(options.radius)).value(per_value);
      sums.memory(rest).memory(own).run(q.get(), along_columns(width, parts, s.count), columns_group);
      KernelCall(context, program, "find_pattern")
          .value(planes)
          .memory(rest)
          .memory(own)
          .memory(pattern)
          .value(static_cast<cl_long>(parts))
          .run(q.get(), along_columns(width, 1, s.count), columns_group);
      KernelCall(context, program, "take_away")
          .value(planes)
          .memory(s.data)
          .memory(pattern)
          .value(static_cast<cl_int>(options.relative))
          .run(q.get(), along_columns(width, height, s.count), columns_group);
    }
  }
}

}  // namespace lepus::opencl
