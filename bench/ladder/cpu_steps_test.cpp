// SPDX-License-Identifier: Apache-2.0
// Every step on the CPU against the definition in double precision, at every voxel of small volumes whose edges are not
// multiples of a block or a vector, and detectors that do not see all of the volume.
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "bench/ladder/cpu/steps.h"
#include "bench/ladder/figures.h"

namespace lepus::ladder {
namespace {

struct Case {
  std::int64_t size, views, columns, rows;
};

class CpuSteps : public testing::TestWithParam<Case> {
protected:
  Scene scene(Orbit orbit) {
    const Case& c = GetParam();
    return make_scene(orbit, c.views, c.columns, c.rows, threads_);
  }
  ThreadPool threads_{2};
};

using CpuStep = void (*)(const Problem&, float*, ThreadPool&);

TEST_P(CpuSteps, agree_with_double_precision) {
  const Scene made = scene(Orbit::c_arm);
  const Problem problem = make_problem(made, GetParam().size);
  const Truth truth = make_truth(problem, Summed::pixels, 4000, threads_);
  ASSERT_GT(truth.largest, 0);
  constexpr float guard = 12345.0F;
  for (const CpuStep step : {CpuStep{cpu_naive}, CpuStep{cpu_blocked}, CpuStep{cpu_simd}}) {
    std::vector<float> volume(static_cast<std::size_t>(problem.grid.voxels()) + 64, 0.0F);
    std::fill(volume.end() - 64, volume.end(), guard);
    step(problem, volume.data(), threads_);
    EXPECT_LE(error_of(truth, sampled_from(truth, volume.data())), error_limit(problem, truth, Weights::single));
    EXPECT_TRUE(std::all_of(volume.end() - 64, volume.end(), [](float v) { return v == guard; }));
  }
}

TEST_P(CpuSteps, ours_agree_with_double_precision) {
  for (const Orbit orbit : {Orbit::c_arm, Orbit::circle}) {
    const Scene made = scene(orbit);
    const Problem problem = make_problem(made, GetParam().size);
    const Truth truth = make_truth(problem, Summed::pixels, 4000, threads_);
    CpuOurs ours(problem, threads_);
    ours.run();
    ours.run();  // from zero again
    std::vector<float> sampled(truth.offsets.size());
    ours.read(truth, sampled.data());
    EXPECT_LE(error_of(truth, sampled), error_limit(problem, truth, Weights::single)) << ours.description();
    const bool symmetric = ours.description().find("4 symmetric") != std::string::npos;
    EXPECT_EQ(symmetric, orbit == Orbit::circle && GetParam().views % 4 == 0) << ours.description();
  }
}

INSTANTIATE_TEST_SUITE_P(sizes, CpuSteps,
                         testing::Values(Case{37, 12, 61, 47}, Case{16, 5, 200, 160}, Case{33, 8, 129, 40},
                                         Case{65, 4, 300, 200}),
                         [](const auto& tested) { return "size_" + std::to_string(tested.param.size); });

TEST(LadderTruth, a_small_mistake_is_found) {
  ThreadPool threads(2);
  const Scene scene = make_scene(Orbit::c_arm, 12, 300, 200, threads);
  const Problem problem = make_problem(scene, 24);
  const Truth truth = make_truth(problem, Summed::pixels, 2000, threads);
  std::vector<float> volume(static_cast<std::size_t>(problem.grid.voxels()), 0.0F);
  // A fiftieth of a pixel to the right is ten times the texture unit's rounding, which has to be let pass.
  Problem shifted = problem;
  for (Matrix& m : shifted.matrices)
    for (int i = 0; i < 4; ++i) m.u[i] += 0.02F * m.w[i];
  cpu_blocked(shifted, volume.data(), threads);
  EXPECT_GT(error_of(truth, sampled_from(truth, volume.data())), error_limit(problem, truth, Weights::texture));
  // Weights of 8 bits are no single precision.
  EXPECT_GT(error_limit(problem, truth, Weights::texture), 10 * error_limit(problem, truth, Weights::single));
  std::fill(volume.begin(), volume.end(), std::nanf(""));
  EXPECT_FALSE(error_of(truth, sampled_from(truth, volume.data())) <= 1);
}

TEST(LadderTruth, one_point_sees_one_value) {
  ThreadPool threads(2);
  const Scene scene = make_scene(Orbit::c_arm, 6, 100, 80, threads);
  const Problem point = make_problem(scene, 8, 1e-6);
  const Truth truth = make_truth(point, Summed::pixels, 50, threads);
  for (const double value : truth.values) EXPECT_NEAR(value, truth.largest, 1e-6 * truth.largest);
  EXPECT_EQ(truth.seen, 1);
}

}  // namespace
}  // namespace lepus::ladder
