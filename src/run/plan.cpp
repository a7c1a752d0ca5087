// SPDX-License-Identifier: Apache-2.0
#include "run/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include "run/sizes.h"
#include <lepus/error.h>

namespace lepus {
namespace {

std::vector<SlabRange> cut_into_slabs(std::int64_t nz, std::int64_t slices) {
  std::vector<SlabRange> slabs;
  for (std::int64_t z = 0; z < nz; z += slices) slabs.push_back({z, std::min(nz, z + slices)});
  return slabs;
}

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

class Planner {
public:
  Planner(const PlanRequest& request, const BandTable& bands) : request_(request), bands_(bands) {
    rows_needed_ = rows_once(cut_into_slabs(request.grid.nz, slab_alignment));
    updates_ = updates_in_cylinder(request.grid, request.cylinder_mm, bands.views());
  }

  Plan cheapest() const {
    std::optional<Plan> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const std::int64_t tallest = rounded_up(request_.grid.nz, slab_alignment);
    for (std::int64_t slices = tallest; slices >= slab_alignment; slices = next_smaller(slices)) {
      const Cut cut = cut_at(slices);
      for (const PlanKind kind : {PlanKind::rolling_window, PlanKind::streamed_views})
        for (const int buffers : {2, 1}) {
          const Plan plan = make(kind, cut, buffers);
          least = std::min(least, plan.memory_bytes());
          if (plan.memory_bytes() > request_.memory_bytes) continue;
          if (!best || plan.seconds < best->seconds) best = plan;
        }
    }
    if (!best)
      throw Error(ErrorKind::memory,
                  {.what = "the reconstruction does not fit the memory limit",
                   .where = format("volume of {}x{}x{}", request_.grid.nx, request_.grid.ny, request_.grid.nz),
                   .why = format("at least {} are needed, {} are allowed", format_bytes(least),
                                 format_bytes(request_.memory_bytes)),
                   .hint = format("allow more with --memory {}MiB, or ask for a smaller volume", (least >> 20) + 1)});
    return *best;
  }

private:
  struct Cut {
    std::int64_t slices;
    std::vector<SlabRange> slabs;
    std::int64_t rows_once, rows_every_time, highest_band;
  };

  Cut cut_at(std::int64_t slices) const {
    std::vector<SlabRange> slabs = cut_into_slabs(request_.grid.nz, slices);
    const std::int64_t once = rows_once(slabs);
    std::int64_t every_time = 0, highest = 1;
    for (const SlabRange slab : slabs)
      for (std::int64_t view = 0; view < bands_.views(); ++view) {
        const std::int64_t rows = bands_.band(view, slab).size();
        every_time += rows;
        highest = std::max(highest, rows);
      }
    return {slices, std::move(slabs), once, every_time, highest};
  }

  // Heights to try: multiples of the alignment, in steps of about an eighth.
  static std::int64_t next_smaller(std::int64_t slices) {
    return std::min(slices - slab_alignment, rounded_up(slices * 7 / 8, slab_alignment));
  }

  // Rows that a pass over the slabs reads if it keeps, from one slab to the next, the rows that both need.
  std::int64_t rows_once(const std::vector<SlabRange>& slabs) const {
    std::int64_t rows = 0;
    for (std::int64_t view = 0; view < bands_.views(); ++view) {
      RowBand held;
      for (const SlabRange slab : slabs) {
        const RowBand band = bands_.band(view, slab);
        const std::int64_t kept =
            std::max<std::int64_t>(0, std::min(held.last, band.last) - std::max(held.first, band.first));
        rows += band.size() - kept;
        held = band;
      }
    }
    return rows;
  }

