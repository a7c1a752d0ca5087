// SPDX-License-Identifier: Apache-2.0
// How long ranks whose CPUs compute take over a volume that is cut into slabs of one height: the rules of rank_work.h
// played through on paper with what each slab costs. The height of their slabs is chosen by it, and the time of a
// cluster predicted.
#pragma once

#include <cstdint>
#include <vector>

#include "device/projector.h"
#include "run/plan.h"
#include "run/rank_work.h"

namespace lepus {

// What slabs cost one rank, from some views that stand for all.
class SlabCosts {
public:
  // speed: of one rank.
  SlabCosts(const ScanGeometry& geometry, const VolumeGrid& grid, double cylinder_mm, Interpolation interpolation,
            const MachineSpeed& speed);
  std::int64_t slices() const { return slices_; }
  double sum_seconds(SlabRange slab) const;
  // Of one view, on average: those that the slab before it did not need.
  double new_rows(SlabRange slab, SlabRange before) const;
  double filter_seconds(double rows_of_one_view) const { return rows_of_one_view * row_seconds_; }
  double write_seconds(SlabRange slab) const { return static_cast<double>(slab.slices()) * slice_write_seconds_; }

private:
  BandTable bands_;  // of the views that stand for all
  std::int64_t slices_;
  double slice_seconds_, row_seconds_;  // of a tall slab; of one row of all views
  double slice_write_seconds_;
};

struct RankSchedule {
  double seconds = 0;  // until the last rank has filtered, summed and written
  // Of that rank:
  double rows = 0;           // of one view
  double summed_slices = 0;  // as many of a tall slab take as long
  std::int64_t slices = 0, slabs = 0;
  double rows_of_all = 0;  // of one view, read by all ranks together
};

// Of the whole volume. spread: the fastest rank is this much faster than the mean, the slowest as much slower.
RankSchedule schedule_ranks(const SlabCosts& costs, const RankGrid& places, const RankCut& cut, double spread);

// The cut with which the last rank ends first, whether ranks are alike or not: low slabs cost more per slice, and tall
// ones leave nothing to take over.
RankCut best_cut(const SlabCosts& costs, const RankGrid& places, std::int64_t largest_slab);

}  // namespace lepus
