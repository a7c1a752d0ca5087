// SPDX-License-Identifier: Apache-2.0
// Frames whose rows are not the rows that are filtered: each filtered row is interpolated from several recorded ones.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "geometry/row_band.h"
#include "project/interpolate.h"

namespace lepus {

class RowResampler {
public:
  virtual ~RowResampler() = default;

  // Recorded rows that rows [rows.first, rows.last) of a view are made from; at least one.
  virtual RowBand recorded_rows(std::int64_t view, RowBand rows) const = 0;
  // The most of them for any place of that many rows in any view.
  virtual std::int64_t most_recorded_rows(std::int64_t rows) const = 0;
  // recorded: rows recorded_rows(view, rows), u fastest; out: the rows, u fastest.
  virtual void apply(std::int64_t view, RowBand rows, const float* recorded, float* out) const = 0;
};

// The four taps of Catmull-Rom interpolation at a coordinate, clamped to [0, n); the weights sum to one.
struct ClampedTaps {
  std::array<std::int64_t, 4> index;
  std::array<double, 4> weight;
};

inline ClampedTaps catmull_rom_taps(double x, std::int64_t n) {
  ClampedTaps taps{};
  const std::int64_t first = first_tap(Interpolation::cubic, x, taps.weight.data());
  for (std::size_t k = 0; k < 4; ++k)
    taps.index[k] = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(k), 0, n - 1);
  return taps;
}

// The rows [first, last) of n that those taps touch for coordinates from lowest to highest.
inline RowBand rows_of_taps(double lowest, double highest, std::int64_t n) {
  const auto first = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(lowest)) - 1, 0, n - 1);
  const auto last = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(highest)) + 3, first + 1, n);
  return {first, last};
}

}  // namespace lepus
