// SPDX-License-Identifier: Apache-2.0
// Pieces of the work on a device with a memory of its own: two places for wedges, so that one is copied while the sums
// of the other run.
#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "operators/chunk_queue.h"
#include "operators/scan_operator.h"

namespace lepus {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);

// Where a wedge lies, and how far its copy and its sums are.
struct WedgePlace {
  float* values = nullptr;
  std::unique_ptr<Event> copied, summed;
};

// Memory for a slab, where the volume is not there already, and for wedges.
struct PiecePlaces {
  float* slab = nullptr;
  std::vector<WedgePlace> wedges;
};
PiecePlaces piece_places(Device& device, PieceMemory& memory, const OperatorPlan& plan, std::int64_t slice,
                         std::int64_t columns) {
  constexpr std::int64_t aligned = 64;  // floats
  const auto padded = [](std::int64_t size) { return (size + aligned - 1) / aligned * aligned; };
  std::int64_t rows = 0, views = 0, slices = 0;
  for (const OperatorChunk& chunk : plan.chunks) {
    rows = std::max(rows, chunk.rows.size());
    slices = std::max(slices, chunk.slices.slices());
  }
  for (const ViewRange& wedge : plan.wedges) views = std::max(views, wedge.count);
  PiecePlaces places;
  places.wedges.resize(std::min<std::size_t>(2, plan.wedges.size()));
  const std::int64_t voxels = plan.volume_there ? 0 : padded(slices * slice), values = padded(rows * views * columns);
  places.slab = memory.get(device, (aligned + voxels + std::ssize(places.wedges) * values) * float_bytes);
  float* next = places.slab + voxels;
  for (WedgePlace& wedge : places.wedges) {
    wedge = {next, device.make_event(), device.make_event()};
    next += values;
  }
  return places;
}

// Copies between the operator's arrays and a device.
class ArrayCopies {
public:
  ArrayCopies(Device& device, Device* home) : device_(device), home_(home) {
    if (!home_) return;
    queue_ = home_->make_queue(QueueRank::beside);
    if (!device_.info().host) between_ = home_->allocate(between_bytes, Place::host);
  }

  void up(void* to, const void* from, std::int64_t bytes, Queue& queue) {
    if (!home_) return device_.copy(to, from, bytes, queue);
    if (!between_) return home_->copy(to, from, bytes, *queue_);
    each_piece(bytes, [&](std::int64_t at, std::int64_t count) {
      home_->copy(between_.get(), static_cast<const std::byte*>(from) + at, count, *queue_);
      device_.copy(static_cast<std::byte*>(to) + at, between_.get(), count, queue);
    });
  }
  void down(void* to, const void* from, std::int64_t bytes, Queue& queue) {
    if (!home_) return device_.copy(to, from, bytes, queue);
    if (!between_) return home_->copy(to, from, bytes, *queue_);
    each_piece(bytes, [&](std::int64_t at, std::int64_t count) {
      device_.copy(between_.get(), static_cast<const std::byte*>(from) + at, count, queue);
      home_->copy(static_cast<std::byte*>(to) + at, between_.get(), count, *queue_);
    });
  }
  void up_rows(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride, std::int64_t bytes,
               std::int64_t rows, Queue& queue) {
    if (!home_) return device_.copy_rows(to, to_stride, from, from_stride, bytes, rows, queue);
    for (std::int64_t row = 0; row < rows; ++row)
      up(static_cast<std::byte*>(to) + row * to_stride, static_cast<const std::byte*>(from) + row * from_stride, bytes,
         queue);
  }
  void down_rows(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride, std::int64_t bytes,
                 std::int64_t rows, Queue& queue) {
    if (!home_) return device_.copy_rows(to, to_stride, from, from_stride, bytes, rows, queue);
    for (std::int64_t row = 0; row < rows; ++row)
      down(static_cast<std::byte*>(to) + row * to_stride, static_cast<const std::byte*>(from) + row * from_stride,
           bytes, queue);
  }

private:
  static constexpr std::int64_t between_bytes = 1 << 23;
  template <class Body>
  static void each_piece(std::int64_t bytes, const Body& body) {
    for (std::int64_t at = 0; at < bytes; at += between_bytes) body(at, std::min(between_bytes, bytes - at));
  }

  Device& device_;
  Device* home_;
  std::unique_ptr<Queue> queue_;
  Block between_;  // plain memory of the host: copies from it and to it are done when they return
};

// A queue for copies that come after what `sums` was given before.
std::unique_ptr<Queue> queue_of_copies(Device& device, Queue& sums) {
  auto copies = device.make_queue(QueueRank::beside);
  const auto before = device.make_event();
  before->mark(sums);
  copies->after(*before);
  return copies;
}

}  // namespace

