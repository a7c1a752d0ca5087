// SPDX-License-Identifier: Apache-2.0
#include "run/device_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/format.h"
#include "core/memory.h"
#include "run/sizes.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Enough views that the volume, which every wedge touches once, costs little beside them.
constexpr std::int64_t usual_wedge = 64;
// What a data-centre card of 2024 does, per second; only ratios matter here.
constexpr double link_bytes = 5.5e10, filtered_pixels = 1.1e11, memory_rate = 4e12;
constexpr double launch_seconds = 1.3e-4;                       // of sums over a slab: start, tables, the last blocks
constexpr std::int64_t usual_landing = std::int64_t{32} << 20;  // bytes

RowBand together(RowBand a, RowBand b) {
  if (a.size() == 0 || b.size() == 0) return a.size() == 0 ? b : a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

class DevicePlanner {
public:
  DevicePlanner(const DevicePlanRequest& request, const BandTable& bands) : request_(request), bands_(bands) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(bands.views()));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t z = 0; z < request.grid.nz; z += slab_alignment)
      rows_of_groups_.push_back(rows_for(bands, order, 0, bands.views(),
                                         {z, std::min(request.grid.nz, z + slab_alignment)}, request.detector_rows));
  }

  DevicePlan best() const {
    std::optional<DevicePlan> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), least_on_host = least;
    for (std::int64_t wedge = first_wedge(); wedge > 0 && !best; wedge = smaller_wedge(wedge))
      for (std::int64_t slices = rounded_up(request_.grid.nz, slab_alignment); slices > 0; slices = fewer(slices))
        for (const auto& [resident, sizes] : variants(slices)) {
          const DevicePlan plan = make(resident, wedge, sizes);
          least = std::min(least, plan.memory_bytes());
          least_on_host = std::min(least_on_host, plan.staging_bytes);
          if (plan.memory_bytes() > request_.memory_bytes || plan.staging_bytes > request_.host_bytes) continue;
          if (!best || plan.seconds < best->seconds) best = plan;
        }
    if (best) return *best;
    const bool host = least_on_host > request_.host_bytes;
    throw Error(ErrorKind::memory,
                {.what = format("the reconstruction does not fit the memory {}", host ? "limit" : "of the device"),
                 .where = format("volume of {}x{}x{}", request_.grid.nx, request_.grid.ny, request_.grid.nz),
                 .why = host ? format("at least {} are needed on the host for frames on their way, {} are left",
                                      format_bytes(least_on_host), format_bytes(request_.host_bytes))
                             : format("at least {} are needed, {} are allowed", format_bytes(least),
                                      format_bytes(request_.memory_bytes)),
                 .hint = format("allow more with {}, ask for a smaller volume, or use --backend cpu",
                                host ? "--memory" : "--device-memory")});
  }

