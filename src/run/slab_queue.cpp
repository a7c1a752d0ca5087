// SPDX-License-Identifier: Apache-2.0
#include "run/slab_queue.h"

#include <algorithm>

namespace lepus {

SlabQueue::SlabQueue(VolumeWriter& writer, const VolumeGrid& grid, double cylinder_mm, std::int64_t slab_slices,
                     int buffers)
    : writer_(writer),
      grid_(grid),
      cylinder_mm_(cylinder_mm),
      z_stride_(slab_slices),
      slices_(grid.nx * grid.ny * std::min(slab_slices, slab_alignment)) {
  for (int i = 0; i < buffers; ++i) {
    buffers_.emplace_back(grid.nx * grid.ny * slab_slices);
    free_.push_back(buffers_.back().data());
  }
  thread_ = std::thread([this] { write_all(); });
}

SlabQueue::~SlabQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SlabQueue::rethrow_failure() {
  if (failure_) std::rethrow_exception(failure_);
}

SlabView SlabQueue::acquire(std::int64_t z0, std::int64_t z1) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || !free_.empty(); });
  rethrow_failure();
  float* data = free_.front();
  free_.pop_front();
  return {data, z0, z1, z_stride_};
}

void SlabQueue::submit(const SlabView& slab) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(slab);
  changed_.notify_all();
}

void SlabQueue::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || free_.size() == buffers_.size(); });
  rethrow_failure();
}

void SlabQueue::write_all() {
  for (;;) {
    SlabView slab;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      slab = waiting_.front();
      waiting_.pop_front();
    }
    try {
      write(slab);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
      return;
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(slab.data);
    changed_.notify_all();
  }
}

// Groups of slab_alignment slices: sixteen floats are one cache line of the slab, read once.
void SlabQueue::write(const SlabView& slab) {
  const std::int64_t area = grid_.nx * grid_.ny;
  for (std::int64_t z = slab.z0; z < slab.z1; z += slab_alignment) {
    const std::int64_t count = std::min(slab_alignment, slab.z1 - z);
    for (std::int64_t y = 0; y < grid_.ny; ++y)
      for (std::int64_t x = 0; x < grid_.nx; ++x) {
        const Vec3 p = grid_.centre(static_cast<double>(x), static_cast<double>(y), 0);
        const bool inside = p.x * p.x + p.y * p.y <= cylinder_mm_ * cylinder_mm_;
        const float* column = slab.data + (y * grid_.nx + x) * slab.z_stride + (z - slab.z0);
        float* out = slices_.data() + y * grid_.nx + x;
        for (std::int64_t k = 0; k < count; ++k) out[k * area] = inside ? column[k] : 0.0F;
      }
    writer_.write(z, z + count, slices_.data());
  }
}

}  // namespace lepus
