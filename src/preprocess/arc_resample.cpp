// SPDX-License-Identifier: Apache-2.0
#include "preprocess/arc_resample.h"

#include <algorithm>
#include <cmath>

#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
ArcResampler::ArcResampler(const ScanGeometry& geometry)
    : beam_(geometry.beam), flat_columns_(geometry.columns), flat_rows_(geometry.rows) {
  if (!geometry.recorded_on_arc)
    throw Error(ErrorKind::internal,
                {.what = "the scan was not recorded on an arc", .where = {}, .why = {}, .hint = {}});
  arc_ = *geometry.recorded_on_arc;
  const Camera camera = camera_of(geometry, 0);
  flat_central_row_ = camera.principal_row;
  for (std::int64_t column = 0; column < flat_columns_; ++column) {
    const double gamma =
        std::atan((static_cast<double>(column) - camera.principal_column) * arc_.pixel_width_mm / arc_.radius_mm);
    arc_column_.push_back(gamma * arc_.radius_mm / arc_.pixel_width_mm + arc_.central_column);
    cosine_.push_back(beam_ == Beam::fan ? 1.0 : std::cos(gamma));
  }
}

RowBand ArcResampler::recorded_rows(std::int64_t, RowBand rows) const {
  const auto [least, most] = std::minmax_element(cosine_.begin(), cosine_.end());
  const double top = static_cast<double>(rows.first) - flat_central_row_,
               bottom = static_cast<double>(rows.last - 1) - flat_central_row_;
  return rows_of_taps(std::min(top * *least, top * *most) + arc_.central_row,
                      std::max(bottom * *least, bottom * *most) + arc_.central_row, arc_.rows);
}

std::int64_t ArcResampler::maximum_recorded_rows(std::int64_t rows) const {
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < flat_rows_; ++row)
    most = std::max(most, recorded_rows(0, {row, std::min(row + rows, flat_rows_)}).size());
  return most;
}

RowMap ArcResampler::map() const {
  return {.columns = arc_.columns,
          .rows = arc_.rows,
          .row_from = flat_central_row_,
          .row_to = arc_.central_row,
          .stretch = cosine_.data(),
          .column_at = arc_column_.data(),
          .zero_beyond = true};
}

}  // namespace lepus
