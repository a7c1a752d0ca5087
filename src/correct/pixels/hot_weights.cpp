// SPDX-License-Identifier: Apache-2.0
#include "correct/pixels/hot_weights.h"

#include <algorithm>
#include <cmath>

namespace lepus::pixels {
namespace {

// The original weights: 6 w[x] - 10 w[x-gap] + 4 w[x-gap-1], and half of it on each side.
void original_weights(NoiseWeights& weights) {
  weights.window = 2;
  weights.one[0] = 10;
  weights.one[1] = -4;
  weights.two[0] = 5;
  weights.two[1] = -2;
}

// Least squares: n is the pixel less what a polynomial through the windows says there. One window: a line, by distance
// t; both: even powers 1 and t^2 (odd ones cancel). Of a polynomial in s, fitted at `count` points, the value at s = 0
// has the weights 1/count - mean (s - mean) / S, S = sum (s - mean)^2.
void fitted_weights(NoiseWeights& weights) {
  const int count = weights.window;
  double t_mean = 0, q_mean = 0, t_squares = 0, q_squares = 0;
  const auto t = [&](int i) { return static_cast<double>(weights.gap + i); };
  for (int i = 0; i < count; ++i) {
    t_mean += t(i) / count;
    q_mean += t(i) * t(i) / count;
  }
  for (int i = 0; i < count; ++i) {
    t_squares += (t(i) - t_mean) * (t(i) - t_mean);
    q_squares += (t(i) * t(i) - q_mean) * (t(i) * t(i) - q_mean);
  }
  for (int i = 0; i < count; ++i) {
    weights.one[i] = static_cast<float>(1.0 / count - t_mean * (t(i) - t_mean) / t_squares);
    weights.two[i] = static_cast<float>(0.5 * (1.0 / count - q_mean * (t(i) * t(i) - q_mean) / q_squares));
  }
}

}  // namespace

double one_sided_gain(const NoiseWeights& weights) {
  double centre = 0, squares = 0;
  for (int i = 0; i < weights.window; ++i) {
    centre += weights.one[i];
    squares += static_cast<double>(weights.one[i]) * weights.one[i];
  }
  return std::sqrt(centre * centre + squares);
}

double two_sided_gain(const NoiseWeights& weights) {
  double centre = 0, squares = 0;
  for (int i = 0; i < weights.window; ++i) {
    centre += 2.0 * weights.two[i];
    squares += 2.0 * weights.two[i] * weights.two[i];
  }
  return std::sqrt(centre * centre + squares);
}

HotWindows usual_hot_windows(std::int64_t columns) {
  HotWindows usual;
  const double narrow = std::min(1.0, static_cast<double>(columns) / 512);
  usual.window = std::max(3, static_cast<int>(std::lround(usual.window * narrow)));
  usual.gap = std::max(2, static_cast<int>(std::lround(usual.gap * narrow)));
  return usual;
}

HotRules hot_rules(const HotPixelOptions& options, std::int64_t views) {
  HotRules rules;
  rules.classic = options.method == HotMethod::classic;
  rules.three_deviations = options.deviations == 3;
  rules.below = options.below;
  rules.tolerance = options.tolerance;
  NoiseWeights& weights = rules.weights;
  weights.gap = rules.classic ? 1 : options.gap.value_or(HotWindows{}.gap);
  weights.window = rules.classic ? 2 : options.window.value_or(HotWindows{}.window);
  if (weights.window == 2)
    original_weights(weights);
  else
    fitted_weights(weights);
  rules.nearest = weights.gap;
  rules.furthest = rules.classic ? 1 : static_cast<std::int32_t>(rules.reach());
  const bool as_described = rules.classic || !options.normalise;  // these have a replacement of their own
  const bool bridge = options.replace_by == HotReplacement::bridge ||
                      (options.replace_by == HotReplacement::automatic && !as_described);
  if (bridge) rules.furthest = rules.nearest - 1;  // no pairs
  if (rules.classic) return rules;

  rules.minimum_spread = deviation_rounding;
  if (options.normalise) {
    weights.one_scale = 1 / one_sided_gain(weights);
    weights.two_scale = 1 / two_sided_gain(weights);
    // Of noise alone, d over `views` views spreads by this share: a window of a few pixels cannot know it better.
    rules.minimum_spread = std::max(deviation_rounding, 1 / std::sqrt(2.0 * static_cast<double>(views - 1)));
    rules.minimum_views = static_cast<std::int64_t>(std::ceil(options.share_of_views * static_cast<double>(views)));
    // (n / gain)^2 > times^2 * mean of (n_i / gain_i)^2 over one or two windows.
    const double one = weights.window / (stands_out_times * stands_out_times);
    const double gains = weights.two_scale / weights.one_scale;
    rules.out_of_one = static_cast<float>(one);
    rules.out_of_both = static_cast<float>(2 * one * gains * gains);
  }
  // A run of up to `gap` hot pixels in its only window gives a good pixel at most this much of theirs.
  double centre = 0, most = 0;
  for (int i = 0; i < weights.window; ++i) centre += weights.one[i];
  for (int first = 0; first < weights.window; ++first) {
    double sum = 0;
    for (int i = first; i < std::min(weights.window, first + weights.gap); ++i) sum += std::fabs(weights.one[i]);
    most = std::max(most, sum / centre);
  }
  rules.explained = most * most;
  return rules;
}

}  // namespace lepus::pixels
