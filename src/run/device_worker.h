// SPDX-License-Identifier: Apache-2.0
// One device's share of the sweep: takes slabs from a queue until none is left, sums them over the views and brings
// them down.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <vector>

#include "device/cuda/backproject.h"
#include "device/cuda/device_memory.h"
#include "run/device_spans.h"
#include "run/device_sweep.h"
#include "run/device_views.h"
#include "run/slab_tickets.h"

namespace lepus {

// Writers take slices in order; slabs of several devices wait here for their turn.
class OrderedWriter {
public:
  explicit OrderedWriter(VolumeWriter& writer) : writer_(writer) {}
  float* in_memory(std::int64_t z0) { return writer_.in_memory(z0); }
  void write(std::int64_t z0, std::int64_t z1, const float* slices);
  void stop();  // whoever waits throws

private:
  VolumeWriter& writer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_ = 0;
  bool stopped_ = false;
};

class DeviceWorker {
public:
  // `number` tells it from the others, `device` is the card it works on.
  DeviceWorker(const DeviceJob& job, const DevicePlan& plan, const cuda::Backprojection& backprojection,
               DeviceViews& views, int number, int device);
  ~DeviceWorker();

  // threads_are_free: frames may be read with the context's threads (one worker only).
  SweepTimes run(SlabTickets& tickets, OrderedWriter& writer, Context& context, bool threads_are_free);

private:
  struct Slab {  // one of two; while one comes down, in a thread of its own, the other is summed
    cuda::DeviceBuffer<float> voxels;
    cuda::Stream down;
    std::vector<cuda::PinnedBuffer<float>> landing;  // pieces on their way to the writer
    cuda::Event summed;
    std::future<void> coming_down;
  };

  void sum(std::int64_t first_slot, std::int64_t first_view, std::int64_t views, SlabRange slab, const Slab& into);
  void bring_down(SlabRange slab, Slab& from, OrderedWriter& writer);

  const DeviceJob& job_;
  const DevicePlan& plan_;
  const cuda::Backprojection& backprojection_;
  DeviceViews& views_;
  int number_, device_;
  cuda::Stream work_;
  std::vector<Slab> slabs_;
  DeviceSpans filtering_, summing_;
};

}  // namespace lepus
