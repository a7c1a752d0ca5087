// SPDX-License-Identifier: Apache-2.0
#include "job/choose_strength.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "iterative/iterate.h"
#include "plot/chart.h"

namespace lepus {
namespace {

constexpr double strongest = 0.1, weakest = 1e-6;
constexpr std::int64_t trial_iterations = 30;

// Of a slice and the differences to the next one; null: it is the last.
double add_variation(double sum, const float* x, const float* next, const VolumeShape& shape) {
  for (std::int64_t y = 0; y < shape.ny; ++y)
    for (std::int64_t i = 0; i < shape.nx; ++i) {
      const std::int64_t at = y * shape.nx + i;
      const auto step = [&](bool inside, const float* values, std::int64_t to) {
        return inside ? static_cast<double>(values[to]) - x[at] : 0;
      };
      sum += std::hypot(step(i + 1 < shape.nx, x, at + 1), step(y + 1 < shape.ny, x, at + shape.nx),
                        step(next != nullptr, next, at));
    }
  return sum;
}

// Slice by slice: the volume may be larger than the host's memory.
double roughness_of(Method& method, Problem& problem, const MethodOptions& options) {
  const VolumeShape shape = problem.map->shape();
  const std::int64_t slice = shape.nx * shape.ny;
  const bool differences = method_kind(options.method).bounded;
  std::vector<float> here(static_cast<std::size_t>(slice)), above(here);
  const auto load = [&](std::int64_t z, std::vector<float>& into) {
    method.download(into.data(), method.volume().data() + z * slice, slice);
  };
  double sum = 0;
  load(0, above);
  for (std::int64_t z = 0; z < shape.nz; ++z) {
    std::swap(here, above);
    const bool last = z + 1 == shape.nz;
    if (!last) load(z + 1, above);
    if (differences) sum = add_variation(sum, here.data(), last ? nullptr : above.data(), shape);
    if (!differences)
      for (const float value : here) sum += static_cast<double>(value) * value;
  }
  return differences ? sum : std::sqrt(sum);
}

// Where the residual crosses the noise between two trials, on logarithmic scales.
double crossing(const StrengthTrial& above, const StrengthTrial& below, double noise) {
  const double share = std::log(above.residual / noise) / std::log(above.residual / below.residual);
  return above.strength * std::pow(below.strength / above.strength, std::clamp(share, 0.0, 1.0));
}

}  // namespace

std::size_t l_curve_corner(const std::vector<StrengthTrial>& trials) {
  // The farthest from the line between the ends.
  std::size_t corner = 0;
  double farthest = -1;
  const auto x = [&](std::size_t i) { return std::log(std::max(1e-300, trials[i].residual)); };
  const auto y = [&](std::size_t i) { return std::log(std::max(1e-300, trials[i].roughness)); };
  const std::size_t last = trials.size() - 1;
  const double dx = x(last) - x(0), dy = y(last) - y(0), length = std::max(1e-300, std::hypot(dx, dy));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double distance = std::abs(dx * (y(i) - y(0)) - dy * (x(i) - x(0))) / length;
    if (distance > farthest) {
      farthest = distance;
      corner = i;
    }
  }
  return corner;
}

StrengthChoice choose_strength(Problem& problem, const MethodOptions& options, double noise, Progress& progress,
                               const CancelFlag& cancel) {
  Algebra algebra(*problem.map);
  const double unit = std::sqrt(std::max(1e-300, algebra.squared(problem.data)));
  const double noise_share = noise * std::sqrt(algebra.count(problem.data)) / unit;
  const Vector start = problem.start;
  MethodOptions trial = options;
  trial.iterations = std::min(options.iterations, trial_iterations);
  trial.residual = trial.change = trial.noise = 0;
  StrengthChoice choice;
  const auto steps = static_cast<std::int64_t>(std::lround(2 * std::log10(strongest / weakest))) + 1;
  progress.begin("choosing the strength", steps);
  for (std::int64_t i = 0; i < steps; ++i) {
    cancel.check();
    trial.strength = strongest * std::pow(10, -0.5 * static_cast<double>(i));
    const auto method = make_method(problem, trial);
    const IterateReport done = iterate(*method, problem, trial);
    choice.trials.push_back(
        {trial.strength, done.residuals.empty() ? 1 : done.residuals.back(), roughness_of(*method, problem, trial)});
    if (!problem.start || problem.start.data() == start.data())
      problem.start = Vector(*problem.map, problem.map->voxels());
    algebra.copy(problem.start, method->volume());
    progress.advance();
    if (noise_share > 0 && choice.trials.back().residual <= noise_share) break;
  }
  progress.end();
  problem.start = start;

  const std::size_t last = choice.trials.size() - 1;
  if (noise_share > 0 && choice.trials[last].residual <= noise_share) {
    choice.strength =
        last == 0 ? choice.trials[0].strength : crossing(choice.trials[last - 1], choice.trials[last], noise_share);
    choice.why =
        last == 0
            ? format(
                  "with the strength {:.3g}, the largest that is tried, the residual {:.3g} is below the noise, {:.3g}",
                  choice.strength, choice.trials[0].residual, noise_share)
            : format("with the strength {:.3g} the residual is as large as the noise, {:.3g}", choice.strength,
                     noise_share);
    return choice;
  }
  choice.strength = choice.trials[l_curve_corner(choice.trials)].strength;
  choice.why = format("the noise, {:.3g}, is not reached: the strength {:.3g} is at the corner of the L-curve",
                      noise_share, choice.strength);
  return choice;
}

std::string l_curve_svg(const StrengthChoice& choice, double noise_share) {
  plot::LineChart chart;
  chart.title = format("L-curve: strength {:.3g} was chosen", choice.strength);
  chart.x_unit = "residual |A x - b| / |b|";
  chart.y_unit = "roughness";
  chart.logarithmic_x = chart.logarithmic_y = true;
  plot::Line curve{.label = "strength 0.1 to weaker", .x = {}, .y = {}};
  double low = 1e300, high = 0;
  for (const StrengthTrial& trial : choice.trials) {
    curve.x.push_back(trial.residual);
    curve.y.push_back(trial.roughness);
    low = std::min(low, trial.roughness);
    high = std::max(high, trial.roughness);
  }
  chart.lines.push_back(std::move(curve));
  if (noise_share > 0) chart.lines.push_back({.label = "noise", .x = {noise_share, noise_share}, .y = {low, high}});
  return plot::svg(chart);
}

}  // namespace lepus
