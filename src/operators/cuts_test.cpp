// SPDX-License-Identifier: Apache-2.0
// Any cut into chunks, slabs and wedges, any number of threads and devices: the same bits.
#include <gtest/gtest.h>

#include "operators/scan_operator.h"
#include "operators/test_cuts.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace operator_cases;

TEST(operator_cuts, chunks_and_wedges_give_the_same_bits) {
  for (const Case& c : cases())
    for (const RayModel model : all_models) {
      const auto [rows, slabs] = run_all_plans(c, on("cpu", model));
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