private:
  std::int64_t first_wedge() const {
    const std::int64_t views = rounded_up(bands_.views(), request_.view_block);
    return std::min(views, rounded_up(usual_wedge, request_.view_block));
  }
  std::int64_t smaller_wedge(std::int64_t wedge) const {
    return wedge <= request_.view_block ? 0 : rounded_up(wedge / 2, request_.view_block);
  }
  static std::int64_t fewer(std::int64_t slices) {
    return slices == slab_alignment ? 0 : rounded_up(slices / 2, slab_alignment);
  }

  // Views that stay or pass by; slabs of one size, or smaller ones towards the end.
  static std::vector<std::pair<bool, SlabSizes>> variants(std::int64_t slices) {
    std::vector<std::pair<bool, SlabSizes>> all{{true, {slices, slices, 1}}, {false, {slices, slices, 1}}};
    const std::int64_t smaller = rounded_up(std::max(slices / 8, 2 * slab_alignment), slab_alignment);
    for (const double part : {0.4, 0.5, 0.6, 0.75})
      if (smaller < slices)
        for (const bool resident : {true, false}) all.push_back({resident, {slices, smaller, part}});
    return all;
  }

  DevicePlan make(bool resident, std::int64_t wedge, SlabSizes sizes) const {
    DevicePlan plan;
    plan.resident = resident;
    plan.sizes = sizes;
    plan.slabs = expected_slabs(request_.grid.nz, sizes, request_.devices);
    const std::int64_t slices = sizes.largest;
    plan.slab_slices = slices;
    const std::int64_t workers = request_.workers_on_card, copies = resident ? 1 : workers;
    plan.slab_buffers = plan.slabs.size() > 1 ? 2 : 1;
    plan.wedge_views = wedge;
    plan.held_views = resident ? rounded_up(bands_.views(), request_.view_block) : wedge;
    plan.held_rows = std::max<std::int64_t>(1, resident ? rows({0, request_.grid.nz}) : most_rows(plan));
    plan.store_bytes = copies * plan.held_views * plan.held_rows * request_.wide_columns * request_.texel_bytes;
    // Frames on their way up (two buffers) and filtered rows before they become texels.
    plan.wedge_bytes =
        copies * wedge * plan.held_rows *
        (2 * request_.recorded_columns * request_.frame_pixel_bytes + request_.wide_columns * float_bytes);
    const std::int64_t row_bytes = request_.recorded_columns * request_.frame_pixel_bytes;
    const std::int64_t slice_bytes = request_.grid.nx * request_.grid.ny * float_bytes;
    plan.landing_slices = std::clamp<std::int64_t>(usual_landing / slice_bytes, 1, slices);
    plan.staging_bytes =
        std::int64_t{2} * (resident ? request_.cards : request_.devices) * wedge * plan.held_rows * row_bytes +
        std::int64_t{2} * request_.devices * plan.slab_buffers * plan.landing_slices * slice_bytes;
    std::int64_t rows_sent = resident ? plan.held_rows * request_.cards : 0;  // each card holds all views
    if (!resident)
      for (const SlabRange slab : plan.slabs) rows_sent += rows(slab);
    plan.sent_bytes = bands_.views() * rows_sent * row_bytes;
    plan.slabs_bytes = request_.grid.nx * request_.grid.ny * std::min(slices, request_.grid.nz) * float_bytes *
                       plan.slab_buffers * workers;
    plan.fixed_bytes = copies * request_.fixed_bytes;
    plan.memory_limit = request_.memory_bytes;
    plan.seconds = seconds(plan);
    return plan;
  }

  // The way of the slabs, step by step: wedges come up one after the other, are filtered and added to the slabs that
  // are being summed (one per device; later ones, where all views stay, are summed from all views at once); a summed
  // slab comes down while others are summed, and each device has two. By bands, rows that no slab has needed before
  // come up for all views before any is filtered. Devices on one card share its link and its processors.
  double seconds(const DevicePlan& plan) const {
    const double cards = request_.cards, devices = request_.devices;
    const double up_bytes = std::min(link_bytes, request_.source_bytes);
    const double slice_bytes = static_cast<double>(request_.grid.nx * request_.grid.ny * float_bytes);
    const double slice_sum = request_.updates / static_cast<double>(request_.grid.nz) / request_.updates_per_second;
    const auto row_pixels = static_cast<double>(bands_.views() * request_.recorded_columns);  // in all views
    const auto seconds_up = [&](double rows_up) {
      return row_pixels * rows_up * static_cast<double>(request_.frame_pixel_bytes) / up_bytes;
    };
    double up = 0, summed = 0, down = 0;
    std::vector<double> ends;  // when each slab has come down
    bool held = false;
    for (std::size_t slab = 0; slab < plan.slabs.size();) {
      const std::size_t first = slab;
      double slices = 0, rows_filtered = 0;
      for (; slab < plan.slabs.size() && slab < first + static_cast<std::size_t>(devices); ++slab) {
        slices += static_cast<double>(plan.slabs[slab].z1 - plan.slabs[slab].z0);
        if (!plan.resident) rows_filtered += static_cast<double>(rows(plan.slabs[slab]));
      }
      const double new_rows =
          static_cast<double>(rows({0, plan.slabs[slab - 1].z1}) - rows({0, plan.slabs[first].z0})) * cards;
      if (plan.resident)
        rows_filtered = request_.by_bands ? new_rows : held ? 0 : static_cast<double>(plan.held_rows) * cards;
      if (ends.size() >= 2 * static_cast<std::size_t>(devices))
        summed = std::max(summed, ends[first - 2 * static_cast<std::size_t>(devices)]);
      const auto count = static_cast<double>(slab - first);
      const double touch = 2 * slices * slice_bytes / memory_rate + count * launch_seconds;
      const std::int64_t wedges =
          plan.resident && (held || request_.by_bands) ? 1 : (bands_.views() + plan.wedge_views - 1) / plan.wedge_views;
      const auto share = 1 / static_cast<double>(wedges);
      if (request_.by_bands) up += seconds_up(new_rows);
      for (std::int64_t wedge = 0; wedge < wedges; ++wedge) {
        if (!request_.by_bands) up += share * seconds_up(rows_filtered);
        summed = std::max(summed, up) +
                 (share * (row_pixels * rows_filtered / filtered_pixels + slices * slice_sum) + touch) / cards;
      }
      held = plan.resident;
      for (std::size_t i = first; i < slab; ++i) {
        down = std::max(down, summed) +
               static_cast<double>(plan.slabs[i].z1 - plan.slabs[i].z0) * slice_bytes / link_bytes / cards;
        ends.push_back(down);
      }
    }
    return down;
  }

  std::int64_t rows(SlabRange slab) const {
    RowBand all;
    for (std::int64_t z = slab.z0; z < slab.z1; z += slab_alignment)
      all = together(all, rows_of_groups_[static_cast<std::size_t>(z / slab_alignment)]);
    return all.size();
  }
  // Of any slab. Where several devices cut them shows only when their speeds do.
  std::int64_t most_rows(const DevicePlan& plan) const {
    std::int64_t most = 0;
    for (const SlabRange slab : plan.slabs) most = std::max(most, rows(slab));
    for (std::int64_t z = 0; z < request_.grid.nz && request_.devices > 1; z += slab_alignment)
      most = std::max(most, rows({z, std::min(request_.grid.nz, z + plan.slab_slices)}));
    return most;
  }

  const DevicePlanRequest& request_;
  const BandTable& bands_;
  std::vector<RowBand> rows_of_groups_;  // of slab_alignment slices each, in all views
};

}  // namespace

RowBand rows_for(const BandTable& bands, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t last,
                 SlabRange slab, std::int64_t detector_rows) {
  RowBand all;
  for (std::int64_t i = first; i < last; ++i) all = together(all, bands.band(order[static_cast<std::size_t>(i)], slab));
  if (all.size() == 0) return all;
  return {all.first / 2 * 2, std::min(detector_rows, rounded_up(all.last, 2))};
}

DevicePlan make_device_plan(const DevicePlanRequest& request, const BandTable& bands) {
  return DevicePlanner(request, bands).best();
}

std::string describe(const DevicePlan& plan) {
  return format(
      "plan      {}: {} slabs of {} slices, {} views sent up at a time\n"
      "device    {} of {} allowed: {} filtered rows, {} rows on their way, {} slabs, {} tables",
      plan.resident ? "resident views" : "streamed views", plan.slabs.size(), plan.slab_slices, plan.wedge_views,
      format_bytes(plan.memory_bytes()), format_bytes(plan.memory_limit), format_bytes(plan.store_bytes),
      format_bytes(plan.wedge_bytes), format_bytes(plan.slabs_bytes), format_bytes(plan.fixed_bytes));
}

}  // namespace lepus
