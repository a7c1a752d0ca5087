// SPDX-License-Identifier: Apache-2.0
#include "preprocess/arc_resample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// The four taps of Catmull-Rom interpolation at a coordinate, clamped to [0, n); weights sum to one.
struct Taps {
  std::array<std::int64_t, 4> index;
  std::array<double, 4> weight;
};

Taps catmull_rom(double x, std::int64_t n) {
  const double base = std::floor(x), f = x - base;
  Taps taps{{},
            {0.5 * f * (-1 + f * (2 - f)), 1 + f * f * (-2.5 + 1.5 * f), 0.5 * f * (1 + f * (4 - 3 * f)),
             0.5 * f * f * (f - 1)}};
  for (int k = 0; k < 4; ++k)
    taps.index[static_cast<std::size_t>(k)] =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(base) + k - 1, 0, n - 1);
  return taps;
}

bool covered(double x, std::int64_t n) { return x >= -0.5 && x <= static_cast<double>(n) - 0.5; }

}  // namespace

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

ArcResampler::Rows ArcResampler::recorded_rows(std::int64_t row0, std::int64_t row1) const {
  const auto [least, most] = std::minmax_element(cosine_.begin(), cosine_.end());
  const double top = static_cast<double>(row0) - flat_central_row_,
               bottom = static_cast<double>(row1 - 1) - flat_central_row_;
  const double lowest = std::min(top * *least, top * *most) + arc_.central_row;
  const double highest = std::max(bottom * *least, bottom * *most) + arc_.central_row;
  const auto first = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(lowest)) - 1, 0, arc_.rows - 1);
  const auto last = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(highest)) + 3, first + 1, arc_.rows);
  return {first, last};
}

std::int64_t ArcResampler::most_recorded_rows(std::int64_t flat_rows) const {
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < flat_rows_; ++row) {
    const Rows rows = recorded_rows(row, std::min(row + flat_rows, flat_rows_));
    most = std::max(most, rows.last - rows.first);
  }
  return most;
}

void ArcResampler::apply(std::int64_t row0, std::int64_t row1, const float* recorded, float* flat) const {
  const Rows held = recorded_rows(row0, row1);
  for (std::int64_t column = 0; column < flat_columns_; ++column) {
    const auto c = static_cast<std::size_t>(column);
    const Taps across = catmull_rom(arc_column_[c], arc_.columns);
    for (std::int64_t row = row0; row < row1; ++row) {
      const double arc_row = (static_cast<double>(row) - flat_central_row_) * cosine_[c] + arc_.central_row;
      double value = 0;
      if (covered(arc_column_[c], arc_.columns) && covered(arc_row, arc_.rows)) {
        const Taps along = catmull_rom(arc_row, arc_.rows);
        for (std::size_t j = 0; j < 4; ++j) {
          const float* line = recorded + (along.index[j] - held.first) * arc_.columns;
          double sum = 0;
          for (std::size_t i = 0; i < 4; ++i) sum += across.weight[i] * static_cast<double>(line[across.index[i]]);
          value += along.weight[j] * sum;
        }
      }
      flat[(row - row0) * flat_columns_ + column] = static_cast<float>(value);
    }
  }
}

}  // namespace lepus
