// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "device/opencl/band_kernels.h"

namespace lepus::opencl {
namespace {

// pixels::HotRules as kernels/hot_pixels.cl has them.
struct Rules {
  cl_double one_scale = 1, two_scale = 1, tolerance = 0, minimum_spread = 0, explained = 1;
  cl_long minimum_views = 0;
  cl_float one[pixels::largest_window] = {}, two[pixels::largest_window] = {};
  cl_float out_of_both = 1, out_of_one = 1;
  cl_int window = 0, gap = 0, classic = 0, three_deviations = 1, below = 0, nearest = 1, furthest = 1;
};

Rules rules_of(const pixels::HotRules& rules) {
  Rules made;
  made.one_scale = rules.weights.one_scale;
  made.two_scale = rules.weights.two_scale;
  made.tolerance = rules.tolerance;
  made.minimum_spread = rules.minimum_spread;
  made.explained = rules.explained;
  made.minimum_views = rules.minimum_views;
  std::copy(std::begin(rules.weights.one), std::end(rules.weights.one), made.one);
  std::copy(std::begin(rules.weights.two), std::end(rules.weights.two), made.two);
  made.out_of_both = rules.out_of_both;
  made.out_of_one = rules.out_of_one;
  made.window = rules.weights.window;
  made.gap = rules.weights.gap;
  made.classic = rules.classic;
  made.three_deviations = rules.three_deviations;
  made.below = rules.below;
  made.nearest = rules.nearest;
  made.furthest = rules.furthest;
  return made;
}

}  // namespace

void replace_hot_pixels(const Planes& s, const pixels::HotRules& rules, int iterations, std::int64_t* counts,
                        Queue& queue) {
  if (s.count == 0 || s.width == 0) return;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  Program& program =
      context.program("hot_pixels", context.device().rounds_division ? "-cl-fp32-correctly-rounded-divide-sqrt" : "");
  const Rules arguments = rules_of(rules);
  const ConstantBuffer constants(context, &arguments, sizeof arguments);
  const PlanesArgument planes(s);
  const std::int64_t blocks = (s.height + pixels::views_per_sum - 1) / pixels::views_per_sum,
                     columns = s.count * s.width;
  const ScratchScope scope(queue);
  auto* const sums = queue.scratch<float>(blocks * 3 * columns);
  auto* const deviations = queue.scratch<float>(3 * columns);
  auto* const rows = queue.scratch<double>(2 * s.count);
  auto* const found = queue.scratch<unsigned char>(columns);
  auto* const hot = queue.scratch<unsigned char>(columns);
  auto* const ever = queue.scratch<unsigned char>(columns);
  auto* const views = queue.scratch<std::int32_t>(columns);
  auto* changed = queue.scratch<std::int32_t>(s.count);
  auto* changing = queue.scratch<std::int32_t>(s.count);
  Device& device = queue.device();
  const auto flags = s.count * static_cast<std::int64_t>(sizeof(std::int32_t));
  const std::vector<std::int32_t> all(static_cast<std::size_t>(s.count), 1);
  device.copy(changed, all.data(), flags, queue);
  device.clear(ever, columns, queue);
  const auto call = [&](const char* kernel) { return KernelCall(context, program, kernel); };
  for (int iteration = 0; iteration < iterations; ++iteration) {
    device.clear(changing, flags, queue);
    const Sizes once = along_columns(s.width, 1, s.count), per_block = along_columns(s.width, blocks, s.count);
    call("hot_sums")
        .object(constants.get())
        .value(planes)
        .memory(s.data)
        .memory(changed)
        .memory(sums)
        .run(q.get(), per_block, columns_group);
    call("hot_deviations")
        .object(constants.get())
        .value(planes)
        .memory(changed)
        .memory(sums)
        .memory(deviations)
        .value(static_cast<cl_long>(blocks))
        .run(q.get(), once, columns_group);
    if (rules.classic)
      call("hot_classic_rows").value(planes).memory(deviations).memory(rows).run(q.get(), {s.count, 1, 1}, {1, 1, 1});
    call("hot_judge")
        .object(constants.get())
        .value(planes)
        .memory(changed)
        .memory(deviations)
        .memory(rows)
        .memory(found)
        .memory(views)
        .run(q.get(), once, columns_group);
    if (rules.minimum_views > 0)
      call("hot_views")
          .object(constants.get())
          .value(planes)
          .memory(s.data)
          .memory(changed)
          .memory(found)
          .memory(views)
          .run(q.get(), per_block, columns_group);
    call("hot_settle")
        .object(constants.get())
        .value(planes)
        .memory(changed)
        .memory(found)
        .memory(views)
        .memory(hot)
        .memory(ever)
        .memory(changing)
        .run(q.get(), once, columns_group);
    call("hot_replace")
        .object(constants.get())
        .value(planes)
        .memory(s.data)
        .memory(hot)
        .run(q.get(), along_columns(s.width, s.height, s.count), columns_group);
    std::swap(changed, changing);
  }
  call("hot_count").value(planes).memory(ever).memory(counts).run(q.get(), {s.count, 1, 1}, {1, 1, 1});
}

}  // namespace lepus::opencl
