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

void HeldViews::prepare(const SweepFrames& frames, float largest_value) {
  frames_ = &frames;
  store_->set_largest_value(largest_value);
  const RowLoaderSetup setup{&job_, &plan_, &bands_, &projector_, &device_, &frames};
  if (buffers_)
    loader_ = upload_rows(setup, *buffers_);
  else
    loader_ =
        read_ahead(setup, static_cast<std::int64_t>(plan_.slabs.size()) * plan_wedges(), [this](std::int64_t batch) {
          const std::int64_t slab = batch / plan_wedges();
          return missing_in_windows(static_cast<std::size_t>(slab), plan_wedge(batch % plan_wedges()));
        });
  held_.clear();
  held_.resize(static_cast<std::size_t>(plan_wedges()));
  held_rows_ = {};
  if (by_bands()) {
    const RowBand all = rows_of_all_views({0, job_.grid.nz});
    for (std::int64_t slot = 0; slot < plan_.held_views; ++slot)
      store_->set_window(slot, all, ViewStore::Keep::nothing);
  }
}

RowBand HeldViews::rows_of_all_views(SlabRange slab) const {
  return rows_for(bands_, projector_.view_order(), 0, views(), slab, job_.wide->rows);
}

HeldViews::Wedge HeldViews::plan_wedge(std::int64_t index) const {
  const std::int64_t first = index * plan_.wedge_views;
  return {resident() ? first : 0, first, std::min(plan_.wedge_views, views() - first)};
}

std::vector<HeldViews::Wedge> HeldViews::wedges(bool again) const {
  if (by_bands() || (resident() && again)) return {{0, 0, views()}};  // all are there: they are summed at once
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

// What each view needs beyond what its window still holds; a function of the plan alone, so that a thread can read
// ahead.
std::vector<RowRequest> HeldViews::missing_in_windows(std::size_t slab, const Wedge& wedge) const {
  const bool rolling = plan_.kind == PlanKind::rolling_window;
  std::vector<RowRequest> list;
  for (std::int64_t i = 0; i < wedge.views; ++i) {
    const std::int64_t view = projector_.view_order()[static_cast<std::size_t>(wedge.first + i)];
    const RowBand held = rolling && slab > 0 ? bands_.band(view, plan_.slabs[slab - 1]) : RowBand{};
    for (const RowBand& part : missing_rows(held, bands_.band(view, plan_.slabs[slab])))
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
  const auto at = std::ranges::find(plan_.slabs, slab.z0, &SlabRange::z0) - plan_.slabs.begin();
  loader_->load(missing_in_windows(static_cast<std::size_t>(at), wedge), *store_, work, filtering, context, false);
  return true;
}

// All views of a wedge with the same rows, for one slab.
bool HeldViews::load_alike(SlabRange slab, const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context,
                           bool free) {
  const auto rows_of = [&](SlabRange range) {
    return rows_for(bands_, projector_.view_order(), wedge.first, wedge.first + wedge.views, range, job_.wide->rows);
  };
  const RowBand rows = rows_of(slab);
  RowBand counted = rows;  // those that no slab before had
  if (slab.z0 > 0) {
    const RowBand before = rows_of({0, slab.z0});
    if (before.first <= rows.first)
      counted.first = std::clamp(before.last, rows.first, rows.last);
    else
      counted.last = std::clamp(before.first, rows.first, rows.last);
  }
  for (std::int64_t i = 0; i < wedge.views; ++i)
    store_->set_window(wedge.first_slot + i, rows, ViewStore::Keep::nothing);
  bring(wedge, rows, counted, work, filtering, context, free);
  return rows.size() > 0;
}

// All rows of a wedge for all slabs; the first worker that comes to it brings it for the others on the card too.
bool HeldViews::load_once(const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context, bool free) {
  const RowBand rows = rows_of_all_views({0, job_.grid.nz});  // the same in every wedge, so that all are summed at once
  if (wedge.views > plan_.wedge_views) return rows.size() > 0;  // all of them, which this queue has waited for
  const std::lock_guard lock(mutex_);
  auto& there = held_[static_cast<std::size_t>(wedge.first / plan_.wedge_views)];
  if (there) {
    work.after(*there);
    return rows.size() > 0;
  }
  for (std::int64_t i = 0; i < wedge.views; ++i)
    store_->set_window(wedge.first_slot + i, rows, ViewStore::Keep::nothing);
  bring(wedge, rows, rows, work, filtering, context, free);
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
      bring({first, first, std::min(at_once, views() - first)}, rows, rows, work, filtering, context, free);
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
