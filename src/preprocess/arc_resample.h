// SPDX-License-Identifier: Apache-2.0
// Rows recorded on an arc detector, resampled onto the flat detector that the matrices describe. A flat pixel at (s, t)
// from the central ray looks along fan angle gamma = atan(s / D), so it reads the arc at arc length D*gamma and height
// t * cos(gamma); Catmull-Rom interpolation in both. Pixels that no recorded pixel covers are zero.
#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/row_resampler.h"
#include <lepus/geometry.h>

namespace lepus {

class ArcResampler final : public RowResampler {
public:
  explicit ArcResampler(const ScanGeometry& geometry);

  RowBand recorded_rows(std::int64_t view, RowBand rows) const override;
  std::int64_t maximum_recorded_rows(std::int64_t rows) const override;
  RowMap map() const override;
  std::int64_t columns() const override { return flat_columns_; }

private:
  ArcDetector arc_;
  Beam beam_;
  std::int64_t flat_columns_ = 0, flat_rows_ = 0;
  double flat_central_row_ = 0;
  std::vector<double> arc_column_;  // per flat column, in recorded columns
  std::vector<double> cosine_;      // per flat column: cos(gamma); 1 for fan beams, whose rows stay apart
};

}  // namespace lepus
