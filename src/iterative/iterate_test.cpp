// SPDX-License-Identifier: Apache-2.0
// The loop around methods: stopping, divergence, and states that are saved and gone on from.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "iterative/iterate.h"
#include "iterative/saved_states.h"
#include "iterative/test_dense_map.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class StateFile : public testing::Test {
protected:
  StateFile() {
    output = std::filesystem::path(testing::TempDir()) /
             (std::string("lepus-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".mha");
    remove_states(output);
  }
  ~StateFile() override { remove_states(output); }

  SavedStates states(const std::string& run = "[scan]\nviews = 7\n") const { return {output, run}; }
  IterateHooks saving(SaveRule rule) const {
    return {.save_rule = rule,
            .save = [this](Method& m, const IterateReport& done) { states().save({.done = done}, m); }};
  }
  IterateHooks going_on() const {
    return {.restore = [this](Method& m) {
      std::string damaged;
      return states().load(m, damaged).done;
    }};
  }
  std::filesystem::path newest() const { return state_files_of(output).front(); }

  std::filesystem::path output;
};

Values volume_of(Method& method) { return {method.volume().data(), method.volume().data() + method.volume().size()}; }

TEST_F(StateFile, ARunThatGoesOnHasTheSameBits) {
  for (const MethodKind& kind : method_kinds()) {
    DenseProblem dense(kind.name);
    dense.options.iterations = 9;
    dense.options.order = ViewOrder::random;
    if (kind.subsets) dense.options.subsets = 3;
    if (kind.regularised) dense.options.strength = 0.01;
    Problem problem = dense.make();
    problem.ramp = [](float*) {};
    problem.fdk = [&](const float* y, float* x) {
      dense.map.adjoint(y, x);
      for (int j = 0; j < 24; ++j) x[j] *= 0.01F;
    };
    const auto whole = make_method(problem, dense.options);
    const IterateReport all = iterate(*whole, problem, dense.options);

    const auto first = make_method(problem, dense.options);
    MethodOptions some = dense.options;
    some.iterations = 4;
    iterate(*first, problem, some, saving({.iterations = 2}));
    EXPECT_EQ(newest_state(output)->done.iterations, 4) << kind.name;
    const auto second = make_method(problem, dense.options);
    const IterateReport report = iterate(*second, problem, dense.options, going_on());
    EXPECT_EQ(report.residuals, all.residuals) << kind.name;
    EXPECT_EQ(volume_of(*second), volume_of(*whole)) << kind.name;
  }
}

TEST_F(StateFile, OtherRunsAreRefusedByName) {
  DenseProblem dense("cgls");
  dense.options.iterations = 2;
  Problem problem = dense.make();
  const auto method = make_method(problem, dense.options);
  iterate(*method, problem, dense.options, saving({.iterations = 1}));
  const auto why = [&](const std::string& run, std::int64_t iterations) -> std::string {
    try {
      states(run).check(iterations);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.parts().why;
    }
    return "";
  };
  EXPECT_EQ(why("# a comment\n[scan]\nviews = 7\n", 2), "");
  EXPECT_EQ(why("[scan]\nviews = 8\n", 2), "scan.views was 7, is 8");
  EXPECT_EQ(why("[scan]\nviews = 7\nturns = 2\n", 2), "scan.turns was not given, is 2");
  EXPECT_EQ(why("[scan]\nviews = 7\n", 1), "2 iterations are done, 1 are wanted");
}

TEST_F(StateFile, DamageLeavesTheStateBefore) {
  DenseProblem dense("cgls");
  dense.options.iterations = 6;
  Problem problem = dense.make();
  const auto whole = make_method(problem, dense.options);
  iterate(*whole, problem, dense.options);
  const auto first = make_method(problem, dense.options);
  MethodOptions some = dense.options;
  some.iterations = 3;
  iterate(*first, problem, some, saving({.iterations = 1}));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(newest()));
  const auto damage = [&](const std::filesystem::path& file, std::int64_t at) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(at);
    const int old = bytes.get();
    bytes.seekp(at);
    bytes.put(static_cast<char>(old ^ 0x20));
  };
  std::filesystem::path copy = newest();
  copy += ".copy";
  std::filesystem::copy_file(newest(), copy);
  for (std::int64_t at = 0; at < size; at += 7) {  // of the header, the residuals, the vectors and the checksum
    damage(newest(), at);
    const auto second = make_method(problem, dense.options);
    std::string damaged;
    const IterateReport report = iterate(*second, problem, dense.options,
                                         {.restore = [&](Method& m) { return states().load(m, damaged).done; }});
    EXPECT_NE(damaged, "") << at;
    EXPECT_NO_THROW(states().check(6)) << at;
    EXPECT_EQ(report.residuals.size(), 6U);
    EXPECT_EQ(volume_of(*second), volume_of(*whole)) << at;
    std::filesystem::copy_file(copy, newest(), std::filesystem::copy_options::overwrite_existing);
  }
  std::filesystem::remove(copy);
  for (const std::int64_t left : {size - 1, size - 30, std::int64_t{30}, std::int64_t{5}, std::int64_t{0}}) {
    std::filesystem::resize_file(newest(), static_cast<std::uintmax_t>(left));
    EXPECT_EQ(newest_state(output)->done.iterations, 2) << left;
  }
  damage(state_files_of(output)[1], 100);
  std::string ignored;
  EXPECT_THROW(states().load(*first, ignored), DamagedState);
}

