// SPDX-License-Identifier: Apache-2.0
#include "project/phase_plan.h"

#include <algorithm>
#include <cmath>

#include <lepus/math.h>

namespace lepus {
namespace {

constexpr double edge_left_out = 1e-4;
constexpr std::int64_t minimum_halo = 32, minimum_inner = 96;

std::int64_t small_factors_length(std::int64_t n) {
  for (std::int64_t length = n;; ++length) {
    std::int64_t rest = length;
    for (const std::int64_t factor : {2, 3, 5, 7})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return length;
  }
}

PhaseTiles tiles_for(std::int64_t detector_rows, double a_v) {
  const std::int64_t halo = phase_halo(a_v);
  // Twice the halo inside: half of the work is then halo, and a band for a few rows is four halos high, where two would
  // be the least.
  const std::int64_t height = small_factors_length(std::max(2 * halo, minimum_inner) + 2 * halo);
  if (detector_rows <= height) return {detector_rows, detector_rows, 0};
  return {detector_rows, height - 2 * halo, halo};
}

std::vector<Complex32> twiddles(std::int64_t n) {
  std::vector<Complex32> w;
  for (std::int64_t k = 0; k <= n / 2; ++k) {
    const double angle = -pi * static_cast<double>(k) / static_cast<double>(2 * n);
    w.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
  }
  return w;
}

}  // namespace

std::int64_t phase_halo(double a_v) {
  const double decay = std::sqrt(a_v) / (2 * pi);
  return std::max(minimum_halo, static_cast<std::int64_t>(std::ceil(decay * std::log(0.5 / edge_left_out))));
}

PhasePlan::PhasePlan(std::int64_t columns, std::int64_t detector_rows, double strength_v, double strength_u)
    : a_v(strength_v), a_u(strength_u), tiles(tiles_for(detector_rows, strength_v)) {
  const auto height = static_cast<double>(tiles.height()), width = static_cast<double>(columns);
  filter.height = tiles.height();
  filter.width = columns;
  filter.row_scale = static_cast<float>(a_v / (4 * height * height));
  filter.column_scale = static_cast<float>(a_u / (4 * width * width));
  filter.norm = static_cast<float>(1 / (height * width));
  row_twiddles = twiddles(filter.height);
  column_twiddles = twiddles(filter.width);
}

RowBand PhasePlan::tiles_of(RowBand wanted) const {
  return {wanted.first / tiles.inner, (wanted.last + tiles.inner - 1) / tiles.inner};
}

RowBand PhasePlan::rows_needed(RowBand wanted) const {
  if (wanted.size() <= 0) return wanted;
  const RowBand t = tiles_of(wanted);
  const std::int64_t rows = tiles.detector_rows;
  const std::int64_t first = t.first * tiles.inner - tiles.halo, last = t.last * tiles.inner + tiles.halo;
  // The last tile shows rows of the detector again, mirrored at its lower edge.
  return {std::max<std::int64_t>(0, last > rows ? std::min(first, 2 * rows - last) : first), std::min(rows, last)};
}

}  // namespace lepus
