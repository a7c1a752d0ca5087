// SPDX-License-Identifier: Apache-2.0
// Footprints of an upright view (project/footprint.h): the rows of the detector cut a voxel column into pieces side by
// side, the same ones for every detector column that sees it. So a voxel column is brought onto the rows once, as boxes
// that have shares in two voxels each, and every detector column takes its share of that.
#pragma once

#include <cstdint>
#include <vector>

#include "device/host/joseph_columns.h"
#include "geometry/row_band.h"
#include "project/footprint.h"

namespace lepus::cpu {

// Rows on a voxel column: row r, counted from the detector's middle, is `pieces` boxes of one height on top of each
// other, at most a voxel high; the lower face of the first is at low.height + r * low.per_row, in slices from the
// middle.
struct FootprintRows {
  RowLine low;
  float piece = 1;  // height of a box
  int pieces = 1;
};
// Of voxel column (x, y), counted from the middle.
FootprintRows footprint_rows(const UprightRows& rows, int x, int y, int middle_row);

// Rows [first, last) of those held.
struct RowSpan {
  std::int64_t first = 0, last = 0;
};

// Rows and slices held. A voxel column lies with z fastest; slice z0 is its element `column_start`, with zeros around.
struct FootprintHeld {
  JosephGrid grid;
  RowBand rows;
  int middle_row = 0;
  std::int64_t z0 = 0, z1 = 0;
};
inline constexpr std::int64_t column_start = 9;

// Working memory of a thread.
struct FootprintScratch {
  std::vector<float> shares, pairs;
  std::vector<std::int32_t> cells;
  void reserve(std::int64_t rows, std::int64_t slices);
};

struct FootprintKernel {
  const char* target;
  // The rows that meet the slices held, in whole vectors.
  RowSpan (*span)(const FootprintHeld&, const FootprintRows&);
  // values[r] = the mean of the voxels over row r, for r in the span, times the number of its pieces.
  void (*sample)(const FootprintHeld&, const FootprintRows&, const RowSpan&, const float* column, float* values,
                 FootprintScratch&);
  // The transpose: column[z - z0] += shares of values[r].
  void (*share)(const FootprintHeld&, const FootprintRows&, const RowSpan&, const float* values, float* column,
                FootprintScratch&);
  // sums[r] += factor * values[r] for r in the span.
  void (*add)(const RowSpan&, float factor, const float* values, float* sums);
};
FootprintKernel chosen_footprint_kernel();

}  // namespace lepus::cpu
