// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/beam_reference.h"

#include <algorithm>
#include <cmath>

namespace lepus {

std::vector<double> scale_views_reference(const std::vector<float>& sinogram, std::int64_t columns,
                                          const std::vector<double>& divisors) {
  std::vector<double> result(sinogram.begin(), sinogram.end());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] /= divisors[i / static_cast<std::size_t>(columns)];
  return result;
}

namespace {

double reference_start(LagStart start, double first) {
  return start == LagStart::first_frame ? first : start == LagStart::open_beam ? 1.0 : 0.0;
}

// Calls next(value, state) down every column and keeps what it returns.
template <class Next>
std::vector<double> down_the_views(std::vector<double> values, std::int64_t columns, LagStart start, Next next) {
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t column = 0; column < width; ++column) {
    // A first frame that equals its own past is measured as it is, so `first` is the truth as well as the measurement.
    double state = values.empty() ? 0.0 : reference_start(start, values[column]);
    for (std::size_t i = column; i < values.size(); i += width) values[i] = next(values[i], state);
  }
  return values;
}

}  // namespace

std::vector<double> add_lag_reference(const std::vector<double>& truth, std::int64_t columns, double fraction,
                                      double decay_frames, LagStart start) {
  const double renewal = 1 - std::exp(-1 / decay_frames);
  return down_the_views(truth, columns, start, [=](double value, double& state) {
    const double measured = (1 - fraction) * value + fraction * state;
    state += renewal * (value - state);
    return measured;
  });
}

std::vector<double> remove_lag_reference(const std::vector<double>& measured, std::int64_t columns, double fraction,
                                         double decay_frames, LagStart start) {
  const double renewal = 1 - std::exp(-1 / decay_frames);
  return down_the_views(measured, columns, start, [=](double value, double& state) {
    const double truth = (value - fraction * state) / (1 - fraction);
    state += renewal * (truth - state);
    return truth;
  });
}

double linearise_reference(const std::vector<double>& c, double limit, double p) {
  const double q = std::clamp(p, 0.0, limit);
  double value = 0, slope = 0;
  for (std::size_t k = 0; k < c.size(); ++k) {
    value += c[k] * std::pow(q, static_cast<double>(k + 1));
    slope += c[k] * static_cast<double>(k + 1) * std::pow(q, static_cast<double>(k));
  }
  return value + slope * (p - q);
}

}  // namespace lepus