  Plan make(PlanKind kind, const Cut& cut, int buffers) const {
    const ScanGeometry& geometry = *request_.geometry;
    const bool rolling = kind == PlanKind::rolling_window;
    Plan plan;
    plan.kind = kind;
    plan.slabs = cut.slabs;
    plan.slab_slices = request_.grid.nz < slab_alignment ? request_.grid.nz : cut.slices;
    plan.slab_buffers = buffers;
    // An odd number of cache lines per column spreads neighbouring columns over the cache's sets.
    plan.row_stride = (rounded_up(cut.highest_band, 16) / 16 | 1) * 16;
    plan.rows_needed = rows_needed_;
    plan.rows_read = rolling ? cut.rows_once : cut.rows_every_time;
    plan.fixed_bytes = request_.fixed_bytes;
    plan.memory_limit = request_.memory_bytes;
    plan.slabs_bytes = request_.grid.nx * request_.grid.ny * plan.slab_slices * float_bytes * buffers +
                       // slices on their way to the writer: a group of them, x fastest
                       request_.grid.nx * request_.grid.ny * std::min(plan.slab_slices, slab_alignment) * float_bytes;
    plan.queue_bytes =
        std::clamp<std::int64_t>(request_.memory_bytes / 32, std::int64_t{4} << 20, std::int64_t{256} << 20);
    const std::int64_t view_bytes = geometry.columns * plan.row_stride * float_bytes;
    const std::int64_t left = request_.memory_bytes - plan.memory_bytes();
    const std::int64_t blocks =
        std::max<std::int64_t>(1, left / std::max<std::int64_t>(1, view_bytes * request_.view_block));
    plan.wedge_views = rolling ? geometry.views()
                               : std::min(geometry.views(), std::min<std::int64_t>(blocks, 16) * request_.view_block);
    plan.bands_bytes = plan.wedge_views * view_bytes;
    plan.updates = updates_;
    plan.seconds = seconds(plan);
    return plan;
  }

  double seconds(const Plan& plan) const {
    const double pixels = static_cast<double>(plan.rows_read) * static_cast<double>(request_.geometry->columns);
    const double summing = updates_ / request_.speed.updates * slab_overhead(plan.slab_slices);
    const double filtering = pixels / request_.speed.filtered_pixels;
    const double reading = pixels * static_cast<double>(request_.frame_pixel_bytes) / request_.speed.disk_bytes;
    const double writing = static_cast<double>(request_.grid.voxels() * float_bytes) / request_.speed.disk_bytes;
    // What does not overlap: the last slab's writing, and all of it where there is one buffer only.
    const double exposed = plan.slab_buffers == 2 ? writing / static_cast<double>(plan.slabs.size()) : writing;
    return opening_seconds(request_.geometry->views()) + std::max(reading, summing + filtering) + exposed;
  }

  const PlanRequest& request_;
  const BandTable& bands_;
  std::int64_t rows_needed_ = 0;
  double updates_ = 0;
};

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
    if (band.size() == 0) continue;
    all = all.size() == 0 ? band : RowBand{std::min(all.first, band.first), std::max(all.last, band.last)};
  }
  return all;
}

Plan make_plan(const PlanRequest& request, const BandTable& bands) { return Planner(request, bands).cheapest(); }

// Measured: 1 to 8, 16 and 64 slices of 512 x 512 voxels from 720 views on one core of a Neoverse-N1.
double slab_overhead(std::int64_t slices) {
  const auto n = static_cast<double>(slices);
  return slices <= 8 ? 1.15 + 2.3 / n : 1.0 + 12.0 / n;
}

double opening_seconds(std::int64_t views) {
  // Measured with TIFF files in the disk's cache: each is opened and its header read twice.
  constexpr double start_seconds = 0.02, frame_seconds = 2e-4;
  return start_seconds + frame_seconds * static_cast<double>(views);
}

std::string expected_time(double seconds) {
  const auto rounded = [](double s) { return s < 100 ? format("{:.2g}", s) : format("{:.0f}", s); };
  return format("{} to {} s", rounded(0.7 * seconds), rounded(1.5 * seconds));
}

double updates_in_cylinder(const VolumeGrid& grid, double radius_mm, std::int64_t views) {
  return voxels_inside(grid, radius_mm) * static_cast<double>(grid.nz) * static_cast<double>(views);
}

const char* name_of(PlanKind kind) { return kind == PlanKind::rolling_window ? "rolling window" : "streamed views"; }

std::string describe(const Plan& plan) {
  std::string text =
      format("plan      {}: {} slabs of {} slices", name_of(plan.kind), plan.slabs.size(), plan.slab_slices);
  if (plan.kind == PlanKind::streamed_views) text += format(", {} views at a time", plan.wedge_views);
  text += format("\nmemory    {} of {} allowed: {} filtered rows, {} slabs, {} read ahead, {} fixed",
                 format_bytes(plan.memory_bytes()), format_bytes(plan.memory_limit), format_bytes(plan.bands_bytes),
                 format_bytes(plan.slabs_bytes), format_bytes(plan.queue_bytes), format_bytes(plan.fixed_bytes));
  const double again =
      plan.rows_needed > 0 ? static_cast<double>(plan.rows_read) / static_cast<double>(plan.rows_needed) : 1.0;
  text += format("\nrows      each is read and filtered {:.2f} times", again);
  return text;
}

}  // namespace lepus
