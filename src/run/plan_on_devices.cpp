// SPDX-License-Identifier: Apache-2.0
// Devices with memory of their own compute; frames go up to them and slabs come down.

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "run/plan_models.h"

namespace lepus {
namespace {

// Enough views that the volume, which every wedge touches once, costs little beside them.
constexpr std::int64_t usual_wedge = 64;
// What a data-centre card of 2024 does, per second; only ratios matter here.
constexpr double link_bytes = card_link_bytes, filtered_pixels = card_filtered_pixels, memory_rate = 4e12;
constexpr double launch_seconds = 1.3e-4;  // of sums over a slab: start, tables, the last blocks
constexpr std::int64_t usual_landing = std::int64_t{64}
                                       << 20;  // bytes; half of it writes files in memory a tenth slower

class DeviceModel final : public PlanModel {
public:
  DeviceModel(const PlanRequest& request, const BandTable& bands)
      : request_(request),
        devices_(*request.devices),
        bands_(bands),
        updates_(updates_in_cylinder(request.grid, std::numeric_limits<double>::max(), bands.views())),
        updates_in_cylinder_(updates_in_cylinder(request.grid, request.cylinder_mm, bands.views())) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(bands.views()));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t z = 0; z < request.grid.nz; z += slab_alignment)
      rows_of_groups_.push_back(rows_for(bands, order, 0, bands.views(),
                                         {z, std::min(request.grid.nz, z + slab_alignment)}, request.geometry->rows));
  }

  // Smaller wedges only where nothing fits with larger ones.
  std::vector<Plan> candidates(int round) const override {
    std::int64_t wedge = first_wedge();
    for (int i = 0; i < round && wedge > 0; ++i) wedge = smaller_wedge(wedge);
    std::vector<Plan> plans;
    if (wedge == 0) return plans;
    for (std::int64_t slices = tallest_slab(request_); slices > 0; slices = fewer(slices))
      for (const auto& [kind, sizes] : variants(slices)) plans.push_back(make(kind, wedge, sizes));
    return plans;
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
  static std::vector<std::pair<PlanKind, SlabSizes>> variants(std::int64_t slices) {
    constexpr std::array kinds{PlanKind::resident_views, PlanKind::streamed_views};
    std::vector<std::pair<PlanKind, SlabSizes>> all{{kinds[0], {slices, slices, 1}}, {kinds[1], {slices, slices, 1}}};
    const std::int64_t smaller = rounded_up(std::max(slices / 8, 2 * slab_alignment), slab_alignment);
    for (const double part : {0.4, 0.5, 0.6, 0.75})
      if (smaller < slices)
        for (const PlanKind kind : kinds) all.push_back({kind, {slices, smaller, part}});
    return all;
  }

  Plan make(PlanKind kind, std::int64_t wedge, SlabSizes sizes) const {
    const bool resident = kind == PlanKind::resident_views;
    Plan plan;
    plan.kind = kind;
    plan.sizes = sizes;
    plan.slabs = expected_slabs(request_.grid.nz, sizes, devices_.workers);
    const std::int64_t slices = sizes.largest;
    plan.slab_slices = slices;
    const std::int64_t workers = devices_.workers_on_card, copies = resident ? 1 : workers;
    plan.slab_buffers = plan.slabs.size() > 1 ? 2 : 1;
    plan.wedge_views = wedge;
    plan.held_views = resident ? rounded_up(bands_.views(), request_.view_block) : wedge;
    plan.held_rows = std::max<std::int64_t>(1, resident ? rows({0, request_.grid.nz}) : maximum_rows(plan));
    const std::int64_t wide = request_.geometry->columns;
    plan.device.views = copies * plan.held_views * plan.held_rows * wide * devices_.bytes_per_value;
    const std::int64_t row_bytes = devices_.recorded_columns * request_.frame_pixel_bytes;
    // Frames on their way up (two buffers), and filtered rows of each worker before they become texels.
    plan.device.rows = wedge * plan.held_rows * (copies * 2 * row_bytes + workers * wide * float_bytes);
    const std::int64_t slice_bytes = request_.grid.nx * request_.grid.ny * float_bytes;
    plan.landing_slices =
        std::clamp<std::int64_t>(std::min(usual_landing, request_.memory_bytes / 16) / slice_bytes, 1, slices);
    plan.host.rows =
        std::int64_t{2} * (resident ? devices_.cards : devices_.workers) * wedge * plan.held_rows * row_bytes;
    plan.host.slabs = std::int64_t{2} * devices_.workers * plan.slab_buffers * plan.landing_slices * slice_bytes;
    plan.host.fixed = request_.fixed_bytes;
    plan.host.limit = request_.memory_bytes;
    std::int64_t rows_sent = resident ? plan.held_rows * devices_.cards : 0;  // each card holds all views
    if (!resident)
      for (const SlabRange slab : plan.slabs) rows_sent += rows(slab);
    plan.uploaded_bytes = bands_.views() * rows_sent * row_bytes;
    plan.device.slabs = request_.grid.nx * request_.grid.ny * std::min(slices, request_.grid.nz) * float_bytes *
                        plan.slab_buffers * workers;
    plan.device.fixed = copies * devices_.fixed_bytes;
    plan.device.limit = devices_.memory_bytes;
    plan.updates = updates_in_cylinder_;
    plan.seconds = seconds(plan);
    plan.speed = {devices_.updates_per_second, filtered_pixels, devices_.source_bytes};
    return plan;
  }

  // The way of the slabs, step by step: wedges come up one after the other, are filtered and added to the slabs that
  // are being summed (one per device; later ones, where all views stay, are summed from all views at once); a summed
  // slab comes down while others are summed, and each device has two. By bands, rows that no slab has needed before
  // come up for all views before any is filtered. Devices on one card share its link and its processors.
  double seconds(const Plan& plan) const {
    const bool resident = plan.kind == PlanKind::resident_views;
    const double cards = devices_.cards, devices = devices_.workers;
    const double up_bytes = std::min(link_bytes, devices_.source_bytes);
    const double slice_bytes = static_cast<double>(request_.grid.nx * request_.grid.ny * float_bytes);
    const double slice_sum = updates_ / static_cast<double>(request_.grid.nz) / devices_.updates_per_second;
    const auto row_pixels = static_cast<double>(bands_.views() * devices_.recorded_columns);  // in all views
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
        if (!resident) rows_filtered += static_cast<double>(rows(plan.slabs[slab]));
      }
      const double new_rows =
          static_cast<double>(rows({0, plan.slabs[slab - 1].z1}) - rows({0, plan.slabs[first].z0})) * cards;
      if (resident)
        rows_filtered = devices_.by_bands ? new_rows : held ? 0 : static_cast<double>(plan.held_rows) * cards;
      if (ends.size() >= 2 * static_cast<std::size_t>(devices))
        summed = std::max(summed, ends[first - 2 * static_cast<std::size_t>(devices)]);
      const auto count = static_cast<double>(slab - first);
      const double touch = 2 * slices * slice_bytes / memory_rate + count * launch_seconds;
      const std::int64_t wedges =
          resident && (held || devices_.by_bands) ? 1 : (bands_.views() + plan.wedge_views - 1) / plan.wedge_views;
      const auto share = 1 / static_cast<double>(wedges);
      if (devices_.by_bands) up += seconds_up(new_rows);
      for (std::int64_t wedge = 0; wedge < wedges; ++wedge) {
        if (!devices_.by_bands) up += share * seconds_up(rows_filtered);
        summed = std::max(summed, up) +
                 (share * (row_pixels * rows_filtered / filtered_pixels + slices * slice_sum) + touch) / cards;
      }
      held = resident;
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
      all = joined_rows(all, rows_of_groups_[static_cast<std::size_t>(z / slab_alignment)]);
    return all.size();
  }
  // Of any slab: several devices cut them as their speeds show, and a part of the volume is cut from its own start.
  std::int64_t maximum_rows(const Plan& plan) const {
    std::int64_t most = 0;
    for (std::int64_t z = 0; z < request_.grid.nz; z += slab_alignment)
      most = std::max(most, rows({z, std::min(request_.grid.nz, z + plan.slab_slices)}));
    return most;
  }

  const PlanRequest& request_;
  const PlanDevices& devices_;
  const BandTable& bands_;
  double updates_;                       // of all voxels: a card computes those beyond the cylinder too
  double updates_in_cylinder_;           // as they are reported
  std::vector<RowBand> rows_of_groups_;  // of slab_alignment slices each, in all views
};

}  // namespace

std::unique_ptr<PlanModel> model_of_devices(const PlanRequest& request, const BandTable& bands) {
  return std::make_unique<DeviceModel>(request, bands);
}

}  // namespace lepus
