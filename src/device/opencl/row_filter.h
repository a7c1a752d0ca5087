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
#include "project/ray_weight.h"

namespace lepus::opencl {

// As preprocess/normalise.h has it; maps of rows x columns in host memory.
struct RowNormalisation {
  const float* dark = nullptr;    // null: none
  const float* log_i0 = nullptr;  // null: log_i0_everywhere
  float log_i0_everywhere = 0;
  float clip = 1;
  std::span<const std::int64_t> dead;  // row * columns + column, ascending: bridged along the row
};

// Everything is copied; nothing is looked at after the constructor returns.
struct RowFilterSetup {
  std::int64_t columns = 0, rows = 0;         // of the frames
  std::int64_t columns_before = 0, wide = 0;  // zeros before the frame's columns, and columns with all zeros
  PixelType type = PixelType::u16;
  const RowNormalisation* normalisation = nullptr;  // null: the frames hold line integrals
  WeightShape shape;
  std::span<const ViewWeight> views;
  std::span<const PartnerArc> partners;
  std::span<const float> response;  // filter/ramp.h: RampTransfer of `wide` columns, length = transform_length(...)
  std::span<const float> edge;
  double saturation_level = 0;  // counts at or above it are saturated; infinite: none
};

// Views first_view, first_view + view_step, ...; rows [row0, row1) of each. row0 must be even, and row1 even or the
// last row: a row's bits depend on its neighbour in the pair, and so they do not depend on the cut.
struct RowBatch {
  std::int64_t first_view = 0, view_step = 1, views = 0;
  std::int64_t row0 = 0, row1 = 0;
  void* pixels = nullptr;        // device; [view][row - row0][column]; floats that are not finite are replaced in place
  std::int64_t view_pixels = 0;  // from one view to the next
  float* out = nullptr;          // device; [view][row - row0][wide column]
  std::int64_t out_row = 0, out_view = 0;           // floats from row to row and from view to view
  std::int64_t counted_row0 = 0, counted_row1 = 0;  // bad pixels are counted in these rows (each row once in a scan)
};

struct BadPixels {
  std::uint32_t not_finite = 0, saturated = 0;
};

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
