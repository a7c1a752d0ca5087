// SPDX-License-Identifier: Apache-2.0
#include "run/held_views.h"

#include <algorithm>
#include <utility>

#include "device/host/row_filter.h"

namespace lepus {

HeldViews::HeldViews(const SweepJob& job, const Plan& plan, const BandTable& bands, Device& device,
                     const Projector& projector)
    : job_(job), plan_(plan), bands_(bands), device_(device), projector_(projector), rows_held_(device.make_event()) {
  if (!device.info().host) buffers_.emplace(device, plan.wedge_views * plan.held_rows * job.uploaded_row_bytes());
  store_ = projector.make_view_store(plan.held_views, plan.held_rows);
}

void HeldViews::prepare(const SweepFrames& frames, float largest_value, const Part& part, SlabTickets& tickets) {
  loader_.reset();
  frames_ = &frames;
  part_ = part;
  tickets_ = &tickets;
  slabs_.clear();
  begun_ = 0;
  store_->set_largest_value(largest_value);
  const RowLoaderSetup setup{&job_, &plan_, &bands_, &projector_, &device_, &frames};
  if (buffers_)
    loader_ = upload_rows(setup, *buffers_);
  else
    loader_ = read_ahead(
        setup,
        [this](std::int64_t batch) {
          return missing_in_windows(batch / plan_wedges(), plan_wedge(batch % plan_wedges()));
        },
        plan_wedges());  // of the next slab while one is summed
  held_.clear();
  held_.resize(static_cast<std::size_t>(plan_wedges()));
  held_rows_ = {};
  if (by_bands()) {
    const RowBand all = rows_of_all_views(part_.slices);
    for (std::int64_t slot = 0; slot < plan_.held_views; ++slot)
      store_->set_window(slot, all, ViewStore::Keep::nothing);
  }
}

RowBand HeldViews::rows_of_wedge(const Wedge& wedge, SlabRange slab) const {
  return rows_for(bands_, projector_.view_order(), wedge.first, wedge.first + wedge.views, slab, job_.wide->rows);
}

// Those that slices below z0 do not need: whoever makes these counts their bad pixels.
RowBand HeldViews::counted_rows(const Wedge& wedge, RowBand rows, std::int64_t z0) const {
  if (z0 == 0) return rows;
  const RowBand before = rows_of_wedge(wedge, {0, z0});
  if (before.first <= rows.first) return {std::clamp(before.last, rows.first, rows.last), rows.last};
  return {rows.first, std::clamp(before.first, rows.first, rows.last)};
}

HeldViews::Wedge HeldViews::plan_wedge(std::int64_t index) const {
  const std::int64_t first = index * plan_.wedge_views;
  return {resident() ? first : 0, part_.first + first, std::min(plan_.wedge_views, views() - first)};
}

std::vector<HeldViews::Wedge> HeldViews::wedges(bool again) const {
  if (by_bands() || (resident() && again))
    return {{0, part_.first, views()}};  // all are there: they are summed at once
  std::vector<Wedge> parts;
  for (std::int64_t i = 0; i < plan_wedges(); ++i) parts.push_back(plan_wedge(i));
  return parts;
}

RowRequest HeldViews::request(std::int64_t position, std::int64_t slot, RowBand rows) const {
  const std::int64_t view = projector_.view_order()[static_cast<std::size_t>(position)];
  return {view, position, slot, rows, job_.resampler ? job_.resampler->recorded_rows(view, rows) : rows, rows};
}

bool HeldViews::load(SlabRange slab, const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context,
                     bool threads_are_free) {
  if (!projector_.rows_alike()) return load_windows(slab, wedge, work, filtering, context);
  if (by_bands()) return load_band(slab, work, filtering, context, threads_are_free);
  if (resident()) return load_once(wedge, work, filtering, context, threads_are_free);
  return load_alike(slab, wedge, work, filtering, context, threads_are_free);
}

std::optional<SlabRange> HeldViews::next_slab(int worker) {
  if (buffers_) return tickets_->next(worker);
  return slab_ahead(begun_++);
}

std::optional<SlabRange> HeldViews::slab_ahead(std::int64_t index) {
  const std::lock_guard lock(slabs_mutex_);
  while (std::ssize(slabs_) <= index) {
    const auto slab = tickets_->next(0);
    if (!slab) return std::nullopt;
    slabs_.push_back(*slab);
  }
  return slabs_[static_cast<std::size_t>(index)];
}

// What each view needs beyond what its window still holds; a function of the slabs alone, so that a thread can read
// ahead.
std::optional<std::vector<RowRequest>> HeldViews::missing_in_windows(std::int64_t index, const Wedge& wedge) {
  const auto slab = slab_ahead(index);
  if (!slab) return std::nullopt;
  const bool rolling = plan_.kind == PlanKind::rolling_window && index > 0;
  const SlabRange before = rolling ? *slab_ahead(index - 1) : *slab;
  std::vector<RowRequest> list;
  for (std::int64_t i = 0; i < wedge.views; ++i) {
    const std::int64_t view = projector_.view_order()[static_cast<std::size_t>(wedge.first + i)];
    const RowBand held = rolling ? bands_.band(view, before) : RowBand{};
    for (const RowBand& part : missing_rows(held, bands_.band(view, *slab)))
      for (std::int64_t row = part.first; row < part.last; row += host::rows_at_once)
        list.push_back(
            request(wedge.first + i, wedge.first_slot + i, {row, std::min(row + host::rows_at_once, part.last)}));
  }
  return list;
}

bool HeldViews::load_windows(SlabRange slab, const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context) {
  const auto keep = plan_.kind == PlanKind::rolling_window ? ViewStore::Keep::rows : ViewStore::Keep::nothing;
  filtering.around(work, [&] {
    context.threads.parallel_for(0, wedge.views, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t view = projector_.view_order()[static_cast<std::size_t>(wedge.first + i)];
        store_->set_window(wedge.first_slot + i, bands_.band(view, slab), keep);
      }
    });
  });
  loader_->load(*missing_in_windows(begun_ - 1, wedge), *store_, work, filtering, context, false);
  return true;
}

