// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "device/opencl/band_kernels.h"

namespace lepus::opencl {
namespace {

// Columns are sorted as keys of value and view, a power of two of them.
constexpr std::int64_t key_bytes = sizeof(cl_ulong);
std::int64_t padded_views(std::int64_t views) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(views)));
}
std::int64_t sorting_memory(const Context& context) { return context.device().local_bytes - 1024; }

}  // namespace

bool has_trend(const RingOptions& options) {
  constexpr std::int64_t largest_median_radius = 64;  // its mask is searched value by value
  return options.filter == FilterKind::bilateral ||
         (options.filter == FilterKind::median && options.radius <= largest_median_radius);
}

void remove_rings_by_trend(const Planes& s, const RingOptions& options, Queue& queue) {
  constexpr std::int64_t views_per_part = 12;
  const bool median = options.filter == FilterKind::median;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  Program& program = context.program("rings", "");
  std::vector<float> mask;
  for (std::int64_t k = 0; k <= options.radius; ++k)
    mask.push_back(static_cast<float>(std::exp(-static_cast<double>(k * k) / (2 * options.sigma * options.sigma))));
  const ConstantBuffer weights(context, mask.data(), static_cast<std::int64_t>(mask.size() * sizeof(float)));
  const auto per_value = static_cast<cl_float>(1 / (std::sqrt(2.0) * options.sigma_value));
  const std::int64_t parts = (s.height + views_per_part - 1) / views_per_part, columns = s.count * s.width;
  const ScratchScope scope(queue);
  auto* const rest = queue.scratch<double>(columns * parts);
  auto* const own = options.relative ? queue.scratch<double>(columns * parts) : nullptr;
  auto* const pattern = queue.scratch<float>(columns);
  const PlanesArgument planes(s);
  for (int i = 0; i < options.iterations; ++i) {
    KernelCall sums(context, program, median ? "sum_median" : "sum_bilateral");
    sums.value(planes).memory(s.data);
    if (!median) sums.object(weights.get());
    sums.value(static_cast<cl_int>(options.radius));
    if (!median) sums.value(per_value);
    sums.memory(rest).memory(own).run(q.get(), along_columns(s.width, parts, s.count), columns_group);
    KernelCall(context, program, "find_pattern")
        .value(planes)
        .memory(rest)
        .memory(own)
        .memory(pattern)
        .value(static_cast<cl_long>(parts))
        .run(q.get(), along_columns(s.width, 1, s.count), columns_group);
    KernelCall(context, program, "take_away")
        .value(planes)
        .memory(s.data)
        .memory(pattern)
        .value(static_cast<cl_int>(options.relative))
        .run(q.get(), along_columns(s.width, s.height, s.count), columns_group);
  }
}

bool sorts_columns_of(const Context& context, std::int64_t views) {
  return padded_views(views) * key_bytes <= sorting_memory(context);
}

void remove_rings_by_sorting(const Planes& s, const RingOptions& options, Queue& queue) {
  constexpr std::int64_t maximum_columns = 8, keys_together = 4096, maximum_floats = std::int64_t{1} << 24;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  const std::int64_t padded = padded_views(s.height), local = sorting_memory(context);
  std::int64_t columns = maximum_columns;
  while (columns > 1 && (columns * padded > keys_together || columns * padded * key_bytes > local)) columns /= 2;
  Program& program = context.program("rings", "");
  const std::int64_t items = std::min<std::int64_t>(context.device().gpu ? 256 : 64, context.device().largest_group);
  const std::int64_t at_once = std::clamp<std::int64_t>(maximum_floats / (s.width * s.height), 1, s.count);
  for (std::int64_t first = 0; first < s.count; first += at_once) {
    Planes part = s;
    part.data = s.row(first, 0);
    part.count = std::min(at_once, s.count - first);
    const PlanesArgument planes(part);
    const ScratchScope scope(queue);
    auto* const sorted = queue.scratch<float>(part.count * s.width * s.height);
    auto* const views = queue.scratch<std::uint32_t>(part.count * s.width * s.height);
    for (int i = 0; i < options.iterations; ++i) {
      KernelCall(context, program, "sort_columns")
          .value(planes)
          .memory(part.data)
          .memory(sorted)
          .memory(views)
          .value(static_cast<cl_int>(padded))
          .value(static_cast<cl_int>(columns))
          .local(columns * padded * key_bytes)
          .run(q.get(), {(s.width + columns - 1) / columns, part.count, 1}, {items, 1, 1});
      KernelCall(context, program, "put_medians_back")
          .value(planes)
          .memory(sorted)
          .memory(views)
          .memory(part.data)
          .value(static_cast<cl_int>(options.small_size / 2))
          .run(q.get(), along_columns(s.width, s.height, part.count), columns_group);
    }
  }
}

}  // namespace lepus::opencl
