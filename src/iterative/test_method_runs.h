// SPDX-License-Identifier: Apache-2.0
// For tests: runs of methods on a small scan, to compare what they give where their vectors lie elsewhere.
#pragma once

#include <vector>

#include "iterative/iterate.h"
#include "operators/scan_map.h"
#include "operators/test_scans.h"

namespace lepus::method_runs {

using operator_cases::Case;
using Values = std::vector<float>;

struct Outcome {
  std::vector<double> residuals;
  Values volume;
  bool operator==(const Outcome&) const = default;
};

struct Choice {
  // Many voxels for few pixels: slices of the least that total variation takes hold pieces of the operator.
  Case scan{"cone", operator_cases::cases().front().geometry, centred_grid(40, 40, 32, {0.45, 0.45, 0.5})};
  const MethodKind* kind = nullptr;
  MethodOptions options = {};
  bool weighted = false, masked = false;
  std::int64_t spare_bytes = 0;
};

// The whole run, or with hooks that save and restore. `map` is of the choice's scan.
inline Outcome run(const Choice& choice, LinearMap& map, const IterateHooks& hooks = {}) {
  Values mask;
  if (choice.masked) mask.assign(static_cast<std::size_t>(map.voxels()), 1.0F);
  for (std::size_t i = 0; i < mask.size(); i += 5) mask[i] = 0;
  Problem problem = make_problem(map, *choice.kind, mask);
  const auto pixels = static_cast<std::size_t>(map.values_per_view());
  const Values values = operator_cases::random_values(map.values(), 3);
  for (std::int64_t view = 0; view < map.views(); ++view) {
    Values lines(pixels), weights(choice.weighted ? pixels : 0);
    for (std::size_t i = 0; i < pixels; ++i) lines[i] = 2 + values[static_cast<std::size_t>(view) * pixels + i];
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1 / lines[i];
    put_view(problem, *choice.kind, view, lines, weights);
  }
  finish_views(problem, *choice.kind);
  problem.spare_bytes = choice.spare_bytes;
  problem.ramp = [&](float* lines) {
    map.home().vector_kernels().combine(lines, 0.5F, lines, 0, lines, map.values(), map.queue());
  };
  problem.fdk = [&](const float* lines, float* volume) {
    map.adjoint(lines, volume);
    map.home().vector_kernels().combine(volume, 0.001F, volume, 0, volume, map.voxels(), map.queue());
  };
  const auto method = make_method(problem, choice.options);
  Outcome done;
  done.residuals = iterate(*method, problem, choice.options, hooks).residuals;
  done.volume.resize(static_cast<std::size_t>(map.voxels()));
  method->download(done.volume.data(), method->volume().data(), map.voxels());
  return done;
}

inline Choice choice_of(const MethodKind& kind) {
  Choice choice;
  choice.kind = &kind;
  choice.options.method = kind.name;
  choice.options.iterations = 4;
  if (kind.subsets) choice.options.subsets = 3;
  if (kind.regularised) choice.options.strength = 0.01;
  if (kind.bounded) choice.options.low = 0;
  return choice;
}

}  // namespace lepus::method_runs
