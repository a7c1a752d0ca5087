// SPDX-License-Identifier: Apache-2.0
#include "iterative/problem.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "iterative/method.h"
#include "iterative/scaled_map.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void require_values(const char* what, std::size_t given, std::int64_t needed) {
  if (static_cast<std::int64_t>(given) == needed) return;
  throw Error(ErrorKind::usage, {.what = format("{} of {} values", what, given),
                                 .where = {},
                                 .why = format("the map has {}", needed),
                                 .hint = {}});
}

}  // namespace

Problem make_problem(LinearMap& map, const MethodKind&, std::span<const float> mask) {
  if (map.views() < 1 || map.values() < 1 || map.voxels() < 1)
    throw Error(ErrorKind::usage,
                {.what = "there is nothing to reconstruct",
                 .where = {},
                 .why = format("{} views of {} pixels, {} voxels", map.views(), map.values_per_view(), map.voxels()),
                 .hint = {}});
  Problem problem;
  problem.map = &map;
  problem.data = Vector::of_line_integrals(map);
  if (!mask.empty()) problem.mask = volume_from(problem, mask);
  return problem;
}

void put_view(Problem& problem, const MethodKind& kind, std::int64_t view, std::span<const float> line_integrals,
              std::span<const float> weights) {
  LinearMap& map = *problem.map;
  const std::int64_t n = map.values_per_view();
  require_values("a view", line_integrals.size(), n);
  std::vector<float> values;  // those that are changed
  const bool whitened = !weights.empty() && kind.weights == MethodKind::Weights::whitened;
  if (whitened) values.assign(line_integrals.begin(), line_integrals.end());
  if (kind.non_negative)
    problem.negative_values += std::ranges::count_if(line_integrals, [](float value) { return value < 0; });
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(float));
  if (!weights.empty()) {
    require_values("weights", weights.size(), n);
    std::vector<float> scale(weights.begin(), weights.end());
    if (whitened)
      for (std::size_t i = 0; i < scale.size(); ++i) {
        scale[i] = std::sqrt(scale[i]);
        values[i] *= scale[i];
      }
    if (!problem.weights) problem.weights = Vector::of_line_integrals(map);
    map.home().copy(problem.weights.data() + view * n, scale.data(), bytes, map.queue());
  }
  map.home().copy(problem.data.data() + view * n, values.empty() ? line_integrals.data() : values.data(), bytes,
                  map.queue());
}

void finish_views(Problem& problem, const MethodKind& kind) {
  const bool whitened = problem.weights && kind.weights == MethodKind::Weights::whitened;
  if (!whitened && !problem.mask) return;
  problem.layers.push_back(
      scaled_map(*problem.map, whitened ? &problem.weights : nullptr, problem.mask ? &problem.mask : nullptr));
  problem.map = problem.layers.back().get();
}

Vector volume_from(Problem& problem, std::span<const float> voxels) {
  LinearMap& map = *problem.map;
  require_values("a volume", voxels.size(), map.voxels());
  Vector volume(map, map.voxels());
  Algebra(map).copy_values(volume.data(), voxels.data(), map.voxels());
  return volume;
}

}  // namespace lepus
