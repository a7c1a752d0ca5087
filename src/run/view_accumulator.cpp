// SPDX-License-Identifier: Apache-2.0
#include "run/view_accumulator.h"

#include <algorithm>
#include <cstring>

#include "geometry/row_band.h"
#include "run/plan_models.h"

namespace lepus {
namespace {

// Views on their way up at a time: the link is busy while the next is handed over, and the last one waits for few.
constexpr std::int64_t on_their_way = 3;
// Slabs of the last block on a device: one is summed while another comes down.
constexpr std::int64_t last_slabs = 8;

// What a store looks like does not depend on which view it is: no two views share a texel.
const Matrix34 some_matrix{{1, 0, 0, 0, 0, 0, 1, 0, 0, 1e-3, 0, 1}};

std::unique_ptr<Projector> projector_of(const AccumulatorSetup& setup, const ScanGeometry& geometry, Device& device) {
  return device.make_projector({.geometry = &geometry,
                                .grid = setup.grid,
                                .cylinder_mm = setup.cylinder_mm,
                                .interpolation = setup.interpolation,
                                .views_share_texels = false});
}

std::unique_ptr<Projector> some_projector(const AccumulatorSetup& setup, Device& device) {
  ScanGeometry geometry = setup.detector;
  geometry.matrices = {some_matrix};
  return projector_of(setup, geometry, device);
}

std::int64_t block_bytes(const AccumulatorSetup& setup) {
  return setup.block * setup.detector.columns * setup.rows.size() * float_bytes;
}

}  // namespace

ViewAccumulator::ViewAccumulator(const AccumulatorSetup& setup, Device& device, ThreadPool& threads)
    : setup_(setup),
      device_(device),
      threads_(threads),
      up_(device.make_queue()),
      work_(device.make_queue()),
      down_(device.make_queue(QueueRank::beside)),
      arrived_(device.make_event()) {
  const auto any = some_projector(setup, device);
  store_ = any->make_view_store(setup.block, setup.rows.size());
  store_->set_largest_value(setup.largest_value);
  for (std::int64_t slot = 0; slot < setup.block; ++slot)
    store_->set_window(slot, setup.rows, ViewStore::Keep::nothing);
  volume_ = any->make_slab_store(rounded_up(setup.grid.nz, slab_alignment));
  if (own_memory())
    for (Upload& upload : uploads_) {
      upload.pixels = device.allocate(block_bytes(setup));
      if (setup.piece_by_piece) upload.staged = device.allocate(block_bytes(setup), Place::host);
      upload.copied = device.make_event();
      upload.used = device.make_event();
    }
  for (std::int64_t i = 0; i < on_their_way; ++i) sent_.push_back(device.make_event());
  const SlabRange all{0, setup.grid.nz};
  volume_->begin(all, *work_);
  if (!own_memory()) return;
  // One black view loads the kernels before the first view comes.
  device.clear(uploads_[0].pixels.get(), block_bytes(setup), *work_);
  store_->put(reinterpret_cast<const float*>(uploads_[0].pixels.get()), view_floats(), 0, 1, setup.rows, *work_);
  any->back({store_.get(), 0, 0, 1}, *volume_, all, *work_);
  volume_->begin(all, *work_);
  work_->wait();
}

// What is in the queues uses the buffers.
ViewAccumulator::~ViewAccumulator() {
  for (Queue* queue : {up_.get(), work_.get(), down_.get()}) try {
      queue->wait();
    } catch (...) {  // a device that was lost has nothing more to do with them
    }
}

ViewAccumulator::Bytes ViewAccumulator::bytes(const AccumulatorSetup& setup, Device& device) {
  const std::int64_t volume = setup.grid.nx * setup.grid.ny * rounded_up(setup.grid.nz, slab_alignment) * float_bytes;
  const std::int64_t pixels = setup.block * setup.detector.columns * setup.rows.size();
  const std::int64_t padded = setup.block * setup.detector.columns * padded_rows(setup.rows.size());
  if (device.info().host) return {volume + padded * float_bytes, 0};
  const std::int64_t store = pixels * some_projector(setup, device)->bytes_per_value();
  return {setup.piece_by_piece ? 2 * block_bytes(setup) : 0, volume + 2 * block_bytes(setup) + store};
}

std::int64_t ViewAccumulator::usual_block(const AccumulatorSetup& setup, Device& device) {
  // A multiple of what one launch takes: each block reads and writes the volume once. The last block is what a scanner
  // waits for, beside the way down.
  return device.info().host ? some_projector(setup, device)->view_block() : 32;
}

std::unique_ptr<Projector> ViewAccumulator::projector(const std::vector<Matrix34>& matrices) const {
  ScanGeometry geometry = setup_.detector;
  geometry.matrices = matrices;
  return projector_of(setup_, geometry, device_);
}

void ViewAccumulator::put(std::int64_t slot, RowBand rows, const float* filtered) {
  if (!own_memory()) return store_->put(filtered, 0, slot, 1, rows, *work_);
  auto* view = reinterpret_cast<float*>(uploads_[turn_].staged.get()) + slot * view_floats();
  std::memcpy(view + (rows.first - setup_.rows.first) * setup_.detector.columns, filtered,
              static_cast<std::size_t>(rows.size() * setup_.detector.columns * float_bytes));
}

void ViewAccumulator::send(std::int64_t slot, const float* view) {
  if (!own_memory()) {
    threads_.parallel_for(setup_.rows.first, setup_.rows.last, 16, [&](std::int64_t first, std::int64_t last, int) {
      put(slot, {first, last}, view + (first - setup_.rows.first) * setup_.detector.columns);
    });
    return;
  }
  Upload& upload = uploads_[turn_];
  if (slot == 0) up_->after(*upload.used);
  Event& sent = *sent_[static_cast<std::size_t>(sends_++ % on_their_way)];
  sent.wait();  // of the view so many before
  device_.copy(upload.pixels.get() + slot * view_floats() * float_bytes, view, view_floats() * float_bytes, *up_);
  sent.mark(*up_);
}

void ViewAccumulator::release() {
  if (own_memory()) up_->wait();
}

// The views that wait become texels.
void ViewAccumulator::store_block(std::int64_t views) {
  if (!own_memory() || views == 0) return;
  Upload& upload = uploads_[turn_];
  if (setup_.piece_by_piece) {
    up_->after(*upload.used);
    device_.copy(upload.pixels.get(), upload.staged.get(), views * view_floats() * float_bytes, *up_);
    upload.copied->mark(*up_);
  }
  arrived_->mark(*up_);
  work_->after(*arrived_);
  store_->put(reinterpret_cast<const float*>(upload.pixels.get()), view_floats(), 0, views, setup_.rows, *work_);
  upload.used->mark(*work_);
}

void ViewAccumulator::add(const Projector& projector, SlabRange slices) {
  const auto views = static_cast<std::int64_t>(projector.view_order().size());
  projector.back({store_.get(), 0, 0, views, &projector.view_order()}, *volume_, slices, *work_);
}

void ViewAccumulator::next_block() {
  turn_ ^= 1;
  if (uploads_[turn_].copied) uploads_[turn_].copied->wait();  // put() may write into it
}

void ViewAccumulator::sum(const std::vector<Matrix34>& matrices) {
  const std::lock_guard lock(giving_work_);
  const auto block = projector(matrices);
  kernel_ = block->description();
  store_block(static_cast<std::int64_t>(matrices.size()));
  add(*block, {0, setup_.grid.nz});
  next_block();
}

void ViewAccumulator::wait() {
  up_->wait();
  work_->wait();
}

void ViewAccumulator::download(const VoxelBox& box, float* voxels, bool beside) {
  if (!own_memory()) return volume_->download(box, voxels, beside ? *down_ : *work_);
  const std::lock_guard lock(giving_work_);
  volume_->finish(*work_);
  volume_->download(box, voxels, *work_);
  work_->wait();
}

void ViewAccumulator::finish(const std::vector<Matrix34>& matrices, float* volume) {
  const std::int64_t nz = setup_.grid.nz, slice = setup_.grid.nx * setup_.grid.ny;
  std::unique_ptr<Projector> last;
  if (!matrices.empty()) {
    last = projector(matrices);
    kernel_ = last->description();
    store_block(static_cast<std::int64_t>(matrices.size()));
  }
  if (!own_memory()) {
    if (last) add(*last, {0, nz});
    volume_->download(0, nz, volume, *work_);
    return;
  }
  std::vector<std::unique_ptr<Event>> summed;
  const std::int64_t slab = std::max<std::int64_t>(slab_alignment, nz / last_slabs / slab_alignment * slab_alignment);
  for (std::int64_t z = 0; z < nz; z += slab) {
    const SlabRange part{z, std::min(nz, z + slab)};
    if (last) add(*last, part);
    summed.push_back(device_.make_event());
    summed.back()->mark(*work_);
    down_->after(*summed.back());
    volume_->download(part.z0, part.z1, volume + z * slice, *down_);
  }
  next_block();
  down_->wait();
}

}  // namespace lepus
