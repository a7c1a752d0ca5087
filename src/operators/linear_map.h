// SPDX-License-Identifier: Apache-2.0
// A linear map from volumes to line integrals, and its transpose: all that an iterative method knows of a scan. The
// scan's operator is one, a small matrix in a test another. Volumes lie [z][y][x], line integrals [view][value], fp32,
// in memory of the home device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "device/device.h"
#include "device/projector.h"
#include "device/vector_kernels.h"
#include "operators/vector_memory.h"

namespace lepus {

class Ranks;

class LinearMap {
public:
  virtual ~LinearMap() = default;

  virtual VolumeShape shape() const = 0;
  virtual std::int64_t views() const = 0;
  virtual std::int64_t values_per_view() const = 0;
  std::int64_t voxels() const { return shape().voxels(); }
  std::int64_t values() const { return views() * values_per_view(); }

  // y = A x and x = A' y, in the order of the queue.
  virtual void forward(const float* volume, float* line_integrals) = 0;
  virtual void adjoint(const float* line_integrals, float* volume) = 0;
  virtual bool exact_transpose() const { return true; }  // A' is the transpose of A
  // The same slab by slab, for what is done with each voxel by itself: use(voxels, slices) is called once for every
  // slab. `work`: memory for it, empty at first, that the caller keeps for the next call and for other subsets.
  using UseSlab = std::function<void(float* voxels, SlabRange slices)>;
  virtual void adjoint_by_slabs(const float* line_integrals, Block& work, const UseSlab& use) {
    if (!work) work = vector_block(voxels());
    auto* const all = reinterpret_cast<float*>(work.get());
    adjoint(line_integrals, all);
    use(all, {0, shape().nz});
  }
  // The map of some of the views, in the order given; it shares the device and the queue.
  virtual std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const = 0;

  virtual Device& home() const = 0;  // whose memory and vector kernels are used
  virtual Queue& queue() const = 0;
  // Where vectors lie in the home's memory or in the host's; null: all in the home's.
  virtual VectorMemory* vector_memory() const { return nullptr; }
  Block vector_block(std::int64_t size) const {
    const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof(float));
    return vector_memory() ? vector_memory()->allocate(bytes) : home().allocate(bytes);
  }
  // Whether vectors are counted as memory of the host.
  bool vectors_on_host() const { return vector_memory() || home().info().host; }
  // The processes that share out the line integrals; every one has the whole volume. Null: this one has all.
  virtual Ranks* ranks() const { return nullptr; }
};

}  // namespace lepus
