// SPDX-License-Identifier: Apache-2.0
// The strength of a regularisation by the discrepancy principle: so strong that what the volume leaves of the line
// integrals is as large as their noise (Morozov 1966). Where the noise is not reached, or not known, the corner of the
// L-curve: beyond it the volume gets rougher without explaining more (Hansen 1992).
#pragma once

#include <string>
#include <vector>

#include "iterative/problem.h"
#include <lepus/progress.h>

namespace lepus {

struct StrengthTrial {
  double strength = 0;
  double residual = 0;   // |A x - b| / |b|
  double roughness = 0;  // total variation, or for damped methods the norm
};

struct StrengthChoice {
  double strength = 0;
  std::string why;                    // for people
  std::vector<StrengthTrial> trials;  // from strong to weak
};

// Tries strengths from strong to weak, each from the volume of the one before. noise: root mean square of the
// (weighted) line integrals' noise; 0: not known. Leaves problem.start as it was.
StrengthChoice choose_strength(Problem& problem, const MethodOptions& options, double noise, Progress& progress,
                               const CancelFlag& cancel);

// Which of them is the corner of the curve of log residual over log roughness.
std::size_t l_curve_corner(const std::vector<StrengthTrial>& trials);
std::string l_curve_svg(const StrengthChoice& choice, double noise_share);

}  // namespace lepus
