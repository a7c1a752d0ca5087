// SPDX-License-Identifier: Apache-2.0
#include "run/cluster_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include "run/plan_models.h"
#include "run/rank_work.h"

namespace lepus {
namespace {

// Text of bytes that are a rate or a sum.
std::string bytes_text(double bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); }

// What one cut of the volume asks of its ranks.
struct ClusterWork {
  double rows = 0;       // detector rows of one view, read by all groups together
  double rows_each = 0;  // by the group that reads most
  std::int64_t slices_each = 0;
};

ClusterWork work_of(const PlanRequest& request, const BandTable& bands, std::int64_t groups) {
  const std::int64_t all = rounded_up(request.grid.nz, slab_alignment) / slab_alignment;
  std::vector<std::int64_t> order(static_cast<std::size_t>(bands.views()));
  std::iota(order.begin(), order.end(), 0);
  ClusterWork work;
  for (std::int64_t group = 0; group < groups; ++group) {
    const SlabRange slices{all * group / groups * slab_alignment,
                           std::min(request.grid.nz, all * (group + 1) / groups * slab_alignment)};
    const auto rows =
        static_cast<double>(rows_for(bands, order, 0, bands.views(), slices, request.geometry->rows).size());
    work.rows += rows;
    work.rows_each = std::max(work.rows_each, rows);
    work.slices_each = std::max(work.slices_each, slices.slices());
  }
  return work;
}

ClusterPlan plan_grid(const PlanRequest& request, const BandTable& bands, const ClusterMachine& machine,
                      RankGrid grid) {
  const auto wedges = static_cast<double>(grid.wedges);
  const double views = static_cast<double>(bands.views()), columns = static_cast<double>(request.geometry->columns);
  const ClusterWork work = work_of(request, bands, grid.groups);
  const double slice_bytes = static_cast<double>(request.grid.nx * request.grid.ny * float_bytes);
  const double volume_bytes = slice_bytes * static_cast<double>(request.grid.nz);
  const double range_bytes = slice_bytes * static_cast<double>(work.slices_each);
  const double pixels_each = views / wedges * work.rows_each * columns;
  const double frame_bytes = views * work.rows * columns * static_cast<double>(request.frame_pixel_bytes);
  const double updates = updates_in_cylinder(request.grid, request.cylinder_mm, bands.views());

  ClusterPlan plan;
  plan.groups = grid.groups;
  plan.wedges = grid.wedges;
  // Two slabs at a time, one summed while the other comes down, beside half as much for views.
  const double room = machine.device_bytes > 0 ? static_cast<double>(machine.device_bytes) / 2.5 : range_bytes;
  plan.slabs_each = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(range_bytes / room)));
  const auto add = [&](const char* name, double seconds, std::string how) {
    plan.terms.push_back({name, seconds, std::move(how)});
    return seconds;
  };
  const double files = views / wedges * machine.file_seconds;
  const double start = add("start", machine.start_seconds + files, "the devices, and opening every frame");
  const double read =
      add("read", frame_bytes / machine.disk_bytes,
          format("{} of frames ({:.2f} times the detector) at {}/s", bytes_text(frame_bytes),
                 work.rows / static_cast<double>(request.geometry->rows), bytes_text(machine.disk_bytes)));
  const double filter =
      add("filter", pixels_each / machine.filtered_pixels,
          format("{:.3g} pixels of each rank at {:.3g} per second", pixels_each, machine.filtered_pixels));
  double upload = 0, download = 0;
  if (machine.link_bytes > 0)
    upload = add(
        "upload", pixels_each * static_cast<double>(request.frame_pixel_bytes) / machine.link_bytes,
        format("{} to each device at {}/s", bytes_text(pixels_each * static_cast<double>(request.frame_pixel_bytes)),
               bytes_text(machine.link_bytes)));
  const bool host = machine.link_bytes <= 0;
  const double overhead = host ? slab_overhead(work.slices_each / plan.slabs_each) : 1;
  const double share = static_cast<double>(work.slices_each) / static_cast<double>(request.grid.nz) / wedges;
  const double sum = add("sum", updates * share / machine.updates * overhead,
                         format("{:.3g} updates of each rank at {:.3g} per second", updates * share, machine.updates));
  if (machine.link_bytes > 0)
    download =
        add("download", range_bytes / machine.link_bytes, format("{} from each device", bytes_text(range_bytes)));
  double reduce = 0;
  if (grid.wedges > 1)
    // Each rank passes its sum to the next one: every node sends what all its ranks have.
    reduce = add("reduce", range_bytes * static_cast<double>(machine.devices_per_node) / machine.network_bytes,
                 format("{} of each rank through a network of {}/s and node", bytes_text(range_bytes),
                        bytes_text(machine.network_bytes)));
  const double write = add("write", volume_bytes / machine.disk_bytes,
                           format("{} at {}/s", bytes_text(volume_bytes), bytes_text(machine.disk_bytes)));
  // Rows come in, are filtered and summed all at once; a finished slab leaves while the next one is summed, the last
  // one after it. The host filters and sums with the same cores.
  const double inward = std::max(read, host ? filter + sum : std::max({filter, upload, sum}));
  const double outward = std::max({reduce, download, write});
  const auto slabs = static_cast<double>(plan.slabs_each);
  plan.seconds = start + std::max(inward, outward * (slabs - 1) / slabs) + outward / slabs;
  double longest = -1;
  for (const ClusterTerm& term : plan.terms)
    if (term.name != "start" && term.seconds > longest) {
      longest = term.seconds;
      plan.bound = term.name;
    }
  if (start > longest) plan.bound = "start";
  return plan;
}

}  // namespace

ClusterPlan plan_cluster(const PlanRequest& request, const ClusterMachine& machine) {
  const BandTable bands(request);
  const auto ranks = static_cast<int>(machine.nodes * machine.devices_per_node);
  const std::int64_t slabs = rounded_up(request.grid.nz, slab_alignment) / slab_alignment;
  ClusterPlan best;
  best.seconds = std::numeric_limits<double>::max();
  for (int wedges = 1; wedges <= std::min<std::int64_t>(ranks, std::max<std::int64_t>(1, bands.views() / 32));
       wedges *= 2) {
    ClusterPlan plan = plan_grid(request, bands, machine, rank_grid_of(ranks, slabs, wedges));
    if (plan.seconds < best.seconds) best = std::move(plan);
  }
  return best;
}

std::string describe(const ClusterPlan& plan) {
  std::string text = plan.wedges == 1
                         ? format("ranks     {} share the slabs, {} each\n", plan.groups, plan.slabs_each)
                         : format("ranks     {} groups share the slabs ({} each), {} ranks of a group the views\n",
                                  plan.groups, plan.slabs_each, plan.wedges);
  for (const ClusterTerm& term : plan.terms)
    text += format("{:<9} {:8.2f} s  {}{}\n", term.name, term.seconds, term.how,
                   term.name == plan.bound ? "  <- bounds" : "");
  return text + format("time      {}", expected_time(plan.seconds));
}

}  // namespace lepus
