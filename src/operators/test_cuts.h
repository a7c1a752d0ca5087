// SPDX-License-Identifier: Apache-2.0
// For tests: an operator cut in every way that its planner knows.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "operators/scan_operator.h"
#include "operators/test_scans.h"
#include <lepus/error.h>

namespace lepus::operator_cases {

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline std::vector<float> forward(const ScanOperator& op) {
  std::vector<float> out(static_cast<std::size_t>(op.values()), NAN);
  op.forward(random_values(op.grid().voxels(), 7).data(), out.data(), ArrayPlace::host);
  return out;
}

inline std::vector<float> back(const ScanOperator& op) {
  std::vector<float> out(static_cast<std::size_t>(op.grid().voxels()), NAN);
  op.adjoint(random_values(op.values(), 8).data(), out.data(), ArrayPlace::host);
  return out;
}

struct MostPieces {
  std::size_t chunks = 0, wedges = 0;
};

// From memory for everything down to too little for the thinnest piece; every plan that differs is run.
template <class PlanOf, class Run>
MostPieces run_all_plans(const Case& c, const OperatorOptions& options, const PlanOf& plan_of, const Run& run) {
  const ScanOperator whole(c.geometry, c.grid, options);
  const std::vector<float> expected = run(whole);
  MostPieces most;
  for (std::int64_t bytes = 4 * (whole.values() + c.grid.voxels()) + (1 << 20); bytes > 0; bytes = bytes * 9 / 10) {
    const ScanOperator cut(c.geometry, c.grid, options, {bytes});
    OperatorPlan plan;
    try {
      plan = plan_of(cut);
    } catch (const Error&) {
      break;
    }
    if (plan.chunks.size() == most.chunks && plan.wedges.size() == most.wedges) continue;
    most = {plan.chunks.size(), plan.wedges.size()};
    EXPECT_TRUE(same_bits(run(cut), expected))
        << c.name << ", " << name_of(options.model) << ": " << most.chunks << " chunks, " << most.wedges << " wedges";
  }
  return most;
}

// The same of both operators.
struct MostCuts {
  MostPieces forward, back;
};
inline MostCuts run_all_plans(const Case& c, const OperatorOptions& options) {
  return {run_all_plans(
              c, options, [](const ScanOperator& op) { return op.forward_plan(); }, forward),
          run_all_plans(
              c, options, [](const ScanOperator& op) { return op.adjoint_plan(); }, back)};
}

}  // namespace lepus::operator_cases
