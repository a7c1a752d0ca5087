// SPDX-License-Identifier: Apache-2.0
#include "run/slab_tickets.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "run/plan_models.h"

namespace lepus {

SlabTickets::SlabTickets(VolumeParts parts, SlabSizes sizes, int workers)
    : parts_(std::move(parts)), sizes_(sizes), workers_(static_cast<std::size_t>(workers)) {}

SlabTickets::SlabTickets(std::int64_t slices, SlabSizes sizes, int workers)
    : SlabTickets([] { return std::optional<SlabRange>(); }, sizes, workers) {
  end_ = slices;
}

double SlabTickets::share(int worker) const {
  double known = 0, sum = 0;
  for (const Worker& w : workers_) known = std::max(known, w.slices_per_second);
  // Who has not shown anything yet counts as much as the fastest.
  const auto speed = [&](const Worker& w) { return w.slices_per_second > 0 ? w.slices_per_second : known; };
  for (const Worker& w : workers_) sum += speed(w);
  return sum > 0 ? speed(workers_[static_cast<std::size_t>(worker)]) / sum : 1.0 / static_cast<double>(workers_.size());
}

std::optional<SlabRange> SlabTickets::next(int worker) {
  const std::lock_guard lock(mutex_);
  while (!over_ && next_ >= end_) {
    const auto part = parts_();
    over_ = !part;
    if (part) next_ = part->z0, end_ = part->z1;
  }
  if (over_) return std::nullopt;
  const std::int64_t left = end_ - next_;
  const double mine = share(worker), equal = 1.0 / static_cast<double>(workers_.size());
  const double limit = static_cast<double>(sizes_.largest) * std::min(1.0, mine / equal);
  const auto wanted =
      static_cast<std::int64_t>(std::min(limit, std::ceil(static_cast<double>(left) * mine * sizes_.part)));
  std::int64_t size =
      std::clamp(rounded_up(std::max<std::int64_t>(wanted, 1), slab_alignment), sizes_.least, sizes_.largest);
  // A part of the volume is cut where the whole would be: its rows are then never more than the plan expects.
  if (sizes_.least == sizes_.largest) size -= next_ % size;
  const SlabRange range{next_, std::min(end_, next_ + size)};
  next_ = range.z1;
  return range;
}

void SlabTickets::done(int worker, std::int64_t slices, double seconds) {
  const std::lock_guard lock(mutex_);
  Worker& w = workers_[static_cast<std::size_t>(worker)];
  w.done += slices;
  if (seconds > 0) w.slices_per_second = static_cast<double>(w.done) / seconds;
}

void SlabTickets::stop() {
  const std::lock_guard lock(mutex_);
  over_ = true;
}

std::vector<SlabRange> expected_slabs(std::int64_t slices, SlabSizes sizes, int workers) {
  SlabTickets tickets(slices, sizes, workers);
  std::vector<SlabRange> slabs;
  while (const auto slab = tickets.next(0)) slabs.push_back(*slab);
  return slabs;
}

}  // namespace lepus
