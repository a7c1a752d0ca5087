// SPDX-License-Identifier: Apache-2.0
// Rows recorded on an arc detector, resampled onto the flat detector that the matrices describe. A flat pixel at (s, t)
// from the central ray looks along fan angle gamma = atan(s / D), so it reads the arc at arc length D*gamma and height
// t * cos(gamma); Catmull-Rom interpolation in both. Pixels that no recorded pixel covers are zero. And the other way:
// what a flat detector would have seen, where the arc's pixels look.
#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/row_resampler.h"
#include <lepus/geometry.h>

namespace lepus {

class ArcResampler final : public RowResampler {
public:
  enum class Onto { flat, arc };
  explicit ArcResampler(const ScanGeometry& geometry, Onto onto = Onto::flat);

  RowBand recorded_rows(std::int64_t view, RowBand rows) const override;
  std::int64_t maximum_recorded_rows(std::int64_t rows) const override;
  RowMap map() const override;
  std::int64_t columns() const override { return to_.columns; }

private:
  struct Pixels {
    std::int64_t columns = 0, rows = 0;
    double central_row = 0;
  };
  Pixels from_, to_;
  std::vector<double> column_at_;  // per column of `to`, in columns of `from`
  std::vector<double> stretch_;    // of heights, per column of `to`; 1 for fan beams, whose rows stay apart
};

}  // namespace lepus