TEST_F(StateFile, ARunThatHadStoppedDoesNotGoOn) {
  DenseProblem dense("sirt");
  dense.options.iterations = 500;
  dense.options.change = 0.03;
  Problem problem = dense.make();
  const auto first = make_method(problem, dense.options);
  const IterateReport stopped = iterate(*first, problem, dense.options, saving({.iterations = 1}));
  ASSERT_LT(stopped.iterations, 500);
  const auto second = make_method(problem, dense.options);
  const IterateReport report = iterate(*second, problem, dense.options, going_on());
  EXPECT_EQ(report.iterations, stopped.iterations);
  EXPECT_EQ(report.stopped, stopped.stopped);
  EXPECT_EQ(volume_of(*second), volume_of(*first));
}

TEST_F(StateFile, IsSavedByTimeToo) {
  DenseProblem dense("cgls");
  dense.options.iterations = 5;
  Problem problem = dense.make();
  const auto method = make_method(problem, dense.options);
  int saved = 0;
  const auto count = [&](Method&, const IterateReport&) { ++saved; };
  iterate(*method, problem, dense.options, {.save_rule = {.seconds = 1e-9}, .save = count});
  EXPECT_EQ(saved, 5);
  iterate(*make_method(problem, dense.options), problem, dense.options,
          {.save_rule = {.seconds = 3600}, .save = count});
  iterate(*make_method(problem, dense.options), problem, dense.options, {.save = count});  // not within a minute
  EXPECT_EQ(saved, 5);
}

TEST(Iterate, ItsCallerSeesEveryIterationAndMayStop) {
  DenseProblem dense("sirt");
  dense.options.iterations = 9;
  Problem problem = dense.make();
  const auto method = make_method(problem, dense.options);
  std::vector<double> seen;
  const auto go_on = [&](Method& m, double residual) {
    seen.push_back(residual);
    EXPECT_EQ(m.iteration(), std::ssize(seen));
    return seen.size() < 3;
  };
  const IterateReport report = iterate(*method, problem, dense.options, {.go_on = go_on});
  EXPECT_EQ(report.residuals, seen);
  EXPECT_EQ(report.iterations, 3);
  EXPECT_FALSE(report.cancelled);
}

TEST(Iterate, StopsByResidualChangeAndNoise) {
  const auto iterations = [](auto&& change) {
    DenseProblem dense("sirt");
    dense.options.iterations = 500;
    for (std::size_t i = 0; i < dense.data.size(); ++i) dense.data[i] += i % 2 ? 0.1F : -0.1F;
    change(dense.options);
    Problem problem = dense.make();
    const auto method = make_method(problem, dense.options);
    const IterateReport report = iterate(*method, problem, dense.options);
    EXPECT_EQ(report.iterations, static_cast<std::int64_t>(report.residuals.size()));
    return report;
  };
  EXPECT_EQ(iterations([](MethodOptions&) {}).iterations, 500);
  const IterateReport by_residual = iterations([](MethodOptions& o) { o.residual = 0.05; });
  EXPECT_LT(by_residual.iterations, 500);
  EXPECT_LE(by_residual.residuals.back(), 0.05);
  EXPECT_GT(by_residual.residuals[by_residual.residuals.size() - 2], 0.05);
  EXPECT_LT(iterations([](MethodOptions& o) { o.change = 1e-3; }).iterations, 500);
  const IterateReport by_noise = iterations([](MethodOptions& o) { o.noise = 0.1; });
  EXPECT_LT(by_noise.iterations, 500);
  EXPECT_NE(by_noise.stopped.find("noise"), std::string::npos);
}

