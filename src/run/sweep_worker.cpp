// SPDX-License-Identifier: Apache-2.0
#include "run/sweep_worker.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "run/plan_models.h"
#include "run/run_state.h"

namespace lepus {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_from(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

SweepWorker::SweepWorker(const SweepJob& job, const Plan& plan, Device& device, const Projector& projector,
                         HeldViews& views, int number)
    : job_(job),
      plan_(plan),
      device_(device),
      projector_(projector),
      views_(views),
      number_(number),
      work_(device.make_queue()) {
  for (int i = 0; i < plan.slab_buffers; ++i) {
    Slab& slab = slabs_.emplace_back();
    slab.store = projector.make_slab_store(std::min(plan.slab_slices, job.grid.nz));
    slab.down = device.make_queue(QueueRank::beside);
    slab.summed = device.make_event();
  }
  if (device.info().host) return;
  // What the row filter will need is taken now, not in the middle of the work.
  const ScratchScope scope(*work_);
  work_->scratch<float>(plan.wedge_views * plan.held_rows * job.wide->columns);
}

SweepWorker::~SweepWorker() {
  for (Slab& slab : slabs_)
    if (slab.written.valid()) slab.written.wait();
}

// In pieces, so that the progress moves where the device takes its time.
void SweepWorker::sum(const HeldViews::Wedge& wedge, SlabRange slab, SlabStore& into, Context& context) {
  const std::int64_t piece = std::min(projector_.views_at_once(), wedge.views);
  for (std::int64_t done = 0; done < wedge.views; done += piece) {
    const std::int64_t views = std::min(piece, wedge.views - done);
    summing_.around(*work_, [&] {
      projector_.back({&views_.store(), wedge.first_slot + done, wedge.first + done, views}, into, slab, *work_);
    });
    context.progress.advance(views * slab.slices());
  }
}

// Returns the checksum of what was written, where it is wanted.
std::uint64_t SweepWorker::write(SlabRange range, Slab& from, VolumeWriter& writer, const SlabAccount& account) {
  from.down->after(*from.summed);
  if (float* there = account.complete ? nullptr : writer.in_memory(range.z0)) {
    from.store->download(range.z0, range.z1, there, *from.down);
    from.down->wait();
    return account.checksums ? slab_checksum(job_.grid, range, there) : 0;
  }
  // In pieces: one is written while the next comes down.
  const std::int64_t piece = plan_.landing_slices, buffers = device_.info().host ? 1 : 2;
  while (static_cast<std::int64_t>(from.landing.size()) < buffers)
    from.landing.push_back(device_.allocate(piece * job_.grid.nx * job_.grid.ny * float_bytes, Place::host));
  const auto landing = [&](std::int64_t turn) {
    return reinterpret_cast<float*>(from.landing[static_cast<std::size_t>(turn % buffers)].get());
  };
  const auto download = [&](std::int64_t turn) {
    const std::int64_t z = range.z0 + turn * piece;
    if (z < range.z1) from.store->download(z, std::min(range.z1, z + piece), landing(turn), *from.down);
  };
  std::uint64_t sum = 0;
  download(0);
  for (std::int64_t turn = 0, z = range.z0; z < range.z1; ++turn, z += piece) {
    from.down->wait();
    if (buffers > 1) download(turn + 1);
    const SlabRange part{z, std::min(range.z1, z + piece)};
    if (!account.complete || account.complete(part, landing(turn))) {
      if (account.checksums) sum += slab_checksum(job_.grid, part, landing(turn));
      writer.write(part.z0, part.z1, landing(turn));
    }
    if (buffers == 1) download(turn + 1);
  }
  return sum;
}

SweepTimes SweepWorker::run(SlabTickets& tickets, VolumeWriter& writer, const SlabAccount& account, Context& context,
                            bool threads_are_free) {
  filtering_ = WorkTimes();
  summing_ = WorkTimes();
  SweepTimes times;
  const auto wait_for_writing = [&](Slab& slab) {
    const auto start = Clock::now();
    if (slab.written.valid()) slab.written.get();
    times.write_wait_s += seconds_from(start);
  };
  bool again = false;
  std::size_t turn = 0;
  const auto start = Clock::now();
  while (const auto slab = views_.next_slab(number_)) {
    Slab& into = slabs_[turn++ % slabs_.size()];
    bool begun = false;
    for (const HeldViews::Wedge& wedge : views_.wedges(again)) {
      context.cancel.check();
      const bool needed = views_.load(*slab, wedge, *work_, filtering_, context, threads_are_free);
      if (!begun) {  // what was in this buffer is written while the first rows are brought
        wait_for_writing(into);
        into.store->begin(*slab, *work_);
        begun = true;
      }
      if (needed)
        sum(wedge, *slab, *into.store, context);
      else
        context.progress.advance(wedge.views * slab->slices());
    }
    again = true;
    into.store->finish(*work_);
    into.summed->mark(*work_);
    into.written = std::async(std::launch::async, [this, slab = *slab, start, &into, &writer, &tickets, &account] {
      const std::uint64_t checksum = write(slab, into, writer, account);
      if (account.finished) account.finished(slab, checksum);
      tickets.done(number_, slab.slices(), seconds_from(start));
    });
  }
  for (std::size_t i = 0; i < slabs_.size(); ++i) wait_for_writing(slabs_[(turn + i) % slabs_.size()]);
  work_->wait();
  times.filter_s = filtering_.seconds();
  times.backproject_s = summing_.seconds();
  return times;
}

}  // namespace lepus
