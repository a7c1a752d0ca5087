// SPDX-License-Identifier: Apache-2.0
// The variance of a reconstructed uniform region from a scan with Poisson noise, against its prediction.
// docs/accuracy.md derives it.
#pragma once

#include <string>
#include <vector>

#include "core/threads.h"
#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus::accuracy {

inline constexpr double noise_bar = 0.05;               // of the variance, relative
inline constexpr double statistical_error_bar = 0.015;  // one standard error of the measurement

struct NoiseCase {
  Beam beam = Beam::parallel;
  Window window = Window::ram_lak;
  std::string name() const;
};
std::vector<NoiseCase> noise_cases();

struct Noise {
  double measured = 0, predicted = 0;  // variance in 1/mm^2
  double statistical_error = 0;        // of measured, relative
  double error() const { return measured / predicted - 1; }
};

Noise measure_noise(const NoiseCase& which, ThreadPool& threads);

}  // namespace lepus::accuracy
