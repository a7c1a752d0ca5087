// SPDX-License-Identifier: Apache-2.0
// Every step of the ladder on a GPU against double precision, on small problems with irregular matrices: volumes that
// are no multiple of a block, numbers of views that are no multiple of a launch, detectors that miss part of the
// volume.
#include <gtest/gtest.h>

#include "core/cancel.h"
#include "bench/ladder/cuda/table.h"
#include "bench/ladder/figures.h"
#include "bench/ladder/ladder.h"
#include "need_device.h"

namespace lepus::ladder {
namespace {

struct Case {
  std::int64_t size, views, columns, rows;
};

class LadderOnGpu : public testing::TestWithParam<Case> {
protected:
  measure::Report run(const std::string& only, bool ablation, bool sweep) {
    LadderOptions o;
    o.sizes = {GetParam().size};
    o.views = GetParam().views;
    o.columns = GetParam().columns;
    o.rows = GetParam().rows;
    o.only = only;
    o.backend = "cuda";
    o.repeats = 2;
    o.ablation = ablation;
    o.sweep = sweep;
    CancelFlag cancel;
    Progress silent;
    Context context{threads_, cancel, silent};
    return run_ladder(o, context);
  }
  void expect_right(const measure::Report& report) {
    for (const measure::Figure& f : report.figures) {
      EXPECT_TRUE(f.correct()) << f.group << ", " << f.name << ": " << f.error << " of " << f.error_limit;
      EXPECT_GT(f.seconds, 0) << f.name;
    }
  }
  ThreadPool threads_{4};
};

TEST_P(LadderOnGpu, every_step_is_right) {
  NEED_DEVICE();
  const measure::Report report = run("", false, false);
  expect_right(report);
  for (const CudaRung& rung : cuda_steps()) {
    std::size_t found = 0;
    for (const measure::Figure& f : report.figures)
      if (f.name == rung.name) {
        ++found;
        EXPECT_GT(f.error, 0) << f.name;
      }
    EXPECT_EQ(found, static_cast<std::size_t>(rung.kernel) + static_cast<std::size_t>(rung.host != Hosts::nowhere))
        << rung.name;
  }
}

TEST_P(LadderOnGpu, kernels_taken_apart_sum_what_is_left) {
  NEED_DEVICE();
  const measure::Report report = run("", true, false);
  expect_right(report);
  std::size_t stages = 0;
  for (const measure::Figure& f : report.figures) stages += f.group.starts_with("ablation") ? 1 : 0;
  EXPECT_EQ(stages, 12U);
}

TEST_P(LadderOnGpu, every_shape_of_kernel_b_is_right) {
  NEED_DEVICE();
  const measure::Report report = run("kernel B", false, true);
  expect_right(report);
  std::size_t shapes = 0;
  for (const measure::Figure& f : report.figures) shapes += f.group.starts_with("sweep") ? 1 : 0;
  EXPECT_EQ(shapes, 33U);
}

// 200 degrees: the volume is turned on the way; 131 views: launches of 128, 62 and 4 leave a rest.
INSTANTIATE_TEST_SUITE_P(sizes, LadderOnGpu,
                         testing::Values(Case{37, 131, 61, 47}, Case{128, 21, 300, 180}, Case{70, 9, 400, 333}),
                         [](const auto& tested) { return "size_" + std::to_string(tested.param.size); });

}  // namespace
}  // namespace lepus::ladder
