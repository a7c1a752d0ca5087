// SPDX-License-Identifier: Apache-2.0
#include "run/row_filter.h"

#include <algorithm>

#include "io/pixels.h"

namespace lepus {
namespace {

std::int64_t aligned(std::int64_t floats) { return (floats + 15) / 16 * 16; }

// Rows of `columns` values become rows of `wide`, in place, with zeros around them.
void spread(float* rows, std::int64_t count, std::int64_t columns, std::int64_t before, std::int64_t wide) {
  if (wide == columns) return;
  for (std::int64_t row = count - 1; row >= 0; --row) {  // from the end: each row moves away from the ones before it
    float* to = rows + row * wide;
    std::copy_backward(rows + row * columns, rows + (row + 1) * columns, to + before + columns);
    std::fill(to, to + before, 0.0F);
    std::fill(to + before + columns, to + wide, 0.0F);
  }
}

}  // namespace

RowBand RowFilter::recorded_rows(std::int64_t view, RowBand rows) const {
  return parts_.resampler ? parts_.resampler->recorded_rows(view, rows) : rows;
}

std::int64_t RowFilter::scratch_floats() const {
  const std::int64_t recorded =
      parts_.resampler ? aligned(parts_.resampler->most_recorded_rows(rows_at_once) * parts_.frames->columns()) : 0;
  return aligned(rows_at_once * parts_.ramp->columns()) + recorded + aligned(parts_.ramp->scratch_floats());
}

float* RowFilter::line_integrals(const RowBlock& block, float* scratch) const {
  const RowRequest& request = block.request;
  float* flat = scratch + aligned(parts_.ramp->scratch_floats());
  float* rows = parts_.resampler ? flat + aligned(rows_at_once * parts_.ramp->columns()) : flat;

  convert_to_float(parts_.frames->pixel_type(), block.pixels.data(), request.recorded.size() * parts_.frames->columns(),
                   rows);
  if (parts_.audit)
    parts_.audit->record(request.view, request.recorded.first, request.recorded.last, block.pixels.data(), rows);
  if (parts_.normalisation) parts_.normalisation->apply(request.recorded.first, request.recorded.last, rows);
  if (parts_.dead_pixels)
    bridge_along_rows(*parts_.dead_pixels, parts_.frames->columns(), request.recorded.first, request.recorded.last,
                      rows);
  if (parts_.resampler) parts_.resampler->apply(request.view, request.rows, rows, flat);
  return flat;
}

const float* RowFilter::apply(const RowBlock& block, float* scratch) const {
  const RowRequest& request = block.request;
  const std::int64_t columns = parts_.ramp->columns();
  float* transform = scratch;
  float* flat = line_integrals(block, scratch);
  parts_.weights->apply(request.view, request.rows.first, request.rows.last, flat);
  spread(flat, request.rows.size(), parts_.columns, parts_.columns_before, columns);
  for (std::int64_t row = 0; row < request.rows.size(); ++row) parts_.ramp->apply(flat + row * columns, transform);
  return flat;
}

}  // namespace lepus
