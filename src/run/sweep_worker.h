// SPDX-License-Identifier: Apache-2.0
// One device's share of the sweep: takes slabs from a queue until none is left, sums them over the views, and downloads
// and writes each while the next is summed.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include "run/held_views.h"
#include "run/slab_tickets.h"

namespace lepus {

class SweepWorker {
public:
  // `number` tells it from the others.
  SweepWorker(const SweepJob& job, const Plan& plan, Device& device, const Projector& projector, HeldViews& views,
              int number);
  ~SweepWorker();

  // threads_are_free: frames may be read with the context's threads (one worker, which does not compute on them).
  SweepTimes run(SlabTickets& tickets, VolumeWriter& writer, const SlabAccount& account, Context& context,
                 bool threads_are_free);

private:
  struct Slab {  // one of two
    std::unique_ptr<SlabStore> store;
    std::unique_ptr<Queue> down;
    std::vector<Block> landing;  // pieces on their way to the writer
    std::unique_ptr<Event> summed;
    std::future<void> written;
  };

  void sum(const HeldViews::Wedge& wedge, SlabRange slab, SlabStore& into, Context& context);
  std::uint64_t write(SlabRange slab, Slab& from, VolumeWriter& writer, const SlabAccount& account);

  const SweepJob& job_;
  const Plan& plan_;
  Device& device_;
  const Projector& projector_;
  HeldViews& views_;
  int number_;
  std::unique_ptr<Queue> work_;
  std::vector<Slab> slabs_;
  WorkTimes filtering_, summing_;
};

}  // namespace lepus
