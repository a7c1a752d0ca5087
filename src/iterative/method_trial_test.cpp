// SPDX-License-Identifier: Apache-2.0
// What a trial counts of each method: the operator in an iteration, by its formula, and the vectors of its state.
#include <cmath>

#include <gtest/gtest.h>

#include "device/host/test_host.h"
#include "iterative/method_trial.h"

namespace lepus {
namespace {

constexpr std::int64_t views = 12, voxels = 13;

struct Expected {
  const char* method;
  double forward, adjoint;
  std::int64_t subsets, volumes, lines;
};

MethodOptions options_of(const char* method, std::int64_t subsets) {
  MethodOptions options;
  options.method = method;
  const MethodKind& kind = method_kind(method);
  options.subsets = kind.subsets ? subsets : 1;
  options.strength = kind.regularised ? 0.01 : 0;
  return options;
}

MethodUses uses_of_second_step(MethodTrial& trial) {
  trial.step();
  const MethodUses before = trial.uses();
  trial.step();
  const MethodUses after = trial.uses();
  return {after.forward - before.forward, after.adjoint - before.adjoint, after.fdk - before.fdk,
          after.ramp - before.ramp, after.subsets - before.subsets};
}

// Volumes: x and that of the smallest residual, and what each method has in its formulas.
TEST(MethodTrial, CountsWhatAnIterationUsesAndAStateKeeps) {
  const std::vector<Expected> all{
      {"sirt", 1, 1, 1, 2, 0},     {"sart", 1, 1, views, 2, 0},    {"os-sart", 1, 1, 4, 2, 0},
      {"cgls", 1, 1, 1, 3, 1},     {"lsqr", 1, 1, 1, 4, 1},        {"ramp-cgls", 1, 1, 1, 3, 2},
      {"mlem", 1, 1, 1, 2, 0},     {"osem", 1, 1, 4, 2, 0},        {"iterative-fdk", 1, 0, 1, 2, 0},
      {"fista-tv", 1, 1, 1, 6, 0}, {"os-momentum", 1, 1, 4, 7, 0}, {"chambolle-pock", 1, 1, 1, 6, 1},
  };
  ASSERT_EQ(all.size(), method_kinds().size());
  for (const Expected& expected : all) {
    SCOPED_TRACE(expected.method);
    TestHost host;
    MethodTrial trial(options_of(expected.method, 4),
                      {.shape = {1, 1, voxels}, .views = views, .spare_bytes = std::int64_t{1} << 30}, host.device(),
                      host.queue());
    const MethodUses uses = uses_of_second_step(trial);
    EXPECT_NEAR(uses.forward, expected.forward, 1e-9);
    EXPECT_NEAR(uses.adjoint, expected.adjoint, 1e-9);
    EXPECT_EQ(uses.subsets, expected.subsets);
    EXPECT_EQ(uses.fdk, std::string(expected.method) == "iterative-fdk" ? 1 : 0);
    EXPECT_EQ(uses.ramp, std::string(expected.method) == "ramp-cgls" ? 1 : 0);
    EXPECT_EQ(trial.kept(voxels), expected.volumes);
    EXPECT_EQ(trial.kept(views), expected.lines);
  }
}

TEST(MethodTrial, DampedBidiagonalisationFromAVolumeKeepsOneMore) {
  TestHost host;
  MethodTrial trial(options_of("lsqr", 1), {.shape = {1, 1, voxels}, .views = views, .has_start = true}, host.device(),
                    host.queue());
  EXPECT_EQ(trial.kept(voxels), 5);
}

TEST(MethodTrial, SumsOfSubsetsThatDoNotFitAreMadeInEveryIteration) {
  TestHost host;
  MethodTrial trial(options_of("os-sart", 4), {.shape = {1, 1, voxels}, .views = views, .spare_bytes = 0},
                    host.device(), host.queue());
  EXPECT_NEAR(uses_of_second_step(trial).adjoint, 2, 1e-9);
}

}  // namespace
}  // namespace lepus
