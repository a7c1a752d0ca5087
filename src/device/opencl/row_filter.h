// SPDX-License-Identifier: Apache-2.0
// Frames on an OpenCL device to filtered rows on it: raw pixels [view][row][column] of any type -> line integrals
// (dark, flat, log; dead pixels bridged) -> FDK weights -> ramp filter -> float [view][row][wide column]. Two
// neighbouring rows are one complex row. The transforms are lepus' own, in local memory; longer ones take their outer
// steps in global memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/opencl/queue.h"
#include "io/frames.h"
#include "device/row_tables.h"

namespace lepus::opencl {

using RowFilterSetup = RowTables;

class RowFilter {
public:
  // The shortest transform of at least that length: a power of two, or three times one.
  static std::int64_t transform_length(std::int64_t shortest);

  // points_at_once: of the transform in local memory; 0: as many as the device has local memory for.
  RowFilter(Device& device, Context& context, const RowFilterSetup& setup, Queue& queue,
            std::int64_t points_at_once = 0);

  // Returns when the work is in the queue.
  void filter(const RowBatch& batch, Queue& queue);
  // Bad pixels so far of views [first, first + bad.size()), after all work in the queue.
  void bad_pixels(std::int64_t first, std::span<BadPixels> bad, Queue& queue) const;
  std::int64_t device_bytes() const { return bytes_; }  // what it holds
  bool in_local_memory() const { return points_ == length_; }

private:
  template <class T>
  Block uploaded(const std::vector<T>& values, Queue& queue);
  void upload_normalisation(const RowFilterSetup& setup, Queue& queue);
  void upload_response(const RowFilterSetup& setup, Queue& queue);

  Device& device_;
  Context& context_;
  PixelType type_;
  std::int64_t columns_, rows_, before_, wide_, views_ = 0;
  std::int64_t length_ = 0, points_ = 0, items_ = 0, pairs_at_once_ = 0, bytes_ = 0;
  WeightShape shape_;
  bool normalise_ = false;
  float log_i0_everywhere_ = 0, clip_ = 1, saturation_ = 0;
  std::int64_t dead_runs_ = 0, extension_ = 0;
  std::vector<std::int64_t> outer_radices_;  // of the steps in global memory, in the order of the way there
  Block dark_, log_i0_, dead_, view_weights_, partners_, edge_, response_, roots_, bad_;
};

}  // namespace lepus::opencl