void ScanOperator::share_chunks(const OperatorPlan& plan,
                                const std::function<void(std::size_t, ChunkQueue&)>& work) const {
  ChunkQueue chunks(plan);
  if (projectors_.size() == 1) return work(0, chunks);
  std::exception_ptr failed;
  std::mutex mutex;
  std::vector<std::jthread> workers;
  for (std::size_t worker = 0; worker < projectors_.size(); ++worker)
    workers.emplace_back([&, worker] {
      try {
        work(worker, chunks);
      } catch (...) {
        chunks.stop();
        const std::lock_guard lock(mutex);
        if (!failed) failed = std::current_exception();
      }
    });
  workers.clear();
  if (failed) std::rethrow_exception(failed);
}

// A wedge is downloaded after the sums of the next one have been given to the device: a copy into plain host memory
// blocks the caller.
void ScanOperator::forward_chunks(std::size_t worker, const float* volume, float* line_integrals,
                                  ChunkQueue& chunks) const {
  Device& device = *machines_->devices[worker];
  Queue& sums = *machines_->queues[worker];
  const auto copies = queue_of_copies(device, sums);
  const OperatorPlan& plan = chunks.plan();
  const std::int64_t slice = grid_.nx * grid_.ny, columns = geometry_.columns;
  auto [slab, places] = piece_places(device, machines_->pieces[worker], plan, slice, columns);
  ArrayCopies arrays(device, forced_.home);

  const auto download = [&](const ChunkQueue::Step& step, WedgePlace& place) {
    const RowBand rows = plan.chunks[step.chunk].rows;
    const ViewRange wedge = plan.wedges[step.wedge];
    copies->after(*place.summed);
    arrays.down_rows(line_integrals + (wedge.first * geometry_.rows + rows.first) * columns,
                     geometry_.rows * columns * float_bytes, place.values, rows.size() * columns * float_bytes,
                     rows.size() * columns * float_bytes, wedge.count, *copies);
    place.copied->mark(*copies);
  };
  std::optional<ChunkQueue::Step> before;
  std::optional<std::size_t> held;
  std::size_t turn = 0;
  while (const auto step = chunks.next_step()) {
    const OperatorChunk& chunk = plan.chunks[step->chunk];
    const ViewRange wedge = plan.wedges[step->wedge];
    const float* const voxels = plan.volume_there ? volume + chunk.slices.z0 * slice : slab;
    const bool as_before = held == step->chunk;
    if (!as_before && !plan.volume_there)
      arrays.up(slab, volume + chunk.slices.z0 * slice, chunk.slices.slices() * slice * float_bytes, sums);
    held = step->chunk;
    WedgePlace& place = places[turn % places.size()];
    if (places.size() == 1 && before) {
      download(*before, place);
      before.reset();
    }
    sums.after(*place.copied);
    projectors_[worker]->forward({voxels, chunk.slices, as_before},
                                 {place.values, wedge.first, wedge.count, chunk.rows}, sums);
    place.summed->mark(sums);
    if (before) download(*before, places[(turn + 1) % places.size()]);
    before = step;
    ++turn;
  }
  if (before) download(*before, places[(turn + places.size() - 1) % places.size()]);
  copies->wait();
  sums.wait();
}

void ScanOperator::adjoint_chunks(std::size_t worker, const float* line_integrals, float* volume, ChunkQueue& chunks,
                                  const UseSlab& use) const {
  Device& device = *machines_->devices[worker];
  Queue& sums = *machines_->queues[worker];
  const auto copies = queue_of_copies(device, sums);
  const OperatorPlan& plan = chunks.plan();
  const std::int64_t slice = grid_.nx * grid_.ny, columns = geometry_.columns;
  auto [slab, places] = piece_places(device, machines_->pieces[worker], plan, slice, columns);
  ArrayCopies arrays(device, forced_.home);

  std::size_t turn = 0;
  while (const auto next = chunks.next_chunk()) {
    const OperatorChunk& chunk = plan.chunks[*next];
    const std::int64_t bytes = chunk.slices.slices() * slice * float_bytes;
    float* const voxels = plan.volume_there ? volume + chunk.slices.z0 * slice : slab;
    device.clear(voxels, bytes, sums);
    for (const ViewRange& wedge : plan.wedges) {
      // What this wedge's views see of the slab may be less than what all of them do.
      const RowBand rows = pieces_.rows(wedge, chunk.slices);
      if (rows.size() == 0) continue;
      WedgePlace& place = places[turn++ % places.size()];
      copies->after(*place.summed);
      arrays.up_rows(place.values, rows.size() * columns * float_bytes,
                     line_integrals + (wedge.first * geometry_.rows + rows.first) * columns,
                     geometry_.rows * columns * float_bytes, rows.size() * columns * float_bytes, wedge.count, *copies);
      place.copied->mark(*copies);
      sums.after(*place.copied);
      projectors_[worker]->adjoint({place.values, wedge.first, wedge.count, rows}, {voxels, chunk.slices}, sums);
      place.summed->mark(sums);
    }
    if (volume && !plan.volume_there) arrays.down(volume + chunk.slices.z0 * slice, voxels, bytes, sums);
    if (use) use(voxels, chunk.slices);
  }
  copies->wait();
  sums.wait();
}

}  // namespace lepus