TEST(Iterate, WhatDivergesIsStoppedAndTheLastGoodVolumeKept) {
  DenseProblem dense("iterative-fdk");
  dense.options.iterations = 50;
  Problem problem = dense.make();
  int calls = 0;
  problem.fdk = [&](const float* y, float* x) {  // good steps, then one that leads away
    dense.map.adjoint(y, x);
    for (int j = 0; j < 24; ++j) x[j] *= ++calls > 24 * 5 ? -5.0F : 0.005F;
  };
  const auto method = make_method(problem, dense.options);
  const IterateReport report = iterate(*method, problem, dense.options);
  EXPECT_TRUE(report.diverged);
  EXPECT_EQ(report.iterations, 6);
  Values image(35);
  dense.map.forward(volume_of(*method).data(), image.data());
  double squared = 0, unit = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    squared += std::pow(image[i] - dense.data[i], 2);
    unit += std::pow(dense.data[i], 2);
  }
  EXPECT_NEAR(std::sqrt(squared / unit), report.residuals.back(), 1e-5);
}

TEST_F(StateFile, WhatDivergesAfterARestartHasTheSameLastGoodVolume) {
  DenseProblem dense("iterative-fdk");
  dense.options.iterations = 50;
  Problem problem = dense.make();
  int calls = 0;
  problem.fdk = [&](const float* y, float* x) {  // a good step, worse and worse ones, then one that is lost
    dense.map.adjoint(y, x);
    ++calls;
    for (int j = 0; j < 24; ++j) x[j] *= calls <= 2 ? 0.005F : calls <= 4 ? -0.003F : -50.0F;
  };
  const auto whole = make_method(problem, dense.options);
  ASSERT_TRUE(iterate(*whole, problem, dense.options).diverged);
  calls = 0;
  const auto first = make_method(problem, dense.options);
  MethodOptions some = dense.options;
  some.iterations = 4;
  iterate(*first, problem, some, saving({.iterations = 4}));
  ASSERT_NE(volume_of(*first), volume_of(*whole));  // the last volume is not the good one
  const auto second = make_method(problem, dense.options);
  ASSERT_TRUE(iterate(*second, problem, dense.options, going_on()).diverged);
  EXPECT_EQ(volume_of(*second), volume_of(*whole));
}

TEST(Iterate, AResidualThatRisesAgainIsNoticed) {
  MethodOptions options;
  options.method = "iterative-fdk";
  EXPECT_EQ(iteration_before_rise(options, {1, 0.053, 0.041, 0.052, 0.108}), 3);
  EXPECT_EQ(iteration_before_rise(options, {1, 0.053, 0.041, 0.052}), 0);  // subsets and noise do that
  EXPECT_EQ(iteration_before_rise(options, {}), 0);
  options.strength = 0.1;  // smoothness may cost that much
  EXPECT_EQ(iteration_before_rise(options, {0.04, 0.1}), 0);
}

TEST(Iterate, NotANumberIsDivergence) {
  DenseProblem dense("sirt");
  dense.data[3] = NAN;
  Problem problem = dense.make();
  const auto method = make_method(problem, dense.options);
  const IterateReport report = iterate(*method, problem, dense.options);
  EXPECT_TRUE(report.diverged);
  for (const float value : volume_of(*method)) EXPECT_EQ(value, 0);
}

TEST(Iterate, CancellingKeepsTheLastWholeIteration) {
  DenseProblem dense("cgls");
  Problem problem = dense.make();
  const auto method = make_method(problem, dense.options);
  CancelFlag cancel;
  cancel.cancel();
  int saved = 0;
  const IterateReport report = iterate(
      *method, problem, dense.options,
      {.cancel = &cancel, .save = [&](Method& m, const IterateReport&) { saved += static_cast<int>(m.iteration()); }});
  EXPECT_TRUE(report.cancelled);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_EQ(saved, 1);
}

}  // namespace
}  // namespace lepus
