// SPDX-License-Identifier: Apache-2.0
// Rows of a detector that is turned in its plane, sheared until they are level: perpendicular to the rotation axis.
// The ramp filter runs along rows. Along slanted ones it mixes heights, which views half a turn apart cancel in a full
// scan while the angle is small, but not where a line is measured from one side only (half-fan, short scan, half turn
// of parallel rays). In each view  p'(u, v') = p(u, v' - rows_added + slope * (u - middle)),  slope = -(column step).z
// / (row step).z, interpolated by Catmull-Rom along v alone; rows beyond the detector repeat its first and last.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "preprocess/row_resampler.h"
#include <lepus/geometry.h>

namespace lepus {

class RowLeveller final : public RowResampler {
public:
  explicit RowLeveller(const ScanGeometry& recorded);

  // The scan with level rows, and as many more above and below as the corners of the slanted detector reach.
  const ScanGeometry& level_scan() const { return level_; }

  RowBand recorded_rows(std::int64_t view, RowBand rows) const override;
  std::int64_t maximum_recorded_rows(std::int64_t rows) const override;
  RowMap map() const override;
  std::int64_t columns() const override { return level_.columns; }
  std::int64_t views() const override { return level_.views(); }

private:
  std::int64_t recorded_rows_ = 0, rows_added_ = 0;
  double middle_column_ = 0;
  std::vector<double> slope_;  // per view
  ScanGeometry level_;
};

// How far rows climb from the detector's middle to its edge, in rows, root mean square over the views. Throws
// Error(geometry) where rows run along the axis rather than across it.
double row_slant(const ScanGeometry& geometry);

// Relative, of an object about as tall as wide in a full turn that is not levelled; 1 / cos(angle) - 1.
double brightness_of_slant(const ScanGeometry& geometry);

// Levels a scan whose rows slant by a quarter of a pixel or more; one whose lines are all measured twice only where the
// slant would make it too bright by 2e-4, because interpolating costs sharpness along the axis.
std::optional<RowLeveller> row_leveller(const ScanGeometry& geometry, bool every_line_twice);

}  // namespace lepus
