// SPDX-License-Identifier: Apache-2.0
// The filtered views that a device holds: which rows of which views a slab needs, which are there already, and what the
// plan keeps. Workers on one card share them where all views stay there; where views pass by, each has its own.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "run/row_loader.h"
#include "run/slab_tickets.h"

namespace lepus {

class HeldViews {
public:
  HeldViews(const SweepJob& job, const Plan& plan, const BandTable& bands, Device& device, const Projector& projector);

  // What the frames need for slabs in these slices, and positions [first, last) of the order of summation; nothing is
  // held afterwards. Before any worker runs: taking memory makes a whole card wait. The tickets outlive the frames
  // here.
  struct Part {
    SlabRange slices;
    std::int64_t first, last;
  };
  void prepare(const SweepFrames& frames, float largest_value, const Part& part, SlabTickets& tickets);
  void forget_frames() { loader_.reset(); }

  // The next slab of a worker; none: all are made.
  std::optional<SlabRange> next_slab(int worker);

  // Views [first, first + views) of the order of summation, in slots [first_slot, ...) of the store.
  struct Wedge {
    std::int64_t first_slot = 0, first = 0, views = 0;
  };
  // The parts in which the views of a slab are brought and summed. again: the caller has loaded all that stays.
  std::vector<Wedge> wedges(bool again) const;
  // Work given to the queue from now on finds what the slab needs of the wedge held; false: it needs nothing of it.
  bool load(SlabRange slab, const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context,
            bool threads_are_free);
  const ViewStore& store() const { return *store_; }

  void report_bad_pixels() { loader_->report_bad_pixels(); }

private:
  std::int64_t views() const { return part_.last - part_.first; }
  std::int64_t plan_wedges() const { return (views() + plan_.wedge_views - 1) / plan_.wedge_views; }
  bool resident() const { return plan_.kind == PlanKind::resident_views; }
  bool by_bands() const { return resident() && frames_->corrected; }
  Wedge plan_wedge(std::int64_t index) const;
  RowBand rows_of_wedge(const Wedge& wedge, SlabRange slab) const;
  RowBand rows_of_all_views(SlabRange slab) const { return rows_of_wedge({0, part_.first, views()}, slab); }
  RowBand counted_rows(const Wedge& wedge, RowBand rows, std::int64_t z0) const;
  RowRequest request(std::int64_t position, std::int64_t slot, RowBand rows) const;

  bool load_alike(SlabRange slab, const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context, bool free);
  bool load_once(const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context, bool free);
  bool load_band(SlabRange slab, Queue& work, WorkTimes& filtering, Context& context, bool free);
  bool load_windows(SlabRange slab, const Wedge& wedge, Queue& work, WorkTimes& filtering, Context& context);
  void bring(const Wedge& wedge, RowBand rows, RowBand counted, Queue& work, WorkTimes& filtering, Context& context,
             bool free);
  std::optional<std::vector<RowRequest>> missing_in_windows(std::int64_t slab, const Wedge& wedge);
  std::optional<SlabRange> slab_ahead(std::int64_t index);

  const SweepJob& job_;
  const Plan& plan_;
  const BandTable& bands_;
  Device& device_;
  const Projector& projector_;
  const SweepFrames* frames_ = nullptr;
  Part part_{{0, 0}, 0, 0};
  SlabTickets* tickets_ = nullptr;
  std::unique_ptr<ViewStore> store_;
  std::optional<UploadBuffers> buffers_;  // of a device with memory of its own
  std::unique_ptr<RowLoader> loader_;

  // Where a thread reads ahead it takes the tickets: the slabs so far, in order, and how many the worker has begun.
  std::mutex slabs_mutex_;
  std::vector<SlabRange> slabs_;
  std::int64_t begun_ = 0;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Event>> held_;  // per wedge, where all views stay: when its rows are there
  RowBand held_rows_;                         // of all views, where they come by bands
  std::unique_ptr<Event> rows_held_;
};

}  // namespace lepus
