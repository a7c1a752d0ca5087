// SPDX-License-Identifier: Apache-2.0
#include "filter/truncation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/format.h"
#include "filter/weights.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double noticeable = 0.1;
constexpr std::int64_t edge_columns = 3, values_per_row = 128;

// None where the geometry cannot be weighted, which is said elsewhere: its axis may be what is looked for.
std::optional<FdkWeights> weights_of(const ScanGeometry& geometry) {
  try {
    return FdkWeights(geometry);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool Truncation::seen() const { return std::max(first, last) > noticeable; }

// A disc's chord at d from its middle is sqrt(1 - (d/r)^2) of the largest, and a row is 2 d wide.
double Truncation::extrapolate() const {
  constexpr double least = 0.05, most = 1, all_is_cut_off = 0.99;
  const double edge = std::min(std::max(first, last), all_is_cut_off);
  return std::clamp(0.5 * (1 / std::sqrt(1 - edge * edge) - 1), least, most);
}

std::string Truncation::message(std::string_view remedy) const {
  if (!seen()) return {};
  const bool both = std::min(first, last) > noticeable;
  const char* where = both           ? "both sides of the detector"
                      : first > last ? "the detector's side at column 0"
                                     : "the detector's side at its last column";
  return format(
      "the object seems to reach past {} (line integrals there are {:.0f} % of the largest): the volume "
      "will be too bright near the rim; set {} to lessen that",
      where, 100 * std::max(first, last),
      remedy.empty() ? format("filter.extrapolate = {:.2g} (which fits a round object)", extrapolate())
                     : std::string(remedy));
}

Truncation truncation(const ScanGeometry& geometry, std::int64_t row, const float* sinogram) {
  const std::int64_t columns = geometry.columns, views = geometry.views();
  if (columns < 8) return {};
  const std::optional<FdkWeights> weights = weights_of(geometry);
  const auto share = [&](std::int64_t view, std::int64_t u) {
    return weights ? weights->redundancy(view, static_cast<double>(u), static_cast<double>(row)) : 0.5;
  };
  const auto line = [&](std::int64_t view, std::int64_t u) {
    return static_cast<double>(sinogram[view * columns + u]);
  };
  // In a short scan the weight of a pixel goes from 0 to 1 with the views: the largest has its column's mean, as the
  // edges do, whose mean is taken over all views.
  const std::int64_t stride = std::max<std::int64_t>(1, columns / values_per_row);
  std::vector<double> values;
  for (std::int64_t u = 0; u < columns; u += stride) {
    double shares = 0;
    for (std::int64_t view = 0; view < views; ++view) shares += share(view, u);
    for (std::int64_t view = 0; view < views; ++view)
      if (const double p = line(view, u); std::isfinite(p)) values.push_back(shares / static_cast<double>(views) * p);
  }
  double first = 0, last = 0, measured = 0;
  for (std::int64_t view = 0; view < views; ++view) {
    double left = 0, right = 0;
    for (std::int64_t i = 0; i < edge_columns; ++i) {
      left += share(view, i) * line(view, i);
      right += share(view, columns - 1 - i) * line(view, columns - 1 - i);
    }
    if (!std::isfinite(left + right)) continue;
    first += left;
    last += right;
    measured += edge_columns;
  }
  if (values.empty() || measured == 0) return {};
  const auto high = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), high, values.end());
  if (!(*high > 0)) return {};
  return {first / measured / *high, last / measured / *high};
}

}  // namespace lepus
