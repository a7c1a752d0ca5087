// SPDX-License-Identifier: Apache-2.0
// Any cut into chunks, slabs and wedges, any number of threads and devices: the same bits.
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "operators/scan_operator.h"
#include "operators/test_scans.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace operator_cases;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> forward(const ScanOperator& op) {
  std::vector<float> out(static_cast<std::size_t>(op.values()), NAN);
  op.forward(random_values(op.grid().voxels(), 7).data(), out.data(), ArrayPlace::host);
  return out;
}

std::vector<float> back(const ScanOperator& op) {
  std::vector<float> out(static_cast<std::size_t>(op.grid().voxels()), NAN);
  op.adjoint(random_values(op.values(), 8).data(), out.data(), ArrayPlace::host);
  return out;
}

struct MostPieces {
  std::size_t chunks = 0, wedges = 0;
};

// From memory for everything down to too little for the thinnest piece; every plan that differs is run.
template <class PlanOf, class Run>
MostPieces run_all_plans(const Case& c, RayModel model, const PlanOf& plan_of, const Run& run) {
  const OperatorOptions options = on("cpu", model);
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
        << c.name << ", " << name_of(model) << ": " << most.chunks << " chunks, " << most.wedges << " wedges";
  }
  return most;
}

TEST(operator_cuts, chunks_and_wedges_give_the_same_bits) {
  for (const Case& c : cases())
    for (const RayModel model : all_models) {
      const MostPieces rows = run_all_plans(
          c, model, [](const ScanOperator& op) { return op.forward_plan(); }, forward);
      const MostPieces slabs = run_all_plans(
          c, model, [](const ScanOperator& op) { return op.adjoint_plan(); }, back);
      // A few slices are not worth a cut beside the views.
      EXPECT_TRUE(c.grid.nz < 4 || slabs.chunks > 1) << c.name << ", " << name_of(model);
      EXPECT_GT(rows.wedges, 1U) << c.name << ", " << name_of(model);
      // Where every ray may meet every slice, rows are not worth a cut.
      EXPECT_TRUE(c.name != "cone" || rows.chunks > 1) << name_of(model);
    }
}

TEST(operator_cuts, threads_give_the_same_bits) {
  const Case c = cases().front();
  for (const RayModel model : all_models) {
    OperatorOptions options = on("cpu", model);
    const ScanOperator two(c.geometry, c.grid, options);
    options.compute.threads = 1;
    const ScanOperator one(c.geometry, c.grid, options);
    EXPECT_TRUE(same_bits(forward(one), forward(two)) && same_bits(back(one), back(two))) << name_of(model);
  }
}

TEST(operator_cuts, a_slab_and_its_rows_belong_together) {
  for (const Case& c : cases()) {
    const SliceRows pieces(c.geometry, c.grid);
    const ViewRange all{0, c.geometry.views()};
    for (std::int64_t z = 0; z < c.grid.nz; ++z) {
      const RowBand rows = pieces.rows(all, {z, z + 1});
      if (rows.size() == 0) continue;
      const SlabRange slices = pieces.slices(all, rows);
      EXPECT_LE(slices.z0, z) << c.name;
      EXPECT_GT(slices.z1, z) << c.name;
    }
  }
}

TEST(operator_cuts, too_little_memory_is_refused) {
  const Case c = cases().front();
  const ScanOperator op(c.geometry, c.grid, on("cpu", RayModel::joseph), {1000});
  EXPECT_THROW(op.forward_plan(), Error);
  EXPECT_THROW(op.adjoint_plan(), Error);
}

}  // namespace
}  // namespace lepus
