// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/hardening_curve.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

double slope_at(const std::vector<double>& c, double p) {
  double slope = 0;
  for (std::size_t k = c.size(); k-- > 0;) slope = slope * p + static_cast<double>(k + 1) * c[k];
  return slope;
}

constexpr double farthest = 20;  // e^-20 of the beam: no detector sees that

}  // namespace

HardeningCurve hardening_curve(const std::vector<double>& c, double largest) {
  const auto bad = [](std::string what, std::string why) {
    return Error(ErrorKind::usage, {.what = std::move(what), .where = "hardening", .why = std::move(why), .hint = {}});
  };
  if (c.empty() || c.size() > HardeningCurve::terms)
    throw bad(format("{} coefficients", c.size()), format("there must be 1 to {}", HardeningCurve::terms));
  for (const double value : c)
    if (!std::isfinite(value)) throw bad(format("the coefficient {}", value), "coefficients must be finite");
  if (!(c[0] > 0)) throw bad(format("c1 = {}", c[0]), "the curve must rise where the object is thin");
  if (!(largest > 0)) throw bad(format("a largest line integral of {}", largest), "it must be positive");
  HardeningCurve curve;
  for (std::size_t k = 0; k < HardeningCurve::terms; ++k) curve.c[k] = k < c.size() ? static_cast<float>(c[k]) : 0.0F;
  constexpr int steps = 2000;
  const double end = std::min(largest, farthest);
  double limit = end;
  for (int i = 1; i <= steps; ++i)
    if (const double p = end * i / steps; slope_at(c, p) < c[0] / 20) {
      limit = end * (i - 1) / steps;
      break;
    }
  curve.limit = static_cast<float>(limit);
  curve.slope = static_cast<float>(slope_at(c, limit));
  return curve;
}

std::vector<double> calibrated_coefficients(const std::vector<double>& thickness_mm,
                                            const std::vector<double>& line_integrals, int degree,
                                            double attenuation_per_mm) {
  const auto unknowns = static_cast<std::size_t>(degree);
  LeastSquares fit(unknowns);
  std::size_t used = 0;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < thickness_mm.size(); ++i) {
    std::vector<double> powers;
    for (std::size_t k = 0; k < unknowns; ++k)
      powers.push_back(std::pow(line_integrals[i], static_cast<double>(k + 1)));
    fit.add(powers, thickness_mm[i]);
    used += thickness_mm[i] > 0;
    products += line_integrals[i] * thickness_mm[i];
    squares += thickness_mm[i] * thickness_mm[i];
  }
  std::vector<double> c = used >= unknowns ? fit.solve() : std::vector<double>{};
  if (c.empty())
    throw Error(ErrorKind::input, {.what = "the calibration does not determine the curve",
                                   .where = "hardening",
                                   .why = format("{} pairs with a thickness above 0 for {} coefficients", used, degree),
                                   .hint = "measure more thicknesses, or lower the degree"});
  const double scale = attenuation_per_mm > 0 ? attenuation_per_mm : products / squares;
  if (!(c[0] > 0) || !(scale > 0))
    throw Error(ErrorKind::input, {.what = "the calibration gives a curve that does not rise",
                                   .where = "hardening",
                                   .why = format("it starts with {:.4g} mm per unit of line integral", c[0]),
                                   .hint = "each line holds a thickness in mm and the line integral measured behind "
                                           "it; check their order"});
  for (double& value : c) value *= scale;
  return c;
}

LeastSquares::LeastSquares(std::size_t unknowns) : n_(unknowns), products_(unknowns * unknowns), right_(unknowns) {}

void LeastSquares::add(const std::vector<double>& row, double value, double weight) {
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j) products_[i * n_ + j] += weight * row[i] * row[j];
    right_[i] += weight * row[i] * value;
  }
}

std::vector<double> LeastSquares::solve(double prior) const {
  std::vector<double> scale(n_), a(products_), x(right_);
  for (std::size_t i = 0; i < n_; ++i) {
    scale[i] = std::sqrt(products_[i * n_ + i]);
    if (!(scale[i] > 0) || !std::isfinite(scale[i])) return {};
  }
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j) a[i * n_ + j] /= scale[i] * scale[j];
    x[i] /= scale[i];
    if (i > 0) a[i * n_ + i] += prior;
  }
  // Elimination without exchange: the matrix is symmetric and positive definite, or does not determine x.
  for (std::size_t i = 0; i < n_; ++i) {
    if (!(a[i * n_ + i] > 1e-12)) return {};
    for (std::size_t k = i + 1; k < n_; ++k) {
      const double factor = a[k * n_ + i] / a[i * n_ + i];
      for (std::size_t j = i; j < n_; ++j) a[k * n_ + j] -= factor * a[i * n_ + j];
      x[k] -= factor * x[i];
    }
  }
  for (std::size_t i = n_; i-- > 0;) {
    for (std::size_t j = i + 1; j < n_; ++j) x[i] -= a[i * n_ + j] * x[j];
    x[i] /= a[i * n_ + i];
  }
  for (std::size_t i = 0; i < n_; ++i) x[i] /= scale[i];
  return x;
}

}  // namespace lepus
