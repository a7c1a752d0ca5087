// SPDX-License-Identifier: Apache-2.0
#include "run/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include "device/host/work.h"
#include "run/plan_models.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Voxels of one slice inside the cylinder, by counting columns of the grid: exact and cheap.
double voxels_inside(const VolumeGrid& grid, double radius_mm) {
  double count = 0;
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    const double py = grid.origin_mm.y + static_cast<double>(y) * grid.step_mm.y;
    const double half = radius_mm * radius_mm - py * py;
    if (half < 0) continue;
    const double a = (-std::sqrt(half) - grid.origin_mm.x) / grid.step_mm.x;
    const double b = (std::sqrt(half) - grid.origin_mm.x) / grid.step_mm.x;
    const double first = std::max(0.0, std::ceil(std::min(a, b)));
    const double last = std::min(static_cast<double>(grid.nx - 1), std::floor(std::max(a, b)));
    count += std::max(0.0, last - first + 1);
  }
  return count;
}

}  // namespace

BandTable::BandTable(const PlanRequest& request) : views_(request.geometry->views()) {
  const std::int64_t margin = interpolation_margin(request.interpolation);
  for (const SlabRange group : cut_into_slabs(request.grid.nz, slab_alignment))
    for (std::int64_t view = 0; view < views_; ++view)
      bands_.push_back(
          row_band(*request.geometry, view, request.grid, request.cylinder_mm, group.z0, group.z1, margin));
}

RowBand BandTable::band(std::int64_t view, SlabRange slab) const {
  RowBand all;
  for (std::int64_t group = slab.z0 / slab_alignment; group * slab_alignment < slab.z1; ++group) {
    const RowBand& band = bands_[static_cast<std::size_t>(group * views_ + view)];
    all = joined_rows(all, band);
  }
  return all;
}

RowBand rows_for(const BandTable& bands, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t last,
                 SlabRange slab, std::int64_t detector_rows) {
  RowBand all;
  for (std::int64_t i = first; i < last; ++i)
    all = joined_rows(all, bands.band(order[static_cast<std::size_t>(i)], slab));
  if (all.size() == 0) return all;
  return {all.first / 2 * 2, std::min(detector_rows, rounded_up(all.last, 2))};
}

std::vector<SlabRange> cut_into_slabs(std::int64_t slices, std::int64_t slab_slices) {
  std::vector<SlabRange> slabs;
  for (std::int64_t z = 0; z < slices; z += slab_slices) slabs.push_back({z, std::min(slices, z + slab_slices)});
  return slabs;
}

std::int64_t tallest_slab(const PlanRequest& request) {
  const std::int64_t all = rounded_up(request.grid.nz, slab_alignment);
  return request.largest_slab > 0 ? std::min(all, rounded_up(request.largest_slab, slab_alignment)) : all;
}

Plan make_plan(const PlanRequest& request, const BandTable& bands) {
  const auto model = request.devices ? model_of_devices(request, bands) : model_of_host(request, bands);
  std::int64_t smallest_host = std::numeric_limits<std::int64_t>::max(), smallest_device = smallest_host;
  for (int round = 0;; ++round) {
    std::optional<Plan> best;
    std::vector<Plan> plans = model->candidates(round);
    if (plans.empty()) break;
    for (Plan& plan : plans) {
      smallest_host = std::min(smallest_host, plan.host.total());
      smallest_device = std::min(smallest_device, plan.device.total());
      if (plan.host.total() > plan.host.limit || plan.device.total() > plan.device.limit) continue;
      if (!best || plan.seconds < best->seconds) best = std::move(plan);
    }
    if (best) return *best;
  }
  const bool host = smallest_host > request.memory_bytes;
  const std::int64_t smallest = host ? smallest_host : smallest_device;
  const std::string option = host ? format("--memory {}MiB", enough_mebibytes(smallest)) : "--device-memory";
  throw Error(ErrorKind::memory,
              {.what = format("the reconstruction does not fit the memory {}", host ? "limit" : "of the device"),
               .where = format("volume of {}x{}x{}", request.grid.nx, request.grid.ny, request.grid.nz),
               .why = format("at least {} are needed{}, {} are allowed", format_bytes(smallest),
                             host && request.devices ? " on the host, for frames on their way and what is there" : "",
                             format_bytes(host ? request.memory_bytes : request.devices->memory_bytes)),
               .hint = format("allow more with {}, or ask for a smaller volume{}", option,
                              request.devices ? ", or use --backend cpu" : "")});
}

double opening_seconds(std::int64_t views) {
  // Measured with TIFF files in the disk's cache: each is opened and its header read twice.
  constexpr double start_seconds = 0.02, frame_seconds = 2e-4;
  return start_seconds + frame_seconds * static_cast<double>(views);
}

double updates_in_cylinder(const VolumeGrid& grid, double radius_mm, std::int64_t views) {
  return voxels_inside(grid, radius_mm) * static_cast<double>(grid.nz) * static_cast<double>(views);
}

double summed_updates(const VolumeGrid& grid, double radius_mm, std::int64_t views) {
  return static_cast<double>(cpu::summed_columns(grid, radius_mm)) * static_cast<double>(grid.nz) *
         static_cast<double>(views);
}

const char* name_of(PlanKind kind) {
  switch (kind) {
    case PlanKind::rolling_window:
      return "rolling window";
    case PlanKind::resident_views:
      return "resident views";
    case PlanKind::streamed_views:
      return "streamed views";
  }
  return "unknown";
}

std::string describe(const Plan& plan) {
  const PlanMemory& memory = plan.memory();
  std::string text =
      format("plan      {}: {} slabs of {} slices", name_of(plan.kind), plan.slabs.size(), plan.slab_slices);
  if (!plan.on_host()) {
    text += format(", {} views uploaded at a time", plan.wedge_views);
    return text + format("\ndevice    {} of {} allowed: {} filtered rows, {} rows on their way, {} slabs, {} tables",
                         format_bytes(memory.total()), format_bytes(memory.limit), format_bytes(memory.views),
                         format_bytes(memory.rows), format_bytes(memory.slabs), format_bytes(memory.fixed));
  }
  if (plan.kind == PlanKind::streamed_views) text += format(", {} views at a time", plan.wedge_views);
  text += format("\nmemory    {} of {} allowed: {} filtered rows, {} slabs, {} read ahead, {} fixed",
                 format_bytes(memory.total()), format_bytes(memory.limit), format_bytes(memory.views),
                 format_bytes(memory.slabs), format_bytes(memory.rows), format_bytes(memory.fixed));
  const double again =
      plan.rows_needed > 0 ? static_cast<double>(plan.rows_read) / static_cast<double>(plan.rows_needed) : 1.0;
  return text + format("\nrows      each is read and filtered {:.2f} times", again);
}

}  // namespace lepus
