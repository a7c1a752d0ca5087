// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/rabbitct/format.h"

namespace lepus::rabbitct {

float scored_hu(float value, HuScale scale) {
  if (!(value > 0.0F)) return 0.0F;
  return std::min(std::floor(scale[0] * value + scale[1] + 0.5F), largest_hu);
}

double unrounded_hu(double value, HuScale scale) {
  if (!(value > 0)) return 0;
  return std::min(static_cast<double>(scale[0]) * value + static_cast<double>(scale[1]),
                  static_cast<double>(largest_hu));
}

double Score::mean_squared_error() const { return voxels > 0 ? squares / static_cast<double>(voxels) : 0; }
double Score::root_mean_squared_error() const { return std::sqrt(mean_squared_error()); }
double Score::psnr_db() const {
  const double mse = mean_squared_error();
  return mse > 0 ? 10 * std::log10(4095.0 * 4095.0 / mse) : std::numeric_limits<double>::infinity();
}

void Score::add(const float* values, const std::uint16_t* reference, std::int64_t count, HuScale scale) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (reference[i] == not_computed) continue;
    if (!std::isfinite(values[i])) ++not_finite;
    const double error = std::abs(static_cast<double>(scored_hu(values[i], scale)) - static_cast<double>(reference[i]));
    ++voxels;
    squares += error * error;
    largest = std::max(largest, error);
    ++histogram[static_cast<std::size_t>(std::min(error, 10.0))];
  }
}

double UnroundedScore::root_mean_squared_error() const {
  return voxels > 0 ? std::sqrt(squares / static_cast<double>(voxels)) : 0;
}

void UnroundedScore::add(const float* values, const double* reference, std::int64_t count, HuScale scale) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double error =
        std::abs(unrounded_hu(static_cast<double>(values[i]), scale) - unrounded_hu(reference[i], scale));
    ++voxels;
    squares += error * error;
    largest = std::max(largest, error);
  }
}

}  // namespace lepus::rabbitct
