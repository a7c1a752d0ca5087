// SPDX-License-Identifier: Apache-2.0
// Flats taken before, during and after a scan: the open beam of every view by linear interpolation between the mean
// flats that were taken next to it. Flats (dark already subtracted) at positions in views -> I0 of any view.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "project/flat_formulas.h"

namespace lepus {

class FlatSeries {
public:
  // positions: of each flat in views, ascending: 0 is before the first view, v before view v, `views` after the last.
  // flats: one plane of rows x columns each. Throws Error(input) where the lists do not fit, positions do not ascend,
  // or a value is not finite.
  FlatSeries(std::int64_t columns, std::int64_t rows, std::int64_t views, std::vector<double> positions,
             std::vector<Buffer<float>> flats);

  std::int64_t columns() const { return columns_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t count() const { return static_cast<std::int64_t>(positions_.size()); }

  // A view is exposed in the middle of its step: view v counts as v + 1/2. Views before the first flat and after the
  // last take that flat.
  FlatShare share(std::int64_t view) const;

  // What a kernel needs: one entry per view, and the planes one after another.
  std::vector<FlatShare> shares() const;
  const float* plane(std::int64_t flat) const { return flats_.data() + flat * columns_ * rows_; }

private:
  std::int64_t columns_, rows_, views_;
  std::vector<double> positions_;
  Buffer<float> flats_;  // one plane after the other
};

// The definition in double precision, of one pixel: its value in each flat, at the flats' positions.
double interpolated_flat_reference(const std::vector<double>& positions, const std::vector<double>& values,
                                   std::int64_t view);

}  // namespace lepus
