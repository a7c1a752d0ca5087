// SPDX-License-Identifier: Apache-2.0
// Where rows that are filtered lie among those that were recorded, and a value between recorded pixels, by Catmull-Rom
// interpolation (Keys 1981): arc detectors are read where a flat one would look, slanted rows are levelled.
#pragma once

#include <cmath>
#include <cstdint>

#include "project/host_device.h"
#include "project/interpolate.h"

namespace lepus {

// Of pixel (column, row) of a view:
//   recorded row    = (row - row_from) * stretch[column] + row_to + slope[view] * (column - middle_column)
//   recorded column = column_at[column]
// A null stretch is 1, a null slope 0, a null column_at the column itself.
struct RowMap {
  std::int64_t columns = 0, rows = 0;  // that were recorded
  double row_from = 0, row_to = 0, middle_column = 0;
  const double* stretch = nullptr;
  const double* slope = nullptr;
  const double* column_at = nullptr;
  bool zero_beyond = false;  // where no recorded pixel covers the place; else the first and the last are repeated
};

// The four taps at a coordinate, clamped to [0, n); the weights sum to one.
struct ClampedTaps {
  std::int64_t index[4];
  double weight[4];
};

LEPUS_HD inline ClampedTaps catmull_rom_taps(double x, std::int64_t n) {
  ClampedTaps taps{};
  const std::int64_t first = first_tap(Interpolation::cubic, x, taps.weight);
  for (int k = 0; k < 4; ++k) {
    const std::int64_t at = first + k;
    taps.index[k] = at < 0 ? 0 : at < n ? at : n - 1;
  }
  return taps;
}

LEPUS_HD inline bool covers(std::int64_t n, double x) { return x >= -0.5 && x <= static_cast<double>(n) - 0.5; }

LEPUS_HD inline double recorded_row(const RowMap& map, std::int64_t view, std::int64_t row, std::int64_t column) {
  double distance = static_cast<double>(row) - map.row_from;
  if (map.stretch) distance *= map.stretch[column];
  const double at = distance + map.row_to;
  return map.slope ? at + map.slope[view] * (static_cast<double>(column) - map.middle_column) : at;
}

// Taps along the row; of a map without column_at only the column itself.
LEPUS_HD inline ClampedTaps taps_across(const RowMap& map, std::int64_t column) {
  return map.column_at ? catmull_rom_taps(map.column_at[column], map.columns) : ClampedTaps{{column}, {1}};
}

// recorded(i): row i of the view, of those that the taps touch.
template <class RecordedRow>
LEPUS_HD inline float mapped_value(const RowMap& map, std::int64_t view, std::int64_t row, std::int64_t column,
                                   const ClampedTaps& across, const RecordedRow& recorded) {
  const double at = recorded_row(map, view, row, column);
  if (map.zero_beyond && !(covers(map.rows, at) && covers(map.columns, map.column_at[column]))) return 0;
  const ClampedTaps along = catmull_rom_taps(at, map.rows);
  double value = 0;
  for (int j = 0; j < 4; ++j) {
    const float* line = recorded(along.index[j]);
    double sum = 0;
    for (int i = 0; i < (map.column_at ? 4 : 1); ++i)
      sum += across.weight[i] * static_cast<double>(line[across.index[i]]);
    value += along.weight[j] * sum;
  }
  return static_cast<float>(value);
}

}  // namespace lepus
