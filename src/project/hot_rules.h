// SPDX-License-Identifier: Apache-2.0
// What the two detectors of hot pixels compute, written once for host and device: the weights of the noise n, its
// deviation d over all views, and when a column of a sinogram is hot. docs/corrections/pixels.md derives every formula.
// Rows of `columns` pixels w; window: numDev, gap: numPix of the detector's description.
#pragma once

#include <cmath>
#include <cstdint>

#include "project/bridge.h"
#include "project/host_device.h"

namespace lepus::pixels {

inline constexpr int largest_window = 32, largest_gap = 64;
// Squares are summed in float over blocks of this many views, counted from the first, and the blocks in double: the
// same bits on every machine.
inline constexpr std::int64_t views_per_sum = 32;
// Deviations are known to this share of themselves (largest seen: 8.7e-6, at values 100 times the noise). Columns that
// were replaced from the same pixels have the same deviation but for that: it is no spread to judge a neighbour by.
inline constexpr double deviation_rounding = 1.5e-5;
// A column stands out in a view where its noise is this many times its windows', and both sides see at least this share
// of it. docs/corrections/pixels.md has the measurements.
inline constexpr double stands_out_times = 2;
inline constexpr float minimum_side = 0.25F;

// n_left = sum one[i] (w[x] - w[x-gap-i]), n_right its mirror image,
// n_middle = sum two[i] ((w[x] - w[x-gap-i]) + (w[x] - w[x+gap+i])), i in [0, window).
struct NoiseWeights {
  std::int32_t window = 0, gap = 0;
  float one[largest_window] = {}, two[largest_window] = {};
  double one_scale = 1, two_scale = 1;  // deviations are multiplied by these: 1 / gain, or 1 where not normalised
};

struct HotRules {
  NoiseWeights weights;
  bool classic = false;  // judged against the whole row, else against two windows
  bool three_deviations = true;
  bool below = false;  // columns whose deviation is far too small are replaced, too
  double tolerance = 0;
  double minimum_spread = 0;  // standard deviations below this share of the mean are taken to be it
  double explained = 1;       // how much of the excess in its only window a column at the edge may inherit
  // A column must stand out in at least so many views; 0: not asked. The squares of the windows' noises in a view,
  // summed, are compared with the column's own times these.
  std::int64_t minimum_views = 0;
  float out_of_both = 1, out_of_one = 1;
  // Pixels that a hot one is replaced from: pairs x-k, x+k with k in [nearest, furthest].
  std::int32_t nearest = 1, furthest = 1;

  LEPUS_HD std::int64_t reach() const { return weights.gap + weights.window - 1; }
};

// Deviations of a row, `columns` each. left needs x >= reach, right x < columns - reach, middle both; others: 0.
struct Deviations {
  const float *left = nullptr, *middle = nullptr, *right = nullptr;
};

struct Spread {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

struct HotRow {  // the classic detector's: over all columns with a middle deviation
  double mean = 0, deviation = 0;
};

// From the sum of squares over all views. sqrt and / are correctly rounded on every machine.
LEPUS_HD inline float deviation_of(double squares, std::int64_t views, double scale) {
  return static_cast<float>(std::sqrt(squares / static_cast<double>(views - 1)) * scale);
}

// Of d[first], ... d[first + count - 1] and, where given, `more[...]` in the same way; count >= 2.
LEPUS_HD inline Spread spread_of(const float* d, const float* more, int count, double minimum_spread) {
  Spread s;
  s.least = s.most = d[0];
  double sum = 0;
  const int parts = more ? 2 : 1;
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i < count; ++i) {
      const double value = part == 0 ? d[i] : more[i];
      sum += value;
      s.least = value < s.least ? value : s.least;
      s.most = value > s.most ? value : s.most;
    }
  s.mean = sum / (parts * count);
  double squares = 0;
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i < count; ++i) {
      const double off = (part == 0 ? d[i] : more[i]) - s.mean;
      squares += off * off;
    }
  s.deviation = std::sqrt(squares / (parts * count - 1));
  const double least = minimum_spread * s.mean;
  if (s.deviation < least) s.deviation = least;
  return s;
}

LEPUS_HD inline bool far_above(double d, const Spread& s, double tolerance) {
  return d > s.most && d - s.mean > tolerance * s.deviation;
}

LEPUS_HD inline bool far_below(double d, const Spread& s, double tolerance) {
  return d < s.least && s.mean - d > tolerance * s.deviation;
}

// A column whose windows leave the row on one side: its one-sided deviation against the window on the other side. A
// good pixel inherits the hot ones of its window, so its excess variance must be more than they can explain.
LEPUS_HD inline bool hot_at_edge(const HotRules& rules, double d, const Spread& s) {
  return far_above(d, s, rules.tolerance) &&
         d * d - s.least * s.least > rules.explained * (s.most * s.most - s.least * s.least);
}

// suspect: deviates too much over the scan; hot only if it stands out in enough views. hot: there is nothing to ask.
enum class Verdict : unsigned char { good = 0, hot = 1, suspect = 2 };

LEPUS_HD inline Verdict verdict(const HotRules& rules, bool above, bool below) {
  if (above) return rules.minimum_views > 0 ? Verdict::suspect : Verdict::hot;
  return below ? Verdict::hot : Verdict::good;
}

