// SPDX-License-Identifier: Apache-2.0
// Numbers that steps and strengths are measured by. Maps of scans have no negative entries: so the largest element of
// A'A 1 is at or above the largest eigenvalue of A'A, and near it, at the cost of one use of each.
#pragma once

#include <functional>

#include "iterative/problem.h"

namespace lepus {

// A' W A 1; weights null: A' A 1. filter: of the line integrals, in place, in W's stead.
void sum_curvature(LinearMap& map, Algebra& algebra, const Vector* weights, Vector& out,
                   const std::function<void(float*)>& filter = {});
// ramped: with the problem's ramp filter between A and A'.
double largest_curvature(Problem& problem, Algebra& algebra, bool ramped = false);
// The strength 1 of total variation: the largest element of A' W b, beside which what was measured has no say.
double strength_unit(Problem& problem, Algebra& algebra, const Vector* weights);

}  // namespace lepus
