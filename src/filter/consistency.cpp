// SPDX-License-Identifier: Apache-2.0
#include "filter/consistency.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/format.h"
#include "filter/view_rays.h"
#include <lepus/math.h>

namespace lepus {
namespace {

// Verdicts need this many lines in this many views, a difference this significant, and a score this much better: below,
// what is seen twice is a few corners, or one geometry explains the data hardly better than the other.
constexpr std::int64_t enough_lines = 200;
constexpr std::size_t enough_views = 8;
constexpr double enough_errors = 5, enough_better = 1.3;
constexpr std::int64_t samples_per_row = 128;

// Rows averaged over a few columns: the comparison needs the object's shape, not its noise.
std::vector<float> smoothed(const ScanGeometry& g, const float* sinogram) {
  const std::int64_t half = std::max<std::int64_t>(1, g.columns / 200);
  std::vector<float> out(static_cast<std::size_t>(g.views() * g.columns));
  for (std::int64_t view = 0; view < g.views(); ++view) {
    const float* row = sinogram + view * g.columns;
    for (std::int64_t u = 0; u < g.columns; ++u) {
      const std::int64_t first = std::max<std::int64_t>(0, u - half), last = std::min(g.columns - 1, u + half);
      const double sum = std::accumulate(row + first, row + last + 1, 0.0);
      out[static_cast<std::size_t>(view * g.columns + u)] =
          static_cast<float>(sum / static_cast<double>(last - first + 1));
    }
  }
  return out;
}

// The data under one assumption about the way the scan turns.
class Assumption {
public:
  Assumption(const ScanGeometry& g, double v, const std::vector<float>& sinogram, Turning turning)
      : columns_(g.columns), v_(v), sinogram_(sinogram), turning_(turning) {
    for (std::int64_t i = 0; i < g.views(); ++i) views_.emplace_back(camera_of(g, i));
    for (std::size_t i = 0; i < views_.size(); ++i) order_.push_back({wrapped(angle(i)), i});
    std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) { return a.angle < b.angle; });
    std::vector<double> gaps;
    for (std::size_t k = 1; k < order_.size(); ++k) gaps.push_back(order_[k].angle - order_[k - 1].angle);
    if (gaps.empty()) return;
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
    largest_step_ = std::max(2.5 * gaps[gaps.size() / 2], 4 * pi / static_cast<double>(order_.size()));
  }

  struct Sums {
    double squares = 0, value = 0, variance = 0, lines = 0;
  };

  // Every view's lines against their other measurement.
  std::vector<Sums> compare() const {
    std::vector<Sums> all(views_.size());
    const double stride = std::max(1.0, static_cast<double>(columns_) / samples_per_row);
    for (std::size_t i = 0; i < views_.size(); ++i)
      for (double u = 0; u < static_cast<double>(columns_); u += stride) {
        const double column = std::floor(u);
        const Ray ray = views_[i].ray(recorded(column), v_);
        double other = 0;
        if (!opposite(angle(i) + pi + 2 * ray.gamma_rad, -ray.rho_mm, other)) continue;
        const double own = sinogram_[static_cast<std::size_t>(static_cast<std::int64_t>(i) * columns_ +
                                                              static_cast<std::int64_t>(column))];
        all[i].squares += (own - other) * (own - other);
        all[i].value += own + other;
        all[i].variance += own * own + other * other;
        all[i].lines += 1;
      }
    return all;
  }

private:
  struct Placed {
    double angle;
    std::size_t view;
  };

  static double wrapped(double angle) { return angle - 2 * pi * std::floor(angle / (2 * pi)); }
  double angle(std::size_t view) const {
    return turning_ == Turning::backwards ? -views_[view].angle_rad : views_[view].angle_rad;
  }
  // Where the assumption says that a column of the data was on the detector, and back.
  double recorded(double column) const {
    return turning_ == Turning::mirrored ? static_cast<double>(columns_ - 1) - column : column;
  }

  bool value_at(std::size_t view, double rho, double& value) const {
    const double u = recorded(views_[view].column(v_, rho));
    if (!(u >= 0 && u <= static_cast<double>(columns_ - 1))) return false;
    const auto k = std::min(static_cast<std::int64_t>(u), std::max<std::int64_t>(0, columns_ - 2));
    const double f = u - static_cast<double>(k);
    const float* row = sinogram_.data() + static_cast<std::int64_t>(view) * columns_;
    value = (1 - f) * row[k] + (f > 0 ? f * row[k + 1] : 0.0);
    return true;
  }

