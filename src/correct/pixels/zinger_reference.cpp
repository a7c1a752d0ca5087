// SPDX-License-Identifier: Apache-2.0
#include "correct/pixels/zinger_reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lepus::pixels {
namespace {

float sorted_median(std::vector<float> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

std::int64_t reference_zingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t plane) {
  const std::int64_t columns = sinograms.width, views = sinograms.height;
  std::vector<float> original(static_cast<std::size_t>(columns * views));
  for (std::int64_t view = 0; view < views; ++view)
    std::copy_n(sinograms.row(plane, view), columns, original.begin() + view * columns);
  const auto w = [&](std::int64_t view, std::int64_t x) {
    return original[static_cast<std::size_t>(view * columns + x)];
  };
  const auto view_median = [&](std::int64_t view, std::int64_t x) {
    std::vector<float> values;
    for (std::int64_t i = 0; i <= std::int64_t{2} * rules.radius; ++i)
      values.push_back(w(first_neighbour(view, rules.radius, views) + i, x));
    return sorted_median(values);
  };
  const auto row_median = [&](std::int64_t view, std::int64_t x) {
    std::vector<float> values;
    for (std::int64_t i = 0; i <= std::int64_t{2} * row_radius; ++i)
      values.push_back(w(view, first_neighbour(x, row_radius, columns) + i));
    return sorted_median(values);
  };
  const auto height = [&](std::int64_t view, std::int64_t x) {  // above the row
    return rules.sign * (static_cast<double>(w(view, x)) - row_median(view, x));
  };
  // Whether fewer than two of the four views around have something near by that stands out of its row.
  const auto alone = [&](std::int64_t view, std::int64_t x, double threshold) {
    if (rules.along == 0) return true;
    const double least = std::max(share_of_detail * height(view, x), 0.5 * threshold);
    int with_detail = 0;
    for (const std::int64_t step : {-2, -1, 1, 2}) {
      const std::int64_t next = view + step, along = rules.along * std::abs(step);
      bool any = false;
      for (std::int64_t k = std::max<std::int64_t>(0, x - along); k <= std::min(columns - 1, x + along); ++k)
        any = any || (next >= 0 && next < views && height(next, k) > least);
      with_detail += any;
    }
    return with_detail < 2;
  };
  const bool by_row = rules.neighbours == ZingerNeighbours::row;
  std::int64_t replaced = 0;
  for (std::int64_t x = 0; x < columns; ++x) {
    double distance = 0;
    for (std::int64_t view = 0; view < views; ++view)
      distance += std::abs(static_cast<double>(w(view, x)) - (by_row ? row_median(view, x) : view_median(view, x)));
    const double threshold = rules.limit * distance / static_cast<double>(views);
    for (std::int64_t view = 0; view < views; ++view) {
      const float median = by_row ? row_median(view, x) : view_median(view, x);
      if (!(rules.sign * (static_cast<double>(w(view, x)) - median) > threshold)) continue;
      if (rules.neighbours == ZingerNeighbours::both && !(height(view, x) > threshold && alone(view, x, threshold)))
        continue;
      sinograms.row(plane, view)[x] = median;
      ++replaced;
    }
  }
  return replaced;
}

}  // namespace lepus::pixels
