// SPDX-License-Identifier: Apache-2.0
#include "run/device_worker.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "device/cuda/slab_kernels.h"
#include "run/sizes.h"

namespace lepus {

void OrderedWriter::write(std::int64_t z0, std::int64_t z1, const float* slices) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || next_ == z0; });
  if (stopped_)
    throw Error(ErrorKind::cancelled, {.what = "another device stopped", .where = {}, .why = {}, .hint = {}});
  lock.unlock();  // nobody else can be next
  writer_.write(z0, z1, slices);
  lock.lock();
  next_ = z1;
  changed_.notify_all();
}

void OrderedWriter::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

DeviceWorker::DeviceWorker(const DeviceJob& job, const DevicePlan& plan, const cuda::Backprojection& backprojection,
                           DeviceViews& views, int number, int device)
    : job_(job),
      plan_(plan),
      backprojection_(backprojection),
      views_(views),
      number_(number),
      device_((cuda::use_device(device), device)) {
  for (int i = 0; i < plan.slab_buffers; ++i) {
    slabs_.emplace_back();
    slabs_.back().voxels =
        cuda::DeviceBuffer<float>(job.grid.nx * job.grid.ny * std::min(plan.slab_slices, job.grid.nz));
  }
}

DeviceWorker::~DeviceWorker() {
  for (Slab& slab : slabs_)
    if (slab.coming_down.valid()) slab.coming_down.wait();
}

void DeviceWorker::sum(std::int64_t first_slot, std::int64_t first_view, std::int64_t views, SlabRange slab,
                       const Slab& into) {
  summing_.around(work_.get(), [&] {
    backprojection_.accumulate({&views_.store(), first_slot, first_view, views}, {into.voxels.data(), slab.z0, slab.z1},
                               work_.get());
  });
}

void DeviceWorker::bring_down(SlabRange range, Slab& from, OrderedWriter& writer) {
  cuda::use_device(device_);
  const std::int64_t slice = job_.grid.nx * job_.grid.ny;
  from.down.wait_for(from.summed.get());
  const auto copy = [&](float* to, std::int64_t z0, std::int64_t z1) {
    cuda::check(cudaMemcpyAsync(to, from.voxels.data() + (z0 - range.z0) * slice,
                                static_cast<std::size_t>((z1 - z0) * slice * float_bytes), cudaMemcpyDeviceToHost,
                                from.down.get()),
                "bring a slab down from the device");
  };
  if (float* there = writer.in_memory(range.z0)) {
    copy(there, range.z0, range.z1);
    from.down.synchronize();
    return;
  }
  // In pieces: one is written while the next comes down.
  const std::int64_t piece = plan_.landing_slices;
  if (from.landing.empty())
    for (int i = 0; i < 2; ++i) from.landing.emplace_back(piece * slice);
  int turn = 0;
  copy(from.landing[0].data(), range.z0, std::min(range.z1, range.z0 + piece));
  for (std::int64_t z = range.z0; z < range.z1; z += piece, turn ^= 1) {
    from.down.synchronize();
    const std::int64_t next = z + piece;
    if (next < range.z1)
      copy(from.landing[static_cast<std::size_t>(turn ^ 1)].data(), next, std::min(range.z1, next + piece));
    writer.write(z, std::min(range.z1, next), from.landing[static_cast<std::size_t>(turn)].data());
  }
}

SweepTimes DeviceWorker::run(SlabTickets& tickets, OrderedWriter& writer, Context& context, bool threads_are_free) {
  cuda::use_device(device_);
  filtering_ = DeviceSpans();
  summing_ = DeviceSpans();

  const auto views = static_cast<std::int64_t>(backprojection_.view_order().size());
  bool loaded = false;
  std::size_t turn = 0;
  const auto start = std::chrono::steady_clock::now();
  while (const auto slab = tickets.next(number_)) {
    const bool by_bands = views_.by_bands();
    if (by_bands) views_.load_band(*slab, work_, filtering_, context, threads_are_free);
    Slab& into = slabs_[turn++ % slabs_.size()];
    if (into.coming_down.valid()) into.coming_down.get();
    const std::int64_t slices = slab->z1 - slab->z0;
    const std::int64_t voxels = job_.grid.nx * job_.grid.ny * slices;
    cuda::check(cudaMemsetAsync(into.voxels.data(), 0, static_cast<std::size_t>(voxels * float_bytes), work_.get()),
                "clear a slab");
    if (by_bands || (plan_.resident && loaded)) {
      context.cancel.check();
      sum(0, 0, views, *slab, into);
      context.progress.advance(views * slices);
    } else {
      for (std::int64_t i = 0; i < views_.wedges(); ++i) {
        context.cancel.check();
        const DeviceViews::Wedge w = views_.wedge(*slab, i);
        views_.load(i, w, work_, filtering_, context, threads_are_free);
        if (w.rows.size() > 0) sum(plan_.resident ? w.first : 0, w.first, w.views, *slab, into);
        context.progress.advance(w.views * slices);
      }
      loaded = true;
    }
    cuda::launch_mask_outside(into.voxels.data(), job_.grid, slices, job_.cylinder_mm, work_.get());
    into.summed.record(work_.get());
    into.coming_down = std::async(std::launch::async, [this, slab = *slab, start, &into, &writer, &tickets] {
      bring_down(slab, into, writer);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      tickets.done(number_, slab.z1 - slab.z0, seconds.count());
    });
  }
  for (Slab& slab : slabs_)
    if (slab.coming_down.valid()) slab.coming_down.get();
  work_.synchronize();
  SweepTimes times;
  times.filter_s = filtering_.seconds();
  times.backproject_s = summing_.seconds();
  return times;
}

}  // namespace lepus
