// SPDX-License-Identifier: Apache-2.0
#include "schedule/device_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "core/format.h"
#include "core/memory.h"
#include "schedule/sizes.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Enough views that the volume, which every wedge touches once, costs little beside them.
constexpr std::int64_t usual_wedge = 64;
// What a data-centre card of 2024 does; only ratios matter here.
constexpr double link_bytes = 5.5e10, filtered_pixels = 8e10;   // per second
constexpr std::int64_t usual_landing = std::int64_t{32} << 20;  // bytes

class DevicePlanner {
public:
  DevicePlanner(const DevicePlanRequest& request, const BandTable& bands) : request_(request), bands_(bands) {
    order_.resize(static_cast<std::size_t>(bands.views()));
    std::iota(order_.begin(), order_.end(), 0);
  }

  DevicePlan best() const {
    std::optional<DevicePlan> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), least_on_host = least;
    for (std::int64_t wedge = first_wedge(); wedge > 0 && !best; wedge = smaller_wedge(wedge))
      for (std::int64_t slices = rounded_up(request_.grid.nz, slab_alignment); slices > 0; slices = fewer(slices))
        for (const bool resident : {true, false}) {
          const DevicePlan plan = make(resident, wedge, slices);
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

  DevicePlan make(bool resident, std::int64_t wedge, std::int64_t slices) const {
    DevicePlan plan;
    plan.resident = resident;
    plan.slab_slices = slices;
    for (std::int64_t z = 0; z < request_.grid.nz; z += slices)
      plan.slabs.push_back({z, std::min(request_.grid.nz, z + slices)});
    plan.slab_buffers = plan.slabs.size() > 1 ? 2 : 1;
    plan.wedge_views = wedge;
    plan.held_views = resident ? rounded_up(bands_.views(), request_.view_block) : wedge;
    plan.held_rows = 1;
    if (resident) {
      plan.held_rows = std::max<std::int64_t>(1, rows({0, request_.grid.nz}));
    } else {
      for (const SlabRange slab : plan.slabs) plan.held_rows = std::max(plan.held_rows, rows(slab));
    }
    plan.store_bytes = plan.held_views * plan.held_rows * request_.wide_columns * request_.texel_bytes;
    // Frames on their way up (two buffers) and filtered rows before they become texels.
    plan.wedge_bytes =
        wedge * plan.held_rows *
        (2 * request_.recorded_columns * request_.frame_pixel_bytes + request_.wide_columns * float_bytes);
    const std::int64_t row_bytes = request_.recorded_columns * request_.frame_pixel_bytes;
    const std::int64_t slice_bytes = request_.grid.nx * request_.grid.ny * float_bytes;
    plan.landing_slices = std::clamp<std::int64_t>(usual_landing / slice_bytes, 1, slices);
    plan.staging_bytes = 2 * wedge * plan.held_rows * row_bytes +
                         std::int64_t{2} * plan.slab_buffers * plan.landing_slices * slice_bytes;
    std::int64_t rows_sent = resident ? plan.held_rows * request_.devices : 0;  // each device holds all views
    if (!resident)
      for (const SlabRange slab : plan.slabs) rows_sent += rows(slab);
    plan.sent_bytes = bands_.views() * rows_sent * row_bytes;
    plan.slabs_bytes =
        request_.grid.nx * request_.grid.ny * std::min(slices, request_.grid.nz) * float_bytes * plan.slab_buffers;
    plan.fixed_bytes = request_.fixed_bytes;
    plan.memory_limit = request_.memory_bytes;
    plan.seconds = seconds(plan);
    return plan;
  }

  // Reading, computing and coming down overlap, but a device that holds all views sums its first slab no faster than
  // the frames arrive, and the last slab comes down when nothing is left to hide it. Several devices compute together;
  // they share the frames' source.
  double seconds(const DevicePlan& plan) const {
    const auto slabs = static_cast<double>(plan.slabs.size());
    const double reading = static_cast<double>(plan.sent_bytes) / std::min(link_bytes, request_.source_bytes);
    const double filtering = static_cast<double>(plan.sent_bytes / request_.frame_pixel_bytes) / filtered_pixels;
    const double summing = request_.updates / request_.updates_per_second / std::min<double>(request_.cards, slabs);
    const double last_slab = static_cast<double>(plan.slabs_bytes / plan.slab_buffers) / link_bytes;
    const double turns = std::max(1.0, slabs / request_.devices);
    if (!plan.resident) return std::max(reading, filtering + summing) + last_slab;
    return std::max(reading, filtering + summing / turns) + summing * (turns - 1) / turns + last_slab;
  }

  std::int64_t rows(SlabRange slab) const {
    return rows_for(bands_, order_, 0, bands_.views(), slab, request_.detector_rows).size();
  }

  const DevicePlanRequest& request_;
  const BandTable& bands_;
  std::vector<std::int64_t> order_;
};

}  // namespace

RowBand rows_for(const BandTable& bands, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t last,
                 SlabRange slab, std::int64_t detector_rows) {
  RowBand all;
  for (std::int64_t i = first; i < last; ++i) {
    const RowBand band = bands.band(order[static_cast<std::size_t>(i)], slab);
    if (band.size() == 0) continue;
    all = all.size() == 0 ? band : RowBand{std::min(all.first, band.first), std::max(all.last, band.last)};
  }
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
