// SPDX-License-Identifier: Apache-2.0
#include "iterative/bounds.h"

namespace lepus {

void sum_curvature(LinearMap& map, Algebra& algebra, const Vector* weights, Vector& out,
                   const std::function<void(float*)>& filter) {
  Vector lengths = Vector::of_line_integrals(map);
  algebra.fill(out, 1);
  map.forward(out.data(), lengths.data());
  if (weights) algebra.multiply(lengths, lengths, *weights);
  if (filter) filter(lengths.data());
  map.adjoint(lengths.data(), out.data());
}

double largest_curvature(Problem& problem, Algebra& algebra, bool ramped) {
  Vector sums(*problem.map, problem.map->voxels());
  sum_curvature(*problem.map, algebra, nullptr, sums, ramped ? problem.ramp : nullptr);
  return algebra.largest_magnitude(sums);
}

double strength_unit(Problem& problem, Algebra& algebra, const Vector* weights) {
  LinearMap& map = *problem.map;
  Vector back(map, map.voxels());
  if (weights) {
    Vector weighted = Vector::of_line_integrals(map);
    algebra.multiply(weighted, problem.data, *weights);
    map.adjoint(weighted.data(), back.data());
  } else {
    map.adjoint(problem.data.data(), back.data());
  }
  return algebra.largest_magnitude(back);
}

}  // namespace lepus
