// SPDX-License-Identifier: Apache-2.0
// A linear map from volumes to line integrals, and its transpose: all that an iterative method knows of a scan. The
// scan's operator is one, a small matrix in a test another. Volumes lie [z][y][x], line integrals [view][value], fp32,
// in memory of the home device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "device/vector_kernels.h"

namespace lepus {

class Device;
class Queue;
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
  // The map of some of the views, in the order given; it shares the device and the queue.
  virtual std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const = 0;

  virtual Device& home() const = 0;  // whose memory and vector kernels are used
  virtual Queue& queue() const = 0;
  // The processes that share out the line integrals; every one has the whole volume. Null: this one has all.
  virtual Ranks* ranks() const { return nullptr; }
};

}  // namespace lepus
