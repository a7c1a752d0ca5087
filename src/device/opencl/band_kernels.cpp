// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/band_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "device/opencl/program.h"

namespace lepus::opencl {
namespace {

constexpr std::int64_t line_group = 64;  // work-items along columns

// As kernels/*.cl have them.
struct BandArgument {
  cl_long columns, views, rows, first_row;
  cl_int type, to;
  cl_float log_i0_everywhere, clip, lowest_of_lines;
};
struct MapArgument {
  cl_double row_from, row_to, middle_column;
  cl_long columns, rows, views, first_row, made_columns, made_row0, made_rows;
  cl_int zero_beyond;
};
struct PlanesArgument {
  cl_long width, height, row_stride, plane_stride;
};

Sizes along_columns(std::int64_t columns, std::int64_t y, std::int64_t z) {
  return {(columns + line_group - 1) / line_group, y, z};
}
constexpr Sizes columns_group{line_group, 1, 1};

BandArgument argument_of(const BandOnDevice& band, const BandStaging& staging, PixelType type, float lowest) {
  return {.columns = band.columns,
          .views = band.views,
          .rows = band.rows.size(),
          .first_row = band.rows.first,
          .type = static_cast<cl_int>(type),
          .to = static_cast<cl_int>(staging.to),
          .log_i0_everywhere = staging.log_i0_everywhere,
          .clip = staging.clip,
          .lowest_of_lines = lowest};
}

PlanesArgument argument_of(const Sinograms& s) {
  return {.width = s.width, .height = s.height, .row_stride = s.row_stride, .plane_stride = s.plane_stride};
}

Sinograms part_of(const Sinograms& s, std::int64_t first, std::int64_t most) {
  Sinograms part = s;
  part.data = s.data + first * s.plane_stride;
  part.count = std::min(most, s.count - first);
  return part;
}

// Columns are sorted as keys of value and view, a power of two of them.
constexpr std::int64_t key_bytes = sizeof(cl_ulong);
std::int64_t padded_views(std::int64_t views) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(views)));
}
std::int64_t sorting_memory(const Context& context) { return context.device().local_bytes - 1024; }

}  // namespace

bool has_band_kernels(const Context& context) { return context.device().doubles; }

void to_stage(PixelType type, const void* recorded, const BandOnDevice& band, const BandStaging& staging,
              Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  KernelCall(q.context(), q.context().program("band_stages", ""), "to_stage")
      .value(argument_of(band, staging, type == PixelType::f64 ? PixelType::f32 : type, 0))
      .memory(recorded)
      .memory(band.data)
      .memory(staging.dark)
      .memory(staging.log_i0)
      .run(q.get(), along_columns(band.columns, band.rows.size(), band.views), columns_group);
}

void take_logarithm(const BandOnDevice& band, const BandStaging& staging, float lowest_of_lines, Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  KernelCall(q.context(), q.context().program("band_stages", ""), "take_logarithm")
      .value(argument_of(band, staging, PixelType::f32, lowest_of_lines))
      .memory(band.data)
      .memory(staging.log_i0)
      .run(q.get(), along_columns(band.columns, band.rows.size(), band.views), columns_group);
}

void take_views(const BandOnDevice& band, RowBand rows, const std::int64_t* views, std::int64_t count, float* out,
                Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  KernelCall(q.context(), q.context().program("band_stages", ""), "take_views")
      .value(argument_of(band, {}, PixelType::f32, 0))
      .memory(band.data)
      .memory(views)
      .memory(out)
      .value(static_cast<cl_long>(rows.first - band.rows.first))
      .value(static_cast<cl_long>(rows.size()))
      .run(q.get(), along_columns(band.columns, rows.size(), count), columns_group);
}

void map_views(const BandOnDevice& band, const RowMap& map, RowBand rows, std::int64_t columns,
               const std::int64_t* views, std::int64_t count, float* out, Queue& queue) {
  OpenclQueue& q = opencl_queue(queue);
  const MapArgument argument{.row_from = map.row_from,
                             .row_to = map.row_to,
                             .middle_column = map.middle_column,
                             .columns = map.columns,
                             .rows = map.rows,
                             .views = band.views,
                             .first_row = band.rows.first,
                             .made_columns = columns,
                             .made_row0 = rows.first,
                             .made_rows = rows.size(),
                             .zero_beyond = map.zero_beyond};
  KernelCall(q.context(), q.context().program("map_views", ""), "map_views")
      .value(argument)
      .memory(band.data)
      .memory(views)
      .memory(map.stretch)
      .memory(map.slope)
      .memory(map.column_at)
      .memory(out)
      .run(q.get(), along_columns(columns, rows.size(), count), columns_group);
}

