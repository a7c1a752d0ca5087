// SPDX-License-Identifier: Apache-2.0
// Where a scan's frames show nothing but air, and how bright the beam was there in every view: a pre-pass over a few
// rows. Grey levels (1 in air) -> one level per view, the noise of that level, and doubts about the region.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/memory.h"
#include "geometry/row_band.h"

namespace lepus {

// The pixels that are looked at in every view: columns [column0, column1) of each of the rows.
struct AirPart {
  std::int64_t column0 = 0, column1 = 0;
  std::vector<std::int64_t> rows;

  std::int64_t pixels() const { return (column1 - column0) * static_cast<std::int64_t>(rows.size()); }
};

struct AirLevels {
  std::vector<double> levels;  // per view
  std::int64_t pixels = 0;     // that each is a mean of
  double noise = 0;            // of a level, relative: from view to view, of parts of the region against each other
  double lowest = 0;           // level of any three neighbouring views (their median)
  // Parts of the region (up to 4 x 4) against its mean: the largest standard deviation over the views, relative to the
  // level, and how much larger that is than successive views explain. 1: noise; far more: something moves through.
  double movement = 0, movement_over_noise = 0;
  double brighter = 0;  // share of the pixels in these rows that are at least 5 % brighter than the region
};

struct FrameRows {
  std::int64_t columns = 0, rows = 0, views = 0;
  std::function<Buffer<float>(RowBand)> band;  // [row][view][column]
};

// The mean without outliers: of what lies within four robust standard deviations (from the median absolute deviation)
// of the median. Reorders the values.
double clipped_mean(std::vector<float>& values);

// Columns at the left and the right edge of the frame that are air in every view, judged in a few rows: those that stay
// within 2 % (or five times their noise) of the outermost columns of the brighter side. Empty where there are none.
std::vector<AirPart> find_air(const FrameRows& frames);

// Rows are thinned out evenly where the region has more than maximum_rows.
AirPart air_part(std::int64_t column0, std::int64_t column1, std::int64_t row0, std::int64_t row1);

AirLevels measure_air(const FrameRows& frames, const std::vector<AirPart>& parts);

}  // namespace lepus
