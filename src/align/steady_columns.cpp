// SPDX-License-Identifier: Apache-2.0
#include "align/steady_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "align/axis_line.h"

namespace lepus {
namespace {

constexpr double smallest_offset = 0.01;  // what the search can see
constexpr std::int64_t taps = 6;

// Lagrange's polynomial through six columns: it blurs nothing that is left after center_blur.
std::array<float, taps> lagrange(double fraction) {
  std::array<float, taps> weights{};
  for (std::int64_t i = 0; i < taps; ++i) {
    double weight = 1;
    for (std::int64_t j = 0; j < taps; ++j)
      if (j != i) weight *= (fraction + 2 - static_cast<double>(j)) / static_cast<double>(i - j);
    weights[static_cast<std::size_t>(i)] = static_cast<float>(weight);
  }
  return weights;
}

}  // namespace

std::vector<double> column_offsets(const ScanGeometry& geometry, std::optional<double> middle_row) {
  std::vector<double> columns =
      axis_columns(geometry, middle_row.value_or(0.5 * static_cast<double>(geometry.rows - 1)));
  const double mean = std::accumulate(columns.begin(), columns.end(), 0.0) / static_cast<double>(columns.size());
  for (double& column : columns) column -= mean;
  if (std::ranges::all_of(columns, [](double c) { return std::abs(c) < smallest_offset; })) return {};
  return columns;
}

ScanGeometry steadied(ScanGeometry geometry, const std::vector<double>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    for (int j = 0; j < 4; ++j) geometry.matrices[i](0, j) -= offsets[i] * geometry.matrices[i](2, j);
  return geometry;
}

CenterBand steadied(const CenterBand& band, std::int64_t columns, const std::vector<double>& offsets) {
  CenterBand moved{band.first_row, band.rows, std::vector<float>(band.line_integrals.size())};
  const auto views = static_cast<std::int64_t>(offsets.size());
  for (std::int64_t item = 0; item < band.rows * views; ++item) {
    const double offset = offsets[static_cast<std::size_t>(item % views)], whole = std::floor(offset);
    const std::array<float, taps> weights = lagrange(offset - whole);
    const float* in = band.line_integrals.data() + item * columns;
    float* out = moved.line_integrals.data() + item * columns;
    for (std::int64_t u = 0; u < columns; ++u) {
      const std::int64_t first = u + static_cast<std::int64_t>(whole) - 2;
      for (std::int64_t k = 0; k < taps; ++k)
        out[u] += weights[static_cast<std::size_t>(k)] * in[std::clamp<std::int64_t>(first + k, 0, columns - 1)];
    }
  }
  return moved;
}

}  // namespace lepus
