// SPDX-License-Identifier: Apache-2.0
#include "run/rank_schedule.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "device/host/work.h"
#include "run/plan_models.h"

namespace lepus {
namespace {

constexpr std::int64_t views_that_stand_for_all = 16;
// Cores that others use too, and frames that one rank finds in a cache and another does not.
constexpr double usual_spread = 0.1;

BandTable some_bands(const ScanGeometry& geometry, const VolumeGrid& grid, double cylinder_mm,
                     Interpolation interpolation) {
  ScanGeometry some = geometry;
  some.matrices.clear();
  const std::int64_t count = std::min(geometry.views(), views_that_stand_for_all);
  for (std::int64_t i = 0; i < count; ++i)
    some.matrices.push_back(geometry.matrices[static_cast<std::size_t>(geometry.views() * i / count)]);
  PlanRequest request;
  request.geometry = &some;
  request.grid = grid;
  request.cylinder_mm = cylinder_mm;
  request.interpolation = interpolation;
  return BandTable(request);
}

// A group, how far it is, and what it has done.
struct GroupProgress {
  std::vector<SlabRange> range;
  std::size_t front = 0, back = 0;  // of its range, taken
  std::optional<SlabRange> next;    // is taken, and its rows are read, while one is summed
  SlabRange before{0, 0};
  double seconds = 0, rows = 0, summed_slices = 0;
  std::int64_t slices = 0, slabs = 0;

  bool left() const { return front + back < range.size(); }
};

std::optional<SlabRange> taken_by(std::vector<GroupProgress>& ranks, std::size_t group, bool takes_over) {
  if (GroupProgress& own = ranks[group]; own.left()) return own.range[own.front++];
  for (std::size_t step = 1; takes_over && step < ranks.size(); ++step)
    if (GroupProgress& other = ranks[(group + step) % ranks.size()]; other.left())
      return other.range[other.range.size() - ++other.back];
  return std::nullopt;
}

}  // namespace

SlabCosts::SlabCosts(const ScanGeometry& geometry, const VolumeGrid& grid, double cylinder_mm,
                     Interpolation interpolation, const MachineSpeed& speed)
    : bands_(some_bands(geometry, grid, cylinder_mm, interpolation)),
      slices_(grid.nz),
      slice_seconds_(summed_updates(grid, cylinder_mm, geometry.views()) / static_cast<double>(grid.nz) /
                     speed.updates),
      row_seconds_(static_cast<double>(geometry.columns * geometry.views()) / speed.filtered_pixels),
      slice_write_seconds_(static_cast<double>(grid.nx * grid.ny * float_bytes) / speed.disk_bytes) {}

double SlabCosts::sum_seconds(SlabRange slab) const { return slice_seconds_ * cpu::tall_slices(slab); }

double SlabCosts::new_rows(SlabRange slab, SlabRange before) const {
  std::int64_t rows = 0;
  for (std::int64_t view = 0; view < bands_.views(); ++view) {
    const RowBand band = bands_.band(view, slab);
    rows += band.size();
    if (before.slices() > 0) rows -= common_rows(bands_.band(view, before), band).size();
  }
  return static_cast<double>(rows) / static_cast<double>(bands_.views());
}

RankSchedule schedule_ranks(const SlabCosts& costs, const RankGrid& places, const RankCut& cut, double spread) {
  std::vector<GroupProgress> ranks;
  for (std::vector<SlabRange>& range : slabs_of_groups({{0, costs.slices()}}, places.groups, cut)) {
    ranks.emplace_back().range = std::move(range);
  }
  using Free = std::pair<double, std::size_t>;  // when, and who
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (std::size_t group = 0; group < ranks.size(); ++group) {
    ranks[group].next = taken_by(ranks, group, places.wedges == 1);
    free.emplace(0.0, group);
  }
  RankSchedule schedule;
  while (!free.empty()) {
    const std::size_t group = free.top().second;
    free.pop();
    GroupProgress& own = ranks[group];
    if (!own.next) continue;
    const SlabRange slab = *own.next;
    own.next = taken_by(ranks, group, places.wedges == 1);
    const double rows = costs.new_rows(slab, own.before);
    const double place = ranks.size() > 1 ? static_cast<double>(group) / static_cast<double>(ranks.size() - 1) : 0.5;
    own.seconds +=
        (costs.sum_seconds(slab) + costs.filter_seconds(rows)) / places.wedges / (1 + spread * (2 * place - 1));
    own.rows += rows;
    own.summed_slices += cpu::tall_slices(slab);
    own.slices += slab.slices();
    ++own.slabs;
    own.before = slab;
    schedule.rows_of_all += rows;
    free.emplace(own.seconds, group);
  }
  for (GroupProgress& own : ranks)  // the others were written while the next was summed
    if (own.slabs > 0) own.seconds += costs.write_seconds({0, cut.slab_slices});
  const GroupProgress& last = *std::ranges::max_element(ranks, {}, &GroupProgress::seconds);
  schedule.seconds = last.seconds;
  schedule.rows = last.rows;
  schedule.summed_slices = last.summed_slices;
  schedule.slices = last.slices;
  schedule.slabs = last.slabs;
  return schedule;
}

RankCut best_cut(const SlabCosts& costs, const RankGrid& places, std::int64_t largest_slab) {
  const std::int64_t range = rounded_up((costs.slices() + places.groups - 1) / places.groups, slab_alignment);
  RankCut best;
  double shortest = std::numeric_limits<double>::max();
  for (std::int64_t slices = std::min(range, rounded_up(largest_slab, slab_alignment)); slices > 0;
       slices -= slab_alignment)
    for (const bool even : {true, false}) {
      const RankCut cut{slices, even};
      double seconds = 2 * schedule_ranks(costs, places, cut, 0).seconds;  // most are alike
      for (const double spread : {-usual_spread, usual_spread})
        seconds += schedule_ranks(costs, places, cut, spread).seconds;
      if (seconds >= shortest) continue;
      shortest = seconds;
      best = cut;
    }
  return best;
}

}  // namespace lepus
