// SPDX-License-Identifier: Apache-2.0
#include "preprocess/level_rows.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

double slope_of(const ScanGeometry& geometry, std::int64_t view) {
  const Camera camera = camera_of(geometry, view);
  const double slope = -camera.column_step_mm.z / camera.row_step_mm.z;
  if (std::abs(slope) <= 1) return slope;
  throw Error(ErrorKind::geometry,
              {.what = "the detector's rows run along the rotation axis",
               .where = format("view {}", view),
               .why = format("from one column to the next the axis is climbed by {:.4g} rows, and filtering along rows "
                             "needs rows across the axis",
                             std::abs(slope)),
               .hint = "turn the frames by 90 degrees and exchange the first two rows of each matrix"});
}

}  // namespace

RowLeveller::RowLeveller(const ScanGeometry& recorded)
    : recorded_rows_(recorded.rows), middle_column_(0.5 * static_cast<double>(recorded.columns - 1)), level_(recorded) {
  double steepest = 0;
  for (std::int64_t view = 0; view < recorded.views(); ++view) {
    slope_.push_back(slope_of(recorded, view));
    steepest = std::max(steepest, std::abs(slope_.back()));
  }
  rows_added_ = static_cast<std::int64_t>(std::ceil(steepest * middle_column_));
  level_.rows += 2 * rows_added_;
  for (std::size_t view = 0; view < slope_.size(); ++view) {
    Matrix34& p = level_.matrices[view];
    for (int k = 0; k < 4; ++k)
      p(1, k) += static_cast<double>(rows_added_) * p(2, k) - slope_[view] * (p(0, k) - middle_column_ * p(2, k));
  }
}

RowMap RowLeveller::map() const {
  return {.columns = level_.columns,
          .rows = recorded_rows_,
          .row_from = static_cast<double>(rows_added_),
          .middle_column = middle_column_,
          .slope = slope_.data()};
}

RowBand RowLeveller::recorded_rows(std::int64_t view, RowBand rows) const {
  const double climb = std::abs(slope_[static_cast<std::size_t>(view)]) * middle_column_;
  return rows_of_taps(static_cast<double>(rows.first - rows_added_) - climb,
                      static_cast<double>(rows.last - 1 - rows_added_) + climb, recorded_rows_);
}

std::int64_t RowLeveller::maximum_recorded_rows(std::int64_t rows) const {
  return std::min(recorded_rows_, rows + 2 * rows_added_ + 4);
}

double row_slant(const ScanGeometry& geometry) {
  double squares = 0;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const double slope = slope_of(geometry, view);
    squares += slope * slope;
  }
  return std::sqrt(squares / static_cast<double>(geometry.views())) * 0.5 * static_cast<double>(geometry.columns);
}

// How much too bright a full turn becomes along rows of angle a. The ramp along such a row multiplies the frequency
// (k_h, k_z), horizontal and along the axis, by |k_h cos a + k_z sin a| / cos a: the weights divide by the horizontal
// part of a pixel step, so that what does not change along the axis (k_z = 0) comes out right. The view half a turn
// away sees the other sign of k_h. Their mean is
//   max(|k_h|, |k_z| tan a)
// where |k_h| is right: too much within the angle a of the axis, and nothing wrong beyond. In the middle of a ball all
// directions count alike, and the mean over them is 1 / cos a (0.14 % at 3 degrees, 1.5 % at 10). A factor cos a in the
// weights would mend the ball and spoil everything long: only level rows are right for both.
double brightness_of_slant(const ScanGeometry& geometry) {
  double sum = 0;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const Camera camera = camera_of(geometry, view);
    const double climb = camera.column_step_mm.z / norm(camera.column_step_mm);
    sum += 1 / std::sqrt(1 - climb * climb) - 1;
  }
  return sum / static_cast<double>(geometry.views());
}

std::optional<RowLeveller> row_leveller(const ScanGeometry& geometry, bool every_line_twice) {
  constexpr double noticeable_rows = 0.25;        // below it, interpolating blurs more than levelling mends
  constexpr double noticeable_brightness = 2e-4;  // 1.15 degrees; a tenth of the bar of docs/accuracy.md
  if (geometry.recorded_on_arc || row_slant(geometry) < noticeable_rows) return std::nullopt;
  if (every_line_twice && brightness_of_slant(geometry) < noticeable_brightness) return std::nullopt;
  return RowLeveller(geometry);
}

}  // namespace lepus
