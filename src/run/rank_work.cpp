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

std::int64_t slab_for_ranks(std::int64_t slices, int groups) {
  const std::int64_t range = rounded_up((slices + groups - 1) / groups, slab_alignment);
  return std::min(range, std::max(worthwhile_slab, rounded_up(range / 4, slab_alignment)));
}

RankWork::RankWork(Ranks& ranks, const VolumeGrid& grid, const RankGrid& places, const std::vector<SlabRange>& missing,
                   std::int64_t slab_slices)
    : ranks_(ranks),
      grid_(places),
      slice_voxels_(grid.nx * grid.ny),
      group_(ranks.rank() / places.wedges),
      member_(ranks.rank() % places.wedges),
      exhausted_(static_cast<std::size_t>(places.groups)) {
  for (const SlabRange& part : missing)
    for (std::int64_t z = part.z0, end = 0; z < part.z1; z = end) {
      end = std::min(part.z1, (z / slab_slices + 1) * slab_slices);
      slabs_.push_back({z, end});
    }
}

RankWork::Range RankWork::range_of(int group) const {
  const std::int64_t slabs = std::ssize(slabs_);
  return {slabs * group / grid_.groups, slabs * (group + 1) / grid_.groups};
}

SlabRange RankWork::range() const {
  if (!works()) return {0, 0};
  const Range own = range_of(group_);
  if (own.size() == 0) return {0, 0};
  return {slabs_[static_cast<std::size_t>(own.first)].z0, slabs_[static_cast<std::size_t>(own.last - 1)].z1};
}

std::optional<SlabRange> RankWork::next() {
  if (!works()) return std::nullopt;
  const Range own = range_of(group_);
  if (grid_.wedges > 1)  // all members of the group make the same
    return given_ < own.size() ? std::optional(slabs_[static_cast<std::size_t>(own.first + given_++)]) : std::nullopt;
  if (own_left_) {
    const Taken taken = taken_of(ranks_.fetch_add(first_queue + group_, from_front));
    if (!taken.all_of(own.size())) return slabs_[static_cast<std::size_t>(own.first + taken.front)];
    own_left_ = false;
    exhausted_[static_cast<std::size_t>(group_)] = true;
  }
  return taken_over();
}

std::optional<SlabRange> RankWork::taken_over() {
  for (int step = 1; step < grid_.groups; ++step) {
    const int other = (group_ + step) % grid_.groups;
    if (exhausted_[static_cast<std::size_t>(other)]) continue;
    const Range range = range_of(other);
    const Taken taken = taken_of(ranks_.fetch_add(first_queue + other, from_back));
    if (!taken.all_of(range.size())) return slabs_[static_cast<std::size_t>(range.last - 1 - taken.back)];
    exhausted_[static_cast<std::size_t>(other)] = true;
  }
  return std::nullopt;
}

SweepWork RankWork::work() {
  SweepWork work;
  work.parts = [this] { return next(); };
  for (const SlabRange& slab : slabs_) work.slices += slab.slices();
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
