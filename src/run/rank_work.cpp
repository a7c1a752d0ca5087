// SPDX-License-Identifier: Apache-2.0
#include "run/rank_work.h"

#include <algorithm>

#include "run/plan_models.h"

namespace lepus {
namespace {

// A slab of a quarter of a rank's range can be taken over at the end; below this it costs more than it brings.
constexpr std::int64_t worthwhile_slab = 192;
// A queue is one number: how many slabs were taken from its front, and from its back.
constexpr std::int64_t from_front = 1, from_back = std::int64_t{1} << 32;
constexpr int tags = 32768;

struct Taken {
  std::int64_t front, back;
  bool all_of(std::int64_t slabs) const { return front + back >= slabs; }
};
Taken taken_of(std::int64_t queue) { return {queue % from_back, queue / from_back}; }

}  // namespace

RankGrid rank_grid_of(int ranks, std::int64_t slabs, int wedges) {
  return {static_cast<int>(std::min<std::int64_t>(slabs, ranks / wedges)), wedges};
}

RankGrid rank_grid(int ranks, std::int64_t slabs, std::int64_t wedges) {
  RankGrid best;
  for (int w = 1; w <= std::min<std::int64_t>(ranks, wedges); ++w) {
    const RankGrid grid = rank_grid_of(ranks, slabs, w);
    if (grid.groups * grid.wedges > best.groups * best.wedges) best = grid;
  }
  return best;
}

std::int64_t slab_for_devices(std::int64_t slices, int groups) {
  const std::int64_t range = rounded_up((slices + groups - 1) / groups, slab_alignment);
  return std::min(range, std::max(worthwhile_slab, rounded_up(range / 4, slab_alignment)));
}

std::vector<std::vector<SlabRange>> slabs_of_groups(const std::vector<SlabRange>& missing, int groups,
                                                    const RankCut& cut) {
  const auto cut_at = [&](std::int64_t unit, const auto& each) {
    for (const SlabRange& part : missing)
      for (std::int64_t z = part.z0, end = 0; z < part.z1; z = end) {
        end = std::min(part.z1, (z / unit + 1) * unit);
        each(SlabRange{z, end});
      }
  };
  const std::int64_t unit = cut.even_ranges ? slab_alignment : cut.slab_slices;
  std::int64_t pieces = 0, piece = 0;
  cut_at(unit, [&](SlabRange) { ++pieces; });
  std::vector<std::vector<SlabRange>> ranges(static_cast<std::size_t>(groups));
  std::size_t group = 0;
  cut_at(unit, [&](SlabRange slices) {
    while (piece >= pieces * static_cast<std::int64_t>(group + 1) / groups) ++group;
    ++piece;
    std::vector<SlabRange>& range = ranges[group];
    // Neighbours within a slab are one.
    if (!range.empty() && range.back().z1 == slices.z0 && slices.z0 % cut.slab_slices != 0)
      range.back().z1 = slices.z1;
    else
      range.push_back(slices);
  });
  return ranges;
}

RankWork::RankWork(Ranks& ranks, const VolumeGrid& grid, const RankGrid& places, const std::vector<SlabRange>& missing,
                   const RankCut& cut)
    : ranks_(ranks),
      grid_(places),
      slice_voxels_(grid.nx * grid.ny),
      ranges_(slabs_of_groups(missing, places.groups, cut)),
      group_(ranks.rank() / places.wedges),
      member_(ranks.rank() % places.wedges),
      exhausted_(static_cast<std::size_t>(places.groups)) {}

SlabRange RankWork::range() const {
  if (!works() || range_of(group_).empty()) return {0, 0};
  return {range_of(group_).front().z0, range_of(group_).back().z1};
}

std::optional<SlabRange> RankWork::next() {
  if (!works()) return std::nullopt;
  const std::vector<SlabRange>& own = range_of(group_);
  if (grid_.wedges > 1)  // all members of the group make the same
    return given_ < std::ssize(own) ? std::optional(own[static_cast<std::size_t>(given_++)]) : std::nullopt;
  if (own_left_) {
    const Taken taken = taken_of(ranks_.fetch_add(first_queue + group_, from_front));
    if (!taken.all_of(std::ssize(own))) return own[static_cast<std::size_t>(taken.front)];
    own_left_ = false;
    exhausted_[static_cast<std::size_t>(group_)] = true;
  }
  return taken_over();
}

std::optional<SlabRange> RankWork::taken_over() {
  for (int step = 1; step < grid_.groups; ++step) {
    const int other = (group_ + step) % grid_.groups;
    if (exhausted_[static_cast<std::size_t>(other)]) continue;
    const std::vector<SlabRange>& range = range_of(other);
    const Taken taken = taken_of(ranks_.fetch_add(first_queue + other, from_back));
    if (!taken.all_of(std::ssize(range))) return range[range.size() - 1 - static_cast<std::size_t>(taken.back)];
    exhausted_[static_cast<std::size_t>(other)] = true;
  }
  return std::nullopt;
}

SweepWork RankWork::work() {
  SweepWork work;
  work.parts = [this] { return next(); };
  for (const auto& range : ranges_)
    for (const SlabRange& slab : range) work.slices += slab.slices();
  // Rank 0 shows the steps of all; a member counts its own views alone.
  work.slices *= grid_.wedges;
  work.wedge = member_;
  work.wedges = grid_.wedges;
  return work;
}

std::function<bool(SlabRange, float*)> RankWork::complete() {
  if (grid_.wedges == 1) return {};
  return [this](SlabRange slices, float* voxels) {
    const std::int64_t count = slices.slices() * slice_voxels_;
    const int tag = static_cast<int>(slices.z0 % tags);
    if (member_ > 0) {
      std::vector<float> before(static_cast<std::size_t>(count));
      ranks_.receive(ranks_.rank() - 1, tag, before.data(), count);
      for (std::int64_t i = 0; i < count; ++i) voxels[i] = before[static_cast<std::size_t>(i)] + voxels[i];
    }
    if (member_ + 1 == grid_.wedges) return true;
    ranks_.send(ranks_.rank() + 1, tag, voxels, count);
    return false;
  };
}

}  // namespace lepus