// All views of a wedge with the same rows, for one slab.
bool HeldViews::load_alike(SlabRange slab, const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context,
                           bool free) {
  const RowBand rows = rows_of_wedge(wedge, slab);
  for (std::int64_t i = 0; i < wedge.views; ++i)
    store_->set_window(wedge.first_slot + i, rows, ViewStore::Keep::nothing);
  bring(wedge, rows, counted_rows(wedge, rows, slab.z0), work, filtering, context, free);
  return rows.size() > 0;
}

// All rows of a wedge for all slabs; the first worker that comes to it brings it for the others on the card too.
bool HeldViews::load_once(const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context, bool free) {
  const RowBand rows = rows_of_all_views(part_.slices);  // the same in every wedge, so that all are summed at once
  if (wedge.views > plan_.wedge_views) return rows.size() > 0;  // all of them, which this queue has waited for
  const std::lock_guard lock(mutex_);
  auto& there = held_[static_cast<std::size_t>((wedge.first - part_.first) / plan_.wedge_views)];
  if (there) {
    work.after(*there);
    return rows.size() > 0;
  }
  for (std::int64_t i = 0; i < wedge.views; ++i)
    store_->set_window(wedge.first_slot + i, rows, ViewStore::Keep::nothing);
  bring(wedge, rows, counted_rows(wedge, rows, part_.slices.z0), work, filtering, context, free);
  there = device_.make_event();
  there->mark(work);
  return rows.size() > 0;
}

// Rows of all views that this slab needs and none before did: corrected frames come so.
bool HeldViews::load_band(SlabRange slab, Queue& work, WorkTimes& filtering, Context& context, bool free) {
  const RowBand needed = rows_of_all_views(slab);
  const std::lock_guard lock(mutex_);
  work.after(*rows_held_);  // what another worker brought
  if (needed.size() == 0 || (held_rows_.first <= needed.first && needed.last <= held_rows_.last)) return true;
  if (held_rows_.size() == 0) held_rows_ = {needed.first, needed.first};
  for (const RowBand rows : {RowBand{needed.first, held_rows_.first}, RowBand{held_rows_.last, needed.last}}) {
    if (rows.size() <= 0) continue;
    // As many views at a time as the buffers for wedges take.
    const std::int64_t block = projector_.view_block();
    const std::int64_t at_once = plan_.wedge_views * plan_.held_rows / rows.size() / block * block;
    for (std::int64_t first = 0; first < views(); first += at_once) {
      context.cancel.check();
      bring({first, part_.first + first, std::min(at_once, views() - first)}, rows, rows, work, filtering, context,
            free);
    }
  }
  held_rows_ = joined_rows(needed, held_rows_);
  rows_held_->mark(work);
  return true;
}

void HeldViews::bring(const Wedge& wedge, RowBand rows, RowBand counted, Queue& work, WorkTimes& filtering,
                      Context& context, bool free) {
  if (rows.size() == 0) return;
  std::vector<RowRequest> requests;
  for (std::int64_t i = 0; i < wedge.views; ++i) {
    requests.push_back(request(wedge.first + i, wedge.first_slot + i, rows));
    requests.back().counted = counted;
  }
  loader_->load(requests, *store_, work, filtering, context, free);
}

}  // namespace lepus
