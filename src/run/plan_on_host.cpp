// SPDX-License-Identifier: Apache-2.0
// The host computes: bands, slabs and rows read ahead share its memory.
#include <algorithm>
#include <utility>

#include "device/host/work.h"
#include "geometry/row_band.h"
#include "run/plan_models.h"

namespace lepus {
namespace {

class HostModel final : public PlanModel {
public:
  HostModel(const PlanRequest& request, const BandTable& bands) : request_(request), bands_(bands) {
    rows_needed_ = rows_once(cut_into_slabs(request.grid.nz, slab_alignment));
    updates_ = updates_in_cylinder(request.grid, request.cylinder_mm, bands.views());
    summed_updates_ = summed_updates(request.grid, request.cylinder_mm, bands.views());
  }

  std::vector<Plan> candidates(int round) const override {
    std::vector<Plan> plans;
    // A limit on slabs is the height that ranks agreed on, for rows that roll on: others only where that does not fit.
    const bool agreed = request_.largest_slab > 0;
    const std::int64_t tallest = round == 0 || (agreed && round == 1) ? tallest_slab(request_) : 0;
    const std::int64_t lowest = agreed && round == 0 ? tallest : slab_alignment;
    for (std::int64_t slices = tallest; slices >= lowest && slices > 0; slices = next_smaller(slices)) {
      const Cut cut = cut_at(slices);
      for (const PlanKind kind : {PlanKind::rolling_window, PlanKind::streamed_views}) {
        if (agreed && round == 0 && kind != PlanKind::rolling_window) continue;
        for (const int buffers : {2, 1}) plans.push_back(make(kind, cut, buffers));
      }
    }
    return plans;
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
        rows += band.size() - common_rows(held, band).size();
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
    plan.sizes = {cut.slices, cut.slices, 1};
    plan.slab_buffers = buffers;
    plan.landing_slices = std::min(plan.slab_slices, slab_alignment);
    plan.held_rows = padded_rows(cut.highest_band);
    plan.rows_needed = rows_needed_;
    plan.rows_read = rolling ? cut.rows_once : cut.rows_every_time;
    plan.host.fixed = request_.fixed_bytes;
    plan.host.limit = request_.memory_bytes;
    plan.host.slabs =
        request_.grid.nx * request_.grid.ny * (plan.slab_slices * buffers + plan.landing_slices) * float_bytes;
    plan.host.rows =
        std::clamp<std::int64_t>(request_.memory_bytes / 32, std::int64_t{4} << 20, std::int64_t{256} << 20);
    const std::int64_t view_bytes = geometry.columns * plan.held_rows * float_bytes;
    const std::int64_t left = request_.memory_bytes - plan.host.total();
    const std::int64_t blocks =
        std::max<std::int64_t>(1, left / std::max<std::int64_t>(1, view_bytes * request_.view_block));
    plan.wedge_views = rolling ? geometry.views()
                               : std::min(geometry.views(), std::min<std::int64_t>(blocks, 16) * request_.view_block);
    plan.held_views = plan.wedge_views;
    plan.host.views = plan.wedge_views * view_bytes;
    plan.updates = updates_;
    plan.seconds = seconds(plan);
    plan.speed = request_.speed;
    return plan;
  }

  double seconds(const Plan& plan) const {
    const double pixels = static_cast<double>(plan.rows_read) * static_cast<double>(request_.geometry->columns);
    double slices = 0;
    for (const SlabRange slab : plan.slabs) slices += cpu::tall_slices(slab);
    const double summing = summed_updates_ * slices / static_cast<double>(request_.grid.nz) / request_.speed.updates;
    const double filtering = pixels / request_.speed.filtered_pixels;
    const double reading = pixels * static_cast<double>(request_.frame_pixel_bytes) / request_.speed.disk_bytes;
    const double writing = static_cast<double>(request_.grid.voxels() * float_bytes) / request_.speed.disk_bytes;
    // What does not overlap: the last slab's writing, and all of it where there is one buffer only.
    const double exposed = plan.slab_buffers == 2 ? writing / static_cast<double>(plan.slabs.size()) : writing;
    // A slab is masked, handed over and recorded on disk: measured, docs/restart.md.
    constexpr double slab_seconds = 2.4e-3;
    return opening_seconds(request_.geometry->views()) + std::max(reading, summing + filtering) + exposed +
           slab_seconds * static_cast<double>(plan.slabs.size());
  }

  const PlanRequest& request_;
  const BandTable& bands_;
  std::int64_t rows_needed_ = 0;
  double updates_ = 0, summed_updates_ = 0;
};

}  // namespace

std::unique_ptr<PlanModel> model_of_host(const PlanRequest& request, const BandTable& bands) {
  return std::make_unique<HostModel>(request, bands);
}

}  // namespace lepus
