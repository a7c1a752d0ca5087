// SPDX-License-Identifier: Apache-2.0
// What row filters of devices with memory of their own are made from, and given: tables in host memory, batches of rows
// in device memory.
#pragma once

#include <cstdint>
#include <span>

#include "io/frames.h"
#include "project/ray_weight.h"

namespace lepus {

// As preprocess/normalise.h has it; maps of rows x columns in host memory.
struct RowNormalisation {
  const float* dark = nullptr;    // null: none
  const float* log_i0 = nullptr;  // null: log_i0_everywhere
  float log_i0_everywhere = 0;
  float clip = 1;
  std::span<const std::int64_t> dead;  // row * columns + column, ascending: bridged along the row, as dead-pixels does
};

// Everything is copied; nothing is looked at after the constructor returns.
struct RowTables {
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

}  // namespace lepus
