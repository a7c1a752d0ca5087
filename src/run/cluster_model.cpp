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
#include "run/rank_schedule.h"
#include "run/rank_work.h"
#include <lepus/text.h>

namespace lepus {
namespace {

// Text of bytes that are a rate or a sum.
std::string bytes_text(double bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); }

bool on_host(const ClusterMachine& machine) { return machine.link_bytes <= 0; }

// What one cut of the volume asks of its ranks.
struct ClusterWork {
  double rows = 0;       // detector rows of one view, read by all groups together
  double rows_each = 0;  // by the group that needs longest
  std::int64_t slices_each = 0, slabs_each = 1;
  double summed_slices = 0;  // as many of a tall slab take as long
};

// Devices have ranges of equal size, and slabs that fit.
ClusterWork work_of_devices(const PlanRequest& request, const BandTable& bands, const ClusterMachine& machine,
                            std::int64_t groups) {
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
  work.summed_slices = static_cast<double>(work.slices_each);
  // Two slabs at a time, one summed while the other comes down, beside half as much for views.
  const double range_bytes = static_cast<double>(request.grid.nx * request.grid.ny * float_bytes) * work.summed_slices;
  const double room = machine.device_bytes > 0 ? static_cast<double>(machine.device_bytes) / 2.5 : range_bytes;
  work.slabs_each = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(range_bytes / room)));
  if (groups > 1) {  // as ranks cut their ranges
    const std::int64_t slab = slab_for_devices(request.grid.nz, static_cast<int>(groups));
    work.slabs_each = std::max(work.slabs_each, (work.slices_each + slab - 1) / slab);
  }
  return work;
}

// Hosts take slabs over from each other.
ClusterWork work_of_hosts(const PlanRequest& request, const ClusterMachine& machine, RankGrid grid) {
  const auto costs = [&](const MachineSpeed& speed) {
    return SlabCosts(*request.geometry, request.grid, request.cylinder_mm, request.interpolation, speed);
  };
  // A run has measured nothing when it cuts.
  const RankCut cut = best_cut(costs(MachineSpeed{}), grid, request.grid.nz);
  const RankSchedule schedule = schedule_ranks(costs({.updates = machine.updates,
                                                      .filtered_pixels = machine.filtered_pixels,
                                                      .disk_bytes = machine.disk_bytes / (grid.groups * grid.wedges)}),
                                               grid, cut, 0);
  return {schedule.rows_of_all, schedule.rows, schedule.slices, schedule.slabs, schedule.summed_slices};
}

ClusterPlan plan_grid(const PlanRequest& request, const BandTable& bands, const ClusterMachine& machine,
                      RankGrid grid) {
  const auto wedges = static_cast<double>(grid.wedges);
  const double views = static_cast<double>(bands.views()), columns = static_cast<double>(request.geometry->columns);
  const bool host = on_host(machine);
  const ClusterWork work =
      host ? work_of_hosts(request, machine, grid) : work_of_devices(request, bands, machine, grid.groups);
  const double slice_bytes = static_cast<double>(request.grid.nx * request.grid.ny * float_bytes);
  const double volume_bytes = slice_bytes * static_cast<double>(request.grid.nz);
  const double range_bytes = slice_bytes * static_cast<double>(work.slices_each);
  const double pixels_each = views / wedges * work.rows_each * columns;
  const double frame_bytes = views * work.rows * columns * static_cast<double>(request.frame_pixel_bytes);
  const double updates =
      (host ? summed_updates : updates_in_cylinder)(request.grid, request.cylinder_mm, bands.views());

  ClusterPlan plan;
  plan.groups = grid.groups;
  plan.wedges = grid.wedges;
  plan.slabs_each = work.slabs_each;
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
  const double share = work.summed_slices / static_cast<double>(request.grid.nz) / wedges;
  const double sum = add("sum", updates * share / machine.updates,
                         format("{:.3g} updates of each rank at {:.3g} per second", updates * share, machine.updates));
  if (machine.link_bytes > 0)
    download =
        add("download", range_bytes / machine.link_bytes, format("{} from each device", bytes_text(range_bytes)));
  double reduce = 0;
  if (grid.wedges > 1)
    // Each rank passes its sum to the next one: every node sends what all its ranks have, but a single one its own
    // memory.
    reduce = machine.nodes == 1
                 ? add("reduce", range_bytes / card_link_bytes,
                       format("{} of each rank through the node's memory at {}/s", bytes_text(range_bytes),
                              bytes_text(card_link_bytes)))
                 : add("reduce", range_bytes * static_cast<double>(machine.devices_per_node) / machine.network_bytes,
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
  constexpr std::int64_t block = 32;  // of views, which are summed together
  // Hosts share out slabs as a run does that is not told otherwise: it has the bits of one process.
  if (on_host(machine))
    return plan_grid(request, bands, machine, rank_grid(ranks, slabs, (bands.views() + block - 1) / block));
  ClusterPlan best;
  best.seconds = std::numeric_limits<double>::max();
  for (int wedges = 1; wedges <= std::min<std::int64_t>(ranks, std::max<std::int64_t>(1, bands.views() / block));
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
