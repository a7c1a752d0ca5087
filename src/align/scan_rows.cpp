// SPDX-License-Identifier: Apache-2.0
#include "align/scan_rows.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "run/prepass.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Means over binning x binning pixels; `flat` has `columns` columns and binning times as many rows.
CenterBand binned_band(const std::vector<float>& flat, RowBand rows, std::int64_t views, std::int64_t columns,
                       std::int64_t binning) {
  const std::int64_t narrow = columns / binning;
  CenterBand band{static_cast<double>(rows.first), rows.size(), {}};
  band.line_integrals.resize(static_cast<std::size_t>(rows.size() * views * narrow));
  const float share = 1.0F / static_cast<float>(binning * binning);
  for (std::int64_t item = 0; item < rows.size() * views; ++item) {
    const std::int64_t row = item / views, view = item % views;
    for (std::int64_t u = 0; u < narrow; ++u) {
      float sum = 0;
      for (std::int64_t y = 0; y < binning; ++y)
        for (std::int64_t x = 0; x < binning; ++x)
          sum += flat[static_cast<std::size_t>(((row * binning + y) * views + view) * columns + u * binning + x)];
      band.line_integrals[static_cast<std::size_t>(item * narrow + u)] = share * sum;
    }
  }
  return band;
}

std::vector<RowBand> chosen_bands(const ScanGeometry& geometry, const CenterRequest& request, std::int64_t binning) {
  if (!request.row) {
    std::int64_t count = request.bands;
    while (true) {
      std::vector<RowBand> bands = center_bands(geometry, count, request.options);
      std::int64_t rows = 0;
      for (const RowBand& band : bands) rows += band.size();
      // The rows themselves, blurred ones, and two copies that are worked with.
      const std::int64_t bytes =
          4 * rows * geometry.views() * geometry.columns * static_cast<std::int64_t>(sizeof(float));
      if (request.memory_bytes <= 0 || bytes <= request.memory_bytes || count <= 1) return bands;
      count = count > 3 ? 3 : 1;
    }
  }
  const std::int64_t row = *request.row / binning;
  if (*request.row < 0 || row >= geometry.rows)
    throw Error(ErrorKind::usage, {.what = format("there is no row {}", *request.row),
                                   .where = "centre",
                                   .why = format("the selected rows are 0 to {}", geometry.rows * binning - 1),
                                   .hint = "give a row of the frames, counted from the top"});
  return {{row, row + 1}};
}

}  // namespace

ScanGeometry binned(const ScanGeometry& geometry, std::int64_t binning) {
  if (binning == 1) return geometry;
  ScanGeometry result = geometry;
  result.recorded_on_arc.reset();
  result.columns /= binning;
  result.rows /= binning;
  const auto n = static_cast<double>(binning);
  for (Matrix34& p : result.matrices)
    for (int j = 0; j < 4; ++j) {
      const double v_scale = geometry.beam == Beam::fan ? (j == 3 ? 1.0 : 0.0) : p(2, j);
      p(0, j) = (p(0, j) - 0.5 * (n - 1) * p(2, j)) / n;
      p(1, j) = (p(1, j) - 0.5 * (n - 1) * v_scale) / n;
    }
  return result;
}

CenterResult CenterScan::in_frames(CenterResult r) const {
  const auto n = static_cast<double>(binning);
  const auto place = [&](double x) { return n * x + 0.5 * (n - 1); };
  r.column = place(r.column);
  r.given_column = place(r.given_column);
  r.middle_row = place(r.middle_row);
  r.column_error *= n;
  for (auto* curve : {&r.curve, &r.wide_curve})
    for (ScorePoint& p : *curve) p.column = place(p.column);
  for (RowCenter& c : r.rows) c = {place(c.row), place(c.column)};
  return r;
}

CenterScan read_center_rows(const Scan& scan, const CenterRequest& request, Context& context) {
  const PrePass pre = pre_pass(scan, context);
  CenterScan result;
  result.warnings = pre.warnings;
  result.binning = std::max<std::int64_t>(1, (scan.geometry.columns + request.widest - 1) / request.widest);
  while (result.binning > 1 && scan.geometry.rows < 8 * result.binning) --result.binning;  // few rows: keep them
  CenterInput& input = result.input;
  input.geometry = binned(scan.geometry, result.binning);
  input.geometry.recorded_on_arc.reset();
  input.options = request.options;
  const auto in_input = [&](std::optional<double>& column) {
    if (column) column = result.column_in_input(*column);
  };
  in_input(input.options.first);
  in_input(input.options.last);
  // The detector turns about the middle of all its rows, selected or not.
  const double middle =
      (0.5 * static_cast<double>(scan.recorded.rows - 1) - static_cast<double>(scan.selection.first_row)) /
      static_cast<double>(scan.selection.row_step);
  if (!scan.geometry.recorded_on_arc) input.middle_row = result.column_in_input(middle);

  const std::int64_t k = result.binning;
  const std::vector<RowBand> bands = chosen_bands(input.geometry, request, k);
  context.progress.begin("reading", static_cast<std::int64_t>(bands.size()));
  for (const RowBand& band : bands) {
    const std::vector<float> flat = flat_rows(scan.geometry, pre, {band.first * k, band.last * k}, context);
    input.bands.push_back(binned_band(flat, band, scan.geometry.views(), scan.geometry.columns, k));
    context.progress.advance();
  }
  context.progress.end();
  return result;
}

}  // namespace lepus