LEPUS_HD inline Verdict hot_in_windows(const HotRules& rules, const Deviations& d, std::int64_t columns,
                                       std::int64_t x) {
  const std::int64_t reach = rules.reach();
  const int window = rules.weights.window;
  const bool left = x >= 2 * reach, right = x + 2 * reach < columns;
  // First pixels of the windows: x - reach and x + gap.
  const std::int64_t l = x - reach, r = x + rules.weights.gap;
  if (left && right) {
    const double own = d.middle[x];
    if (!rules.three_deviations) {
      const Spread both = spread_of(d.middle + l, d.middle + r, window, rules.minimum_spread);
      return verdict(rules, far_above(own, both, rules.tolerance),
                     rules.below && far_below(own, both, rules.tolerance));
    }
    const Spread a = spread_of(d.left + l, nullptr, window, rules.minimum_spread);
    const Spread b = spread_of(d.right + r, nullptr, window, rules.minimum_spread);
    return verdict(rules, far_above(own, a, rules.tolerance) && far_above(own, b, rules.tolerance),
                   rules.below && far_below(own, a, rules.tolerance) && far_below(own, b, rules.tolerance));
  }
  bool above = false;
  if (left) above = hot_at_edge(rules, d.left[x], spread_of(d.left + l, nullptr, window, rules.minimum_spread));
  if (right) above = hot_at_edge(rules, d.right[x], spread_of(d.right + r, nullptr, window, rules.minimum_spread));
  return verdict(rules, above, false);
}

// The noise of pixel x of a view against the window on one side: -1 left, +1 right.
template <class Real>
LEPUS_HD inline Real side_noise(const NoiseWeights& weights, const float* w, std::int64_t x, int side) {
  Real n = 0;
  for (int i = 0; i < weights.window; ++i)
    n += weights.one[i] * (static_cast<Real>(w[x]) - w[x + std::int64_t{side} * (weights.gap + i)]);
  return n;
}

// Whether a suspect stands out in a view w. The noises of its windows' pixels, each looking away from x, are the
// measure; what an outline of the object does in this view is in them. And both sides must see it: at an edge one of
// them goes on without a break, or sees the opposite. Real: float, or double in the reference.
template <class Real>
LEPUS_HD inline bool stands_out(const HotRules& rules, const float* w, std::int64_t columns, std::int64_t x) {
  const NoiseWeights& weights = rules.weights;
  const bool left = x >= 2 * rules.reach(), right = x + 2 * rules.reach() < columns;
  Real measure = 0;
  for (int i = 0; i < weights.window; ++i) {
    const std::int64_t k = weights.gap + i;
    const Real l = left ? side_noise<Real>(weights, w, x - k, -1) : Real{0};
    const Real r = right ? side_noise<Real>(weights, w, x + k, 1) : Real{0};
    measure += l * l + r * r;
  }
  const Real l = left ? side_noise<Real>(weights, w, x, -1) : Real{0};
  const Real r = right ? side_noise<Real>(weights, w, x, 1) : Real{0};
  if (!left || !right) return (l * l + r * r) * rules.out_of_one > measure;
  Real m = 0;
  for (int i = 0; i < weights.window; ++i) {
    const std::int64_t k = weights.gap + i;
    m += weights.two[i] * ((static_cast<Real>(w[x]) - w[x - k]) + (static_cast<Real>(w[x]) - w[x + k]));
  }
  const Real least = minimum_side * (m < 0 ? -m : m), sign = m < 0 ? Real{-1} : Real{1};
  return m * m * rules.out_of_both > measure && sign * l > least && sign * r > least;
}

// The classic detector has a deviation from the third column to the last but two.
LEPUS_HD inline HotRow classic_row(const float* middle, std::int64_t columns) {
  HotRow row;
  const double count = static_cast<double>(columns - 4);
  for (std::int64_t x = 2; x < columns - 2; ++x) row.mean += middle[x];
  row.mean /= count;
  double squares = 0;
  for (std::int64_t x = 2; x < columns - 2; ++x) squares += (middle[x] - row.mean) * (middle[x] - row.mean);
  row.deviation = std::sqrt(squares / (count - 1));
  return row;
}

LEPUS_HD inline bool hot_in_row(const HotRules& rules, const float* d, const HotRow& row, std::int64_t columns,
                                std::int64_t x) {
  if (x < 2 || x >= columns - 2) return false;
  const bool above = d[x] - row.mean > rules.tolerance * row.deviation;
  const bool below = rules.below && row.mean - d[x] > rules.tolerance * row.deviation;
  if (!above && !below) return false;
  for (std::int64_t k = -2; k <= 2; ++k) {
    if (k == 0 || x + k < 2 || x + k >= columns - 2) continue;
    if (above ? !(d[x] > d[x + k]) : !(d[x] < d[x + k])) return false;
  }
  return true;
}

// The value for a hot pixel: the mean of the pairs of good pixels in its windows; where there is none, the line between
// the nearest good pixels of the row, or the nearest one at the row's end. Only good pixels are read, so that all hot
// ones may be replaced at once, in place.
LEPUS_HD inline float replacement(const HotRules& rules, const float* w, const unsigned char* hot, std::int64_t columns,
                                  std::int64_t x) {
  float sum = 0;
  int pairs = 0;
  for (std::int64_t k = rules.nearest; k <= rules.furthest; ++k) {
    if (x - k < 0 || x + k >= columns || hot[x - k] || hot[x + k]) continue;
    sum += w[x - k] + w[x + k];
    ++pairs;
  }
  if (pairs > 0) return sum / static_cast<float>(2 * pairs);
  std::int64_t l = x, r = x;
  while (l >= 0 && hot[l]) --l;
  while (r < columns && hot[r]) ++r;
  if (l < 0 && r >= columns) return w[x];
  if (l < 0) return w[r];
  if (r >= columns) return w[l];
  return on_the_line(w[l], w[r], x - l, r - l);
}

}  // namespace lepus::pixels
