// SPDX-License-Identifier: Apache-2.0
#include "align/scan_rows.h"

#include <algorithm>
#include <cmath>

#include "align/axis_line.h"
#include "core/format.h"
#include "run/prepass.h"
#include "scan/parameters.h"
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

std::vector<RowBand> chosen_bands(const CenterScan& scan, const CenterRequest& request, const ScanGeometry& whole) {
  const ScanGeometry& geometry = scan.input.geometry;
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
  const std::int64_t rows = whole.recorded_on_arc ? whole.recorded_on_arc->rows : geometry.rows * scan.binning;
  const PixelPosition asked{recorded_axis_column(whole), static_cast<double>(*request.row)};
  const auto row = static_cast<std::int64_t>(std::llround(scan.in_input(asked).row));
  if (*request.row < 0 || *request.row >= rows || row >= geometry.rows)
    throw Error(ErrorKind::usage, {.what = format("there is no row {}", *request.row),
                                   .where = "centre",
                                   .why = format("the selected rows are 0 to {}", rows - 1),
                                   .hint = "give one of them, counted from the first row that the scan file selects"});
  return {{row, row + 1}};
}

// A curve that is fitted to a reconstruction with the axis beside its place would be wrong, or none would be found; the
// two ends of a ray agree as well without it.
Scan without_fitted_hardening(Scan scan) {
  std::erase_if(scan.corrections,
                [](const CorrectionSpec& spec) { return spec.kind == "hardening" && flag_of(spec, "homogeneous"); });
  return scan;
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

PixelPosition CenterScan::in_frames(PixelPosition seen) const {
  const auto n = static_cast<double>(binning);
  const PixelPosition flat{n * seen.column + 0.5 * (n - 1), n * seen.row + 0.5 * (n - 1)};
  return arc ? arc->to_recorded(flat) : flat;
}

PixelPosition CenterScan::in_input(PixelPosition frames) const {
  const auto n = static_cast<double>(binning);
  const PixelPosition flat = arc ? arc->to_flat(frames) : frames;
  return {(flat.column - 0.5 * (n - 1)) / n, (flat.row - 0.5 * (n - 1)) / n};
}

CenterResult CenterScan::in_frames(CenterResult r) const {
  const auto column = [&](double x) { return in_frames(PixelPosition{x, r.middle_row}).column; };
  const PixelPosition middle = in_frames(PixelPosition{r.column, r.middle_row});
  for (auto* curve : {&r.curve, &r.wide_curve})
    for (ScorePoint& p : *curve) p.column = column(p.column);
  for (RowCenter& c : r.rows) {
    const PixelPosition place = in_frames(PixelPosition{c.column, c.row});
    c = {place.row, place.column};
  }
  r.column_error *= column(r.column + 0.5) - column(r.column - 0.5);
  r.given_column = column(r.given_column);
  r.column = middle.column;
  r.middle_row = middle.row;
  return r;
}

CenterScan read_center_rows(const Scan& scan, const CenterRequest& request, Context& context) {
  const Scan searched = without_fitted_hardening(scan);  // the pre-pass refers to it
  const PrePass pre = pre_pass(searched, context);
  CenterScan result;
  result.warnings = pre.warnings;
  result.binning = std::max<std::int64_t>(1, (scan.geometry.columns + request.widest - 1) / request.widest);
  while (result.binning > 1 && scan.geometry.rows < 8 * result.binning) --result.binning;  // few rows: keep them
  CenterInput& input = result.input;
  input.geometry = binned(scan.geometry, result.binning);
  input.geometry.recorded_on_arc.reset();
  if (scan.geometry.recorded_on_arc) result.arc.emplace(scan.geometry);
  input.options = request.options;
  if (result.arc) input.options.tilt = false;  // no arc is tilted
  for (std::optional<double>* column : {&input.options.first, &input.options.last})
    if (*column) *column = result.in_input(PixelPosition{**column, 0}).column;
  // The detector turns about the middle of all its rows, selected or not.
  const double middle =
      (0.5 * static_cast<double>(scan.recorded.rows - 1) - static_cast<double>(scan.selection.first_row)) /
      static_cast<double>(scan.selection.row_step);
  if (!result.arc) input.middle_row = result.in_input(PixelPosition{0, middle}).row;

  const std::int64_t k = result.binning;
  const std::vector<RowBand> bands = chosen_bands(result, request, scan.geometry);
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
