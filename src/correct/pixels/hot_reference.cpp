// SPDX-License-Identifier: Apache-2.0
#include "correct/pixels/hot_reference.h"

namespace lepus::pixels {

ReferenceDeviations reference_deviations(const HotRules& rules, const Planes& sinograms, std::int64_t plane) {
  const NoiseWeights& weights = rules.weights;
  const std::int64_t columns = sinograms.width, views = sinograms.height, reach = rules.reach();
  const auto count = static_cast<std::size_t>(columns);
  ReferenceDeviations d{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count)};
  for (std::int64_t x = 0; x < columns; ++x) {
    const bool has_left = x >= reach, has_right = x + reach < columns;
    double left = 0, middle = 0, right = 0;
    for (std::int64_t view = 0; view < views; ++view) {
      const float* w = sinograms.row(plane, view);
      double n_left = 0, n_middle = 0, n_right = 0;
      for (int i = 0; i < weights.window; ++i) {
        const std::int64_t k = weights.gap + i;
        const double from_left = has_left ? static_cast<double>(w[x]) - w[x - k] : 0;
        const double from_right = has_right ? static_cast<double>(w[x]) - w[x + k] : 0;
        n_left += weights.one[i] * from_left;
        n_right += weights.one[i] * from_right;
        n_middle += weights.two[i] * (from_left + from_right);
      }
      left += n_left * n_left;
      middle += n_middle * n_middle;
      right += n_right * n_right;
    }
    const auto at = static_cast<std::size_t>(x);
    const double divisor = static_cast<double>(views - 1);
    if (has_left) d.left[at] = std::sqrt(left / divisor) * weights.one_scale;
    if (has_right) d.right[at] = std::sqrt(right / divisor) * weights.one_scale;
    if (has_left && has_right) d.middle[at] = std::sqrt(middle / divisor) * weights.two_scale;
  }
  return d;
}

std::vector<unsigned char> reference_hot_pixels(const HotRules& rules, int iterations, const Planes& sinograms,
                                                std::int64_t plane) {
  const std::int64_t columns = sinograms.width;
  std::vector<unsigned char> ever(static_cast<std::size_t>(columns)), hot(ever.size());
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const ReferenceDeviations d = reference_deviations(rules, sinograms, plane);
    const std::vector<float> left(d.left.begin(), d.left.end()), middle(d.middle.begin(), d.middle.end()),
        right(d.right.begin(), d.right.end());
    const HotRow row = rules.classic ? classic_row(middle.data(), columns) : HotRow{};
    bool any = false;
    for (std::int64_t x = 0; x < columns; ++x) {
      const Verdict found = rules.classic
                                ? verdict(rules, hot_in_row(rules, middle.data(), row, columns, x), false)
                                : hot_in_windows(rules, {left.data(), middle.data(), right.data()}, columns, x);
      bool is_hot = found == Verdict::hot;
      if (found == Verdict::suspect) {
        std::int64_t count = 0;
        for (std::int64_t view = 0; view < sinograms.height; ++view)
          count += stands_out<double>(rules, sinograms.row(plane, view), columns, x);
        is_hot = count >= rules.minimum_views;
      }
      hot[static_cast<std::size_t>(x)] = is_hot;
      any = any || is_hot;
      if (is_hot) ever[static_cast<std::size_t>(x)] = 1;
    }
    if (!any) break;
    for (std::int64_t view = 0; view < sinograms.height; ++view) {
      float* w = sinograms.row(plane, view);
      for (std::int64_t x = 0; x < columns; ++x)
        if (hot[static_cast<std::size_t>(x)]) w[x] = replacement(rules, w, hot.data(), columns, x);
    }
  }
  return ever;
}

}  // namespace lepus::pixels