void replace_hot_pixels(const Sinograms& s, const HotPixelRules& rules, int iterations, std::int64_t* counts,
                        Queue& queue) {
  constexpr std::int64_t views_per_sum = 32;
  if (s.count == 0 || s.width == 0) return;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  Program& program = context.program("hot_pixels", "");
  const ConstantBuffer constants(context, &rules, sizeof rules);
  const PlanesArgument planes = argument_of(s);
  const std::int64_t blocks = (s.height + views_per_sum - 1) / views_per_sum, columns = s.count * s.width;
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
    if (rules.least_views > 0)
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

void remove_stripes_by_trend(const Sinograms& s, const TrendRules& rules, Queue& queue) {
  constexpr std::int64_t views_per_part = 12;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  Program& program = context.program("rings", "");
  std::vector<float> mask;
  for (std::int64_t k = 0; k <= rules.radius; ++k)
    mask.push_back(static_cast<float>(std::exp(-static_cast<double>(k * k) / (2 * rules.sigma * rules.sigma))));
  const ConstantBuffer weights(context, mask.data(), static_cast<std::int64_t>(mask.size() * sizeof(float)));
  const auto per_value = static_cast<cl_float>(1 / (std::sqrt(2.0) * rules.sigma_value));
  const std::int64_t parts = (s.height + views_per_part - 1) / views_per_part, columns = s.count * s.width;
  const ScratchScope scope(queue);
  auto* const rest = queue.scratch<double>(columns * parts);
  auto* const own = rules.relative ? queue.scratch<double>(columns * parts) : nullptr;
  auto* const pattern = queue.scratch<float>(columns);
  const PlanesArgument planes = argument_of(s);
  for (int i = 0; i < rules.iterations; ++i) {
    {
      KernelCall sums(context, program, rules.median ? "sum_median" : "sum_bilateral");
      sums.value(planes).memory(s.data);
      if (!rules.median) sums.object(weights.get());
      sums.value(static_cast<cl_int>(rules.radius));
      if (!rules.median) sums.value(per_value);
      sums.memory(rest).memory(own).run(q.get(), along_columns(s.width, parts, s.count), columns_group);
    }
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
        .value(static_cast<cl_int>(rules.relative))
        .run(q.get(), along_columns(s.width, s.height, s.count), columns_group);
  }
}

bool fits_local_memory(const Context& context, std::int64_t views) {
  return padded_views(views) * key_bytes <= sorting_memory(context);
}

bool remove_stripes_by_sorting(const Sinograms& s, std::int64_t size, int iterations, Queue& queue) {
  constexpr std::int64_t most_columns = 8, keys_together = 4096, most_floats = std::int64_t{1} << 24;
  OpenclQueue& q = opencl_queue(queue);
  Context& context = q.context();
  if (!fits_local_memory(context, s.height)) return false;
  const std::int64_t padded = padded_views(s.height), local = sorting_memory(context);
  std::int64_t columns = most_columns;
  while (columns > 1 && (columns * padded > keys_together || columns * padded * key_bytes > local)) columns /= 2;
  Program& program = context.program("rings", "");
  const std::int64_t items = std::min<std::int64_t>(context.device().gpu ? 256 : 64, context.device().largest_group);
  const std::int64_t at_once = std::clamp<std::int64_t>(most_floats / (s.width * s.height), 1, s.count);
  for (std::int64_t first = 0; first < s.count; first += at_once) {
    const Sinograms part = part_of(s, first, at_once);
    const PlanesArgument planes = argument_of(part);
    const ScratchScope scope(queue);
    auto* const sorted = queue.scratch<float>(part.count * s.width * s.height);
    auto* const views = queue.scratch<std::uint32_t>(part.count * s.width * s.height);
    for (int i = 0; i < iterations; ++i) {
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
          .value(static_cast<cl_int>(size / 2))
          .run(q.get(), along_columns(s.width, s.height, part.count), columns_group);
    }
  }
  return true;
}

}  // namespace lepus::opencl
