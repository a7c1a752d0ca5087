// SPDX-License-Identifier: Apache-2.0
#include "filter/opposite_rays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/io_threads.h"
#include <lepus/math.h>

namespace lepus {
namespace {

constexpr std::int64_t samples_per_row = 128;

double wrapped(double angle) { return angle - 2 * pi * std::floor(angle / (2 * pi)); }

// The median of each five neighbouring columns: a dead or hot one, the same in every view, is no object.
std::vector<float> without_outliers(const float* row, std::int64_t columns) {
  std::vector<float> out(row, row + columns);
  for (std::int64_t u = 2; u + 2 < columns; ++u) {
    // The two in the middle of the four neighbours have the median of all five at or between them.
    const auto [a, b] = std::minmax(row[u - 2], row[u - 1]);
    const auto [c, d] = std::minmax(row[u + 1], row[u + 2]);
    const auto [low, high] = std::minmax(std::max(a, c), std::min(b, d));
    out[static_cast<std::size_t>(u)] = std::clamp(row[u], low, high);
  }
  return out;
}

// Rows averaged over a few columns: the comparison needs the object's shape, not its noise.
std::vector<float> smoothed(const ScanGeometry& g, const float* sinogram) {
  const std::int64_t half = std::max<std::int64_t>(1, g.columns / 200);
  std::vector<float> out(static_cast<std::size_t>(g.views() * g.columns));
  for (std::int64_t view = 0; view < g.views(); ++view) {
    const std::vector<float> row = without_outliers(sinogram + view * g.columns, g.columns);
    for (std::int64_t u = 0; u < g.columns; ++u) {
      const std::int64_t first = std::max<std::int64_t>(0, u - half), last = std::min(g.columns - 1, u + half);
      const double sum = std::accumulate(row.begin() + first, row.begin() + last + 1, 0.0);
      out[static_cast<std::size_t>(view * g.columns + u)] =
          static_cast<float>(sum / static_cast<double>(last - first + 1));
    }
  }
  return out;
}

// Of [view][sample]: of each sample the square of its mean over the views, as often as it was compared.
double squares_of_means(const std::vector<double>& differences, std::int64_t samples) {
  const auto stride = static_cast<std::size_t>(samples);
  double squares = 0;
  for (std::size_t n = 0; n < stride; ++n) {
    double sum = 0, compared = 0;
    for (std::size_t i = n; i < differences.size(); i += stride)
      if (!std::isnan(differences[i])) sum += differences[i], compared += 1;
    if (compared > 0) squares += sum * sum / compared;
  }
  return squares;
}

}  // namespace

// The data under one assumption.
struct OppositeRays::Assumed {
  const OppositeRays& rays;
  RayAssumption is;
  std::vector<Placed> order;
  double largest_step = 0;

  Assumed(const OppositeRays& of, const RayAssumption& assumption) : rays(of), is(assumption) {
    for (std::size_t i = 0; i < rays.views_.size(); ++i) order.push_back({wrapped(angle(i)), i});
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.angle < b.angle; });
    std::vector<double> gaps;
    for (std::size_t k = 1; k < order.size(); ++k) gaps.push_back(order[k].angle - order[k - 1].angle);
    if (gaps.empty()) return;
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
    largest_step = std::max(2.5 * gaps[gaps.size() / 2], 4 * pi / static_cast<double>(order.size()));
  }

  double angle(std::size_t view) const {
    return is.backwards ? -rays.views_[view].angle_rad : rays.views_[view].angle_rad;
  }

  // Where on the geometry's detector a column of the data was, and back.
  double middle() const { return 0.5 * static_cast<double>(rays.columns_ - 1); }
  double recorded(double column) const {
    const double from_middle = column - is.shift_columns - middle();
    return middle() + is.pixel_scale * (is.mirrored ? -from_middle : from_middle);
  }
  double in_data(double column) const {
    const double from_middle = (column - middle()) / is.pixel_scale;
    return middle() + (is.mirrored ? -from_middle : from_middle) + is.shift_columns;
  }

  bool value_at(std::size_t view, double rho, double& value) const {
    const double u = in_data(rays.views_[view].column(rays.row_, rho));
    if (!(u >= 0 && u <= static_cast<double>(rays.columns_ - 1))) return false;
    const auto k = std::min(static_cast<std::int64_t>(u), std::max<std::int64_t>(0, rays.columns_ - 2));
    const double f = u - static_cast<double>(k);
    value = (1 - f) * rays.value(view, k) + (f > 0 ? f * rays.value(view, k + 1) : 0.0);
    return true;
  }

  // Linear between the two views on both sides of the angle, at the same distance from the axis.
  bool opposite(double at, double rho, double& value) const {
    const double a = wrapped(at);
    const auto after = std::upper_bound(order.begin(), order.end(), a,
                                        [](double x, const Placed& placed) { return x < placed.angle; });
    const Placed& high = after == order.end() ? order.front() : *after;
    const Placed& low = after == order.begin() ? order.back() : *(after - 1);
    const double step = wrapped(high.angle - low.angle), from_low = wrapped(a - low.angle);
    if (step > largest_step || step < 1e-12 || from_low > step) return false;
    double x = 0, y = 0;
    if (!value_at(low.view, rho, x) || !value_at(high.view, rho, y)) return false;
    value = x + (y - x) * from_low / step;
    return true;
  }
};