  // Linear between the two views on both sides of the angle, at the same distance from the axis.
  bool opposite(double at, double rho, double& value) const {
    const double a = wrapped(at);
    const auto after = std::upper_bound(order_.begin(), order_.end(), a,
                                        [](double x, const Placed& placed) { return x < placed.angle; });
    const Placed& high = after == order_.end() ? order_.front() : *after;
    const Placed& low = after == order_.begin() ? order_.back() : *(after - 1);
    const double step = wrapped(high.angle - low.angle), from_low = wrapped(a - low.angle);
    if (step > largest_step_ || step < 1e-12 || from_low > step) return false;
    double x = 0, y = 0;
    if (!value_at(low.view, rho, x) || !value_at(high.view, rho, y)) return false;
    value = x + (y - x) * from_low / step;
    return true;
  }

  std::int64_t columns_;
  double v_;
  const std::vector<float>& sinogram_;
  Turning turning_;
  std::vector<ViewRays> views_;
  std::vector<Placed> order_;
  double largest_step_ = 0;
};

struct Score {
  double value = 1;
  std::int64_t lines = 0;
  std::vector<double> per_view;  // squared difference over the whole variance, of views with lines
};

Score score_of(const std::vector<Assumption::Sums>& sums) {
  Assumption::Sums total;
  for (const auto& s : sums) {
    total.squares += s.squares;
    total.value += s.value;
    total.variance += s.variance;
    total.lines += s.lines;
  }
  Score score;
  score.lines = static_cast<std::int64_t>(total.lines);
  if (total.lines < 1) return score;
  const double mean = total.value / (2 * total.lines);
  const double variance = total.variance / total.lines - 2 * mean * mean;  // of both measurements together
  if (!(variance > 1e-12 * total.variance / total.lines)) return score;
  score.value = total.squares / total.lines / variance;
  for (const auto& s : sums)
    if (s.lines > 0) score.per_view.push_back(s.squares / s.lines / variance);
  return score;
}

// Standard error of the mean over views. Neighbours see nearly the same lines: count one view in four.
double error_of(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / n / std::max(1.0, n / 4));
}

}  // namespace

std::int64_t consistency_row(const ScanGeometry& g) {
  double sum = 0;
  if (g.beam != Beam::cone) return g.rows / 2;
  for (std::int64_t i = 0; i < g.views(); ++i) {
    const ViewRays view(camera_of(g, i));
    const double u = 0.5 * static_cast<double>(g.columns - 1);
    sum += view.height[2] == 0 ? 0.0 : -linear(view.height, u, 0) / view.height[2];
  }
  const double row = std::clamp(sum / static_cast<double>(g.views()), 0.0, static_cast<double>(g.rows - 1));
  return std::llround(row);
}

Consistency check_turning(const ScanGeometry& g, std::int64_t row, const float* sinogram) {
  const std::vector<float> data = smoothed(g, sinogram);
  const auto v = static_cast<double>(row);
  const auto score = [&](Turning turning) { return score_of(Assumption(g, v, data, turning).compare()); };
  const Score given = score(Turning::as_given), backwards = score(Turning::backwards),
              mirrored = score(Turning::mirrored);
  const bool flipped = mirrored.value < backwards.value;
  const Score& other = flipped ? mirrored : backwards;

  Consistency c;
  c.as_given = given.value;
  c.other_way = other.value;
  c.lines = given.lines;
  if (given.lines < enough_lines || other.lines < enough_lines || given.per_view.size() < enough_views ||
      other.per_view.size() < enough_views) {
    c.message =
        format("the direction of rotation was not checked: only {} lines are seen from both sides", given.lines);
    return c;
  }
  const double error = std::hypot(error_of(given.per_view), error_of(other.per_view));
  c.significance = error > 0 ? (other.value - given.value) / error : 0;
  const double ratio = std::max(other.value, given.value) / std::max(1e-12, std::min(other.value, given.value));
  if (std::abs(c.significance) < enough_errors || ratio < enough_better) {
    c.message = format(
        "the direction of rotation could not be checked: opposite rays agree as well either way "
        "(differences {:.3g} and {:.3g} of their variance)",
        given.value, other.value);
    return c;
  }
  if (c.significance > 0) {
    c.verdict = Turning::as_given;
    c.message = format("opposite rays agree (differences {:.3g} of their variance, {:.3g} the other way round)",
                       given.value, other.value);
    return c;
  }
  c.verdict = flipped ? Turning::mirrored : Turning::backwards;
  c.message = format(
      "the scan seems to be mirrored or to turn backwards: opposite rays differ by {:.3g} of their "
      "variance, {} by {:.3g}; try the angles with the other sign, or mirrored columns",
      given.value, flipped ? "with mirrored columns" : "turned the other way", other.value);
  return c;
}

}  // namespace lepus
