// SPDX-License-Identifier: Apache-2.0
// How RabbitCT scores a volume against its reference, slice by slice: both in whole HU,
//   HU = value > 0 ? floor(s0 value + s1 + 0.5) : 0, at most 4095,
// mean squared error, largest error, PSNR = 10 log10(4095^2 / MSE), histogram of errors in bins of 1 HU, the last open.
// Beside it the error of the unrounded HU where they are known in double precision: rounding makes a score of about
// sqrt(0.8 sigma) out of a small error of sigma HU.
#pragma once

#include <array>
#include <cstdint>

namespace lepus::rabbitct {

using HuScale = std::array<float, 2>;
inline constexpr float largest_hu = 4095.0F;

// In single precision, as RabbitCT's runner computes it.
float scored_hu(float value, HuScale scale);
// The same without rounding, in double precision.
double unrounded_hu(double value, HuScale scale);

struct Score {
  std::int64_t voxels = 0;      // that the reference knows
  std::int64_t not_finite = 0;  // of the volume; RabbitCT counts them as zero
  double squares = 0, largest = 0;
  std::array<std::int64_t, 11> histogram{};

  double mean_squared_error() const;
  double root_mean_squared_error() const;
  double psnr_db() const;  // infinite where there is no error

  // Voxels that the reference marks as not computed are left out.
  void add(const float* values, const std::uint16_t* reference, std::int64_t count, HuScale scale);
};

struct UnroundedScore {
  std::int64_t voxels = 0;
  double squares = 0, largest = 0;
  double root_mean_squared_error() const;
  void add(const float* values, const double* reference, std::int64_t count, HuScale scale);
};

}  // namespace lepus::rabbitct