OppositeRays::OppositeRays(const ScanGeometry& g, std::int64_t row, const float* sinogram)
    : columns_(g.columns), row_(static_cast<double>(row)), sinogram_(smoothed(g, sinogram)) {
  for (std::int64_t i = 0; i < g.views(); ++i) views_.emplace_back(camera_of(g, i));
  by_frame_.resize(views_.size());
  std::iota(by_frame_.begin(), by_frame_.end(), std::size_t{0});
  by_angle_ = by_frame_;
  std::sort(by_angle_.begin(), by_angle_.end(),
            [&](std::size_t a, std::size_t b) { return wrapped(views_[a].angle_rad) < wrapped(views_[b].angle_rad); });
  place_by_angle_.resize(views_.size());
  for (std::size_t i = 0; i < by_angle_.size(); ++i) place_by_angle_[by_angle_[i]] = i;
}

// Of both measurements of a line: what a view differs by from the mean of its neighbours is 3/2 of its variance; the
// other measurement, linear between two views, has 2/3 of it on average.
double OppositeRays::noise_at(const std::vector<std::size_t>& order, std::size_t place, std::int64_t column) const {
  if (order.size() < 3) return 0;
  const std::size_t k = std::clamp<std::size_t>(place, 1, order.size() - 2);
  const double apart = value(order[k], column) - 0.5 * (value(order[k - 1], column) + value(order[k + 1], column));
  return (1 + 2.0 / 3) * apart * apart / 1.5;
}

RayAgreement OppositeRays::compare(const RayAssumption& assumption, std::int64_t maximum_views) const {
  const Assumed assumed(*this, assumption);
  struct Sums {
    double squares = 0, lines = 0, values = 0, powers = 0, noise_by_angle = 0, noise_by_frame = 0;
  };
  const double stride = std::max(1.0, static_cast<double>(columns_) / samples_per_row);
  const auto samples = static_cast<std::int64_t>(std::ceil(static_cast<double>(columns_) / stride));
  const auto view_stride =
      maximum_views > 0 ? std::max<std::size_t>(1, views_.size() / static_cast<std::size_t>(maximum_views)) : 1;
  std::vector<Sums> all((views_.size() + view_stride - 1) / view_stride);
  constexpr double not_compared = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> differences(all.size() * static_cast<std::size_t>(samples), not_compared);
  io_parallel(std::ssize(all), io_threads(), [&](std::int64_t place) {
    Sums sums;
    const std::size_t i = static_cast<std::size_t>(place) * view_stride;
    for (std::int64_t n = 0; n < samples; ++n) {
      const double column = std::floor(static_cast<double>(n) * stride);
      const Ray ray = views_[i].ray(assumed.recorded(column), row_);
      double other = 0;
      if (!assumed.opposite(assumed.angle(i) + pi + 2 * ray.gamma_rad, -ray.rho_mm, other)) continue;
      const auto k = static_cast<std::int64_t>(column);
      const double own = value(i, k);
      differences[static_cast<std::size_t>(place * samples + n)] = own - other;
      sums.squares += (own - other) * (own - other);
      sums.values += own + other;
      sums.powers += own * own + other * other;
      sums.noise_by_angle += noise_at(by_angle_, place_by_angle_[i], k);
      sums.noise_by_frame += noise_at(by_frame_, i, k);
      sums.lines += 1;
    }
    all[static_cast<std::size_t>(place)] = sums;
  });
  const auto total = [&](double Sums::*of) {
    return std::accumulate(all.begin(), all.end(), 0.0, [&](double sum, const Sums& s) { return sum + s.*of; });
  };
  RayAgreement agreement;
  const double lines = total(&Sums::lines), powers = total(&Sums::powers);
  agreement.lines = static_cast<std::int64_t>(lines);
  if (lines < 1) return agreement;
  const double mean = total(&Sums::values) / (2 * lines);
  const double variance = powers / lines - 2 * mean * mean;  // of both measurements together
  if (!(variance > 1e-12 * powers / lines)) return agreement;
  agreement.value = total(&Sums::squares) / lines / variance;
  agreement.noise = std::min(total(&Sums::noise_by_angle), total(&Sums::noise_by_frame)) / lines / variance;
  agreement.stripes = squares_of_means(differences, samples) / lines / variance;
  for (const Sums& s : all)
    if (s.lines > 0) agreement.per_view.push_back(s.squares / s.lines / variance);
  return agreement;
}

// Neighbouring views see nearly the same lines: count one view in four.
double error_of(const RayAgreement& agreement) {
  const std::vector<double>& x = agreement.per_view;
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / n / std::max(1.0, n / 4));
}

}  // namespace lepus
