// SPDX-License-Identifier: Apache-2.0
// What each rank makes of a volume. Ranks stand on a grid of groups x wedges: a group makes slabs, its members share
// out the views. Slabs need no sum, so views are split only where there are more ranks than slabs. Without wedges a
// rank begins with a range of its own, from the front, where rows roll on from slab to slab; a rank that has finished
// takes slabs from the back of others' ranges, so that slower ones make fewer. A wedge's sum is added to that of the
// wedge before it and passed on, piece by piece while the next slab is summed: the order is that of the ranks, whatever
// the timing.
#pragma once

#include <cstdint>
#include <vector>

#include "run/sweep.h"
#include <lepus/ranks.h>

namespace lepus {

struct RankGrid {
  int groups = 1, wedges = 1;  // rank r: group r / wedges, member r % wedges; ranks beyond have nothing to do
};
// slabs: as many as there can be; wedges: as many as the views can be cut into.
RankGrid rank_grid(int ranks, std::int64_t slabs, std::int64_t wedges);
RankGrid rank_grid_of(int ranks, std::int64_t slabs, int wedges);  // with so many wedges

// How tall the slabs of ranks with devices of their own memory should be, which bring the rows of each anew; those of
// hosts are in rank_schedule.h.
std::int64_t slab_for_devices(std::int64_t slices, int groups);

// How slices become slabs and ranges: at multiples of slab_slices.
struct RankCut {
  std::int64_t slab_slices = slab_alignment;
  // Ranges have as many slices as each other, but for slab_alignment, and a slab ends where they do; or else as many
  // slabs.
  bool even_ranges = false;
};
// The slabs of each group's range. missing: what of the volume is to be made, ascending.
std::vector<std::vector<SlabRange>> slabs_of_groups(const std::vector<SlabRange>& missing, int groups,
                                                    const RankCut& cut);

class RankWork {
public:
  // The same on all ranks.
  RankWork(Ranks& ranks, const VolumeGrid& grid, const RankGrid& places, const std::vector<SlabRange>& missing,
           const RankCut& cut);

  bool works() const { return group_ < grid_.groups; }
  bool writes() const { return works() && member_ + 1 == grid_.wedges; }
  SlabRange range() const;  // the slices between the first and the last slab that are this rank's to begin with
  const RankGrid& grid() const { return grid_; }
  SweepWork work();
  // Adds this wedge to those before it; true where this rank has the sum of all and writes it. Null without wedges.
  std::function<bool(SlabRange, float*)> complete();

private:
  const std::vector<SlabRange>& range_of(int group) const { return ranges_[static_cast<std::size_t>(group)]; }
  std::optional<SlabRange> next();
  std::optional<SlabRange> taken_over();

  Ranks& ranks_;
  RankGrid grid_;
  std::int64_t slice_voxels_;
  std::vector<std::vector<SlabRange>> ranges_;  // of the groups
  int group_, member_;
  bool own_left_ = true;
  std::vector<bool> exhausted_;  // groups
  std::int64_t given_ = 0;       // where a group's slabs are its own
};

}  // namespace lepus
