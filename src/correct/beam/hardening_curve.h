// SPDX-License-Identifier: Apache-2.0
// Polynomials that straighten hardened line integrals: p' = c1 p + c2 p^2 + ..., from coefficients or from pairs of
// thickness (mm) and line integral; and the small least-squares solver that they and the fit need.
#pragma once

#include <vector>

#include "project/beam_formulas.h"

namespace lepus {

// The curve for single precision. It holds up to `largest` or as far as it rises with at least a twentieth of its slope
// at 0, whichever is less; beyond, it goes on straight. Throws Error(usage) where c is empty, too long, not finite, or
// c1 is not positive.
HardeningCurve hardening_curve(const std::vector<double>& c, double largest);

// Thickness as a polynomial of the line integral, of least squared error over the pairs, times attenuation_per_mm; 0:
// the mean attenuation of the pairs, sum p t / sum t^2, so that line integrals stay as large as they were on the whole.
// Throws Error(input) where the pairs do not determine it.
std::vector<double> calibrated_coefficients(const std::vector<double>& thickness_mm,
                                            const std::vector<double>& line_integrals, int degree,
                                            double attenuation_per_mm = 0);

// Minimises |A x - b|, A given by rows, through the normal equations with columns scaled to one (they are few and
// double). Empty where A does not determine x.
class LeastSquares {
public:
  explicit LeastSquares(std::size_t unknowns);
  void add(const std::vector<double>& row, double value, double weight = 1);
  // `prior`: how much all unknowns but the first are held at 0, relative to the equations; 0: not at all.
  std::vector<double> solve(double prior = 0) const;

private:
  std::size_t n_;
  std::vector<double> products_, right_;
};

}  // namespace lepus
