// SPDX-License-Identifier: Apache-2.0
#include "preprocess/arc_resample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/arc.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {

ArcResampler::ArcResampler(const ScanGeometry& geometry, Onto onto) {
  if (!geometry.recorded_on_arc)
    throw Error(ErrorKind::internal,
                {.what = "the scan was not recorded on an arc", .where = {}, .why = {}, .hint = {}});
  const ArcDetector& arc = *geometry.recorded_on_arc;
  const Camera camera = camera_of(geometry, 0);
  from_ = {arc.columns, arc.rows, arc.central_row};
  to_ = {geometry.columns, geometry.rows, ArcMap(geometry).flat_row()};
  if (onto == Onto::arc) std::swap(from_, to_);
  for (std::int64_t i = 0; i < to_.columns; ++i) {
    const auto column = static_cast<double>(i);
    const double gamma = onto == Onto::flat
                             ? std::atan((column - camera.principal_column) * arc.pixel_width_mm / arc.radius_mm)
                             : (column - arc.central_column) * arc.pixel_width_mm / arc.radius_mm;
    column_at_.push_back(onto == Onto::flat
                             ? gamma * arc.radius_mm / arc.pixel_width_mm + arc.central_column
                             : std::tan(gamma) * arc.radius_mm / arc.pixel_width_mm + camera.principal_column);
    const double cosine = geometry.beam == Beam::fan ? 1.0 : std::cos(gamma);
    stretch_.push_back(onto == Onto::flat ? cosine : 1 / cosine);
  }
}

RowBand ArcResampler::recorded_rows(std::int64_t, RowBand rows) const {
  const auto [least, most] = std::minmax_element(stretch_.begin(), stretch_.end());
  const double top = static_cast<double>(rows.first) - to_.central_row,
               bottom = static_cast<double>(rows.last - 1) - to_.central_row;
  return rows_of_taps(std::min(top * *least, top * *most) + from_.central_row,
                      std::max(bottom * *least, bottom * *most) + from_.central_row, from_.rows);
}

std::int64_t ArcResampler::maximum_recorded_rows(std::int64_t rows) const {
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < to_.rows; ++row)
    most = std::max(most, recorded_rows(0, {row, std::min(row + rows, to_.rows)}).size());
  return most;
}

RowMap ArcResampler::map() const {
  return {.columns = from_.columns,
          .rows = from_.rows,
          .row_from = to_.central_row,
          .row_to = from_.central_row,
          .stretch = stretch_.data(),
          .column_at = column_at_.data(),
          .zero_beyond = true};
}

}  // namespace lepus
