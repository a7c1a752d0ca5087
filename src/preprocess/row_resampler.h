// SPDX-License-Identifier: Apache-2.0
// Frames whose rows are not the rows that are filtered: each filtered row is interpolated from several recorded ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "geometry/row_band.h"
#include "project/row_map.h"

namespace lepus {

class RowResampler {
public:
  virtual ~RowResampler() = default;

  // Recorded rows that rows [rows.first, rows.last) of a view are made from; at least one.
  virtual RowBand recorded_rows(std::int64_t view, RowBand rows) const = 0;
  // The most of them for any place of that many rows in any view.
  virtual std::int64_t maximum_recorded_rows(std::int64_t rows) const = 0;
  virtual RowMap map() const = 0;            // its tables are the resampler's
  virtual std::int64_t columns() const = 0;  // of the rows that are made, and so long are the map's tables of columns
  virtual std::int64_t views() const { return 0; }  // so long is its table of views

  // recorded: rows recorded_rows(view, rows), u fastest; out: the rows, u fastest.
  void apply(std::int64_t view, RowBand rows, const float* recorded, float* out) const {
    const RowMap made = map();
    const std::int64_t first_held = recorded_rows(view, rows).first, width = columns();
    for (std::int64_t column = 0; column < width; ++column) {
      const ClampedTaps across = taps_across(made, column);
      for (std::int64_t row = rows.first; row < rows.last; ++row)
        out[(row - rows.first) * width + column] = mapped_value(made, view, row, column, across, [&](std::int64_t i) {
          return recorded + (i - first_held) * made.columns;
        });
    }
  }
};

// The rows [first, last) of n that those taps touch for coordinates from lowest to highest.
inline RowBand rows_of_taps(double lowest, double highest, std::int64_t n) {
  const auto first = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(lowest)) - 1, 0, n - 1);
  const auto last = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(highest)) + 3, first + 1, n);
  return {first, last};
}

}  // namespace lepus
