// SPDX-License-Identifier: Apache-2.0
// The modulation transfer function from the edge of a cylinder, against what filter, pixel and interpolation predict.
// docs/accuracy.md derives the prediction.
#pragma once

#include <string>
#include <vector>

#include "core/threads.h"
#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus::accuracy {

inline constexpr double sharpness_bar = 0.03;     // of the modulation, absolute
inline constexpr double highest_frequency = 0.5;  // cycles per pixel: the detector's Nyquist frequency

struct SharpnessCase {
  Beam beam = Beam::parallel;
  RampOptions filter;
  Interpolation interpolation = Interpolation::linear;
  std::string name() const;
};
std::vector<SharpnessCase> sharpness_cases();

struct ModulationPoint {
  double frequency = 0;  // cycles per pixel
  double measured = 0, predicted = 0;
};

struct Sharpness {
  std::vector<ModulationPoint> points;
  double largest_error() const;
  double at(double frequency) const;  // measured, at the nearest point
  double predicted_at(double frequency) const;
};

// blur: the share of each neighbour that is mixed into a pixel of the projections first (0: none).
Sharpness measure_sharpness(const SharpnessCase& which, double blur, ThreadPool& threads);

}  // namespace lepus::accuracy
