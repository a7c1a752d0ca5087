// SPDX-License-Identifier: Apache-2.0
// The loop around methods: stopping, divergence, and states that are saved and gone on from.
#include <algorithm>
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
    if (kind.ordered) dense.options.order = ViewOrder::random;
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

// A map whose A' is not its transpose: steps of conjugate gradients lead away after some.
class WrongTranspose final : public LinearMap {
public:
  explicit WrongTranspose(DenseMap& map) : map_(map) {}
  VolumeShape shape() const override { return map_.shape(); }
  std::int64_t views() const override { return map_.views(); }
  std::int64_t values_per_view() const override { return map_.values_per_view(); }
  Device& home() const override { return map_.home(); }
  Queue& queue() const override { return map_.queue(); }
  void forward(const float* volume, float* line_integrals) override { map_.forward(volume, line_integrals); }
  void adjoint(const float* line_integrals, float* volume) override {
    map_.adjoint(line_integrals, volume);
    ++calls_;
    for (int j = 0; j < 24; ++j) volume[j] *= calls_ > 2 && j % 2 ? -30.0F : 1.0F;
  }
  std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const override { return map_.subset(views); }

private:
  DenseMap& map_;
  int calls_ = 0;
};

TEST(Iterate, TheVolumeOfTheSmallestResidualIsThatWhichHasIt) {
  DenseProblem dense("cgls");
  dense.options.iterations = 50;
  WrongTranspose wrong(dense.map);
  Problem problem = dense.make(wrong, 0);
  const auto method = make_method(problem, dense.options);
  const IterateReport report = iterate(*method, problem, dense.options);
  ASSERT_TRUE(report.diverged);
  dense.options.iterations = std::ranges::min_element(report.residuals) - report.residuals.begin() + 1;
  WrongTranspose again(dense.map);
  Problem same = dense.make(again, 0);
  const auto up_to_there = make_method(same, dense.options);
  iterate(*up_to_there, same, dense.options);
  EXPECT_EQ(volume_of(*method), volume_of(*up_to_there));
}

// One view to a subset: momentum leads away at the end of the first pass, which the subsets on the way hardly see.
class ManySubsets : public StateFile {
protected:
  ManySubsets() : dense("os-momentum", 36) {
    dense.options.subsets = 36;
    problem = dense.make();
  }
  IterateReport run(std::int64_t iterations, const IterateHooks& hooks = {}) {
    dense.options.iterations = iterations;
    method = make_method(problem, dense.options);
    return iterate(*method, problem, dense.options, hooks);
  }
  double residual() {
    Values image(dense.data.size());
    dense.map.forward(method->volume().data(), image.data());
    double squared = 0, unit = 0;
    for (std::size_t i = 0; i < image.size(); ++i) {
      squared += std::pow(image[i] - dense.data[i], 2);
      unit += std::pow(dense.data[i], 2);
    }
    return std::sqrt(squared / unit);
  }

  DenseProblem dense;
  Problem problem;
  std::unique_ptr<Method> method;
};

TEST_F(ManySubsets, PassesThatLedAwayAreTakenBack) {
  for (const std::int64_t iterations : {1, 2, 3, 4, 6, 12}) {
    SCOPED_TRACE(iterations);
    const IterateReport report = run(iterations);
    EXPECT_FALSE(report.diverged);
    EXPECT_EQ(report.taken_back, iterations <= 3);  // the third try has little enough momentum
    EXPECT_LE(residual(), iterations <= 3 ? 1.0001 : 0.05);
    EXPECT_LE(residual(), 1.0001 * report.residuals.back());
  }
}

TEST_F(ManySubsets, WhatIsTakenBackDoesNotStopIt) {
  dense.options.change = 1e-4;
  const IterateReport by_change = run(50);
  EXPECT_GT(by_change.iterations, 4);
  EXPECT_LT(by_change.iterations, 50);
  EXPECT_LT(residual(), 1e-3);
  dense.options.change = 0;
  dense.options.residual = 0.6;  // more than the first pass saw on its way
  const IterateReport by_residual = run(50);
  EXPECT_EQ(by_residual.iterations, 2);
  EXPECT_LE(residual(), 0.6);
}

TEST_F(ManySubsets, WhatIsSaidIsWhatIsLeft) {
  for (std::size_t i = 0; i < dense.data.size(); ++i)  // which no volume fits
    dense.data[i] += 0.5F * (static_cast<float>(i * 7919 % 13) - 6);
  problem = dense.make();
  for (const std::int64_t iterations : {1, 4, 10, 20, 30}) {
    const double said = run(iterations).residuals.back();
    EXPECT_NEAR(residual() / said, 1, 1e-5) << iterations;
  }
}

TEST_F(ManySubsets, AStrengthLeadsAwayFromAStartThatFits) {
  dense.options.subsets = 6;
  run(20);
  const Values fits = volume_of(*method);
  dense.options.strength = 0.05;
  run(60);
  const Values wanted = volume_of(*method);
  problem.start = volume_from(problem, fits);
  EXPECT_FALSE(run(60).taken_back);
  const Values made = volume_of(*method);
  const auto apart = [&](const Values& volume) {
    double squared = 0;
    for (std::size_t i = 0; i < volume.size(); ++i) squared += std::pow(volume[i] - wanted[i], 2);
    return std::sqrt(squared);
  };
  EXPECT_LT(apart(made), 0.1 * apart(fits));
}

TEST_F(ManySubsets, GoOnWithTheSameBits) {
  for (const double stop : {0.0, 0.6})
    for (const std::int64_t done : {1, 2, 3, 4}) {
      SCOPED_TRACE(done);
      dense.options.residual = stop;
      const IterateReport all = run(7);
      const Values whole = volume_of(*method);
      run(done, saving({.iterations = 1}));
      const IterateReport report = run(7, going_on());
      EXPECT_EQ(report.residuals, all.residuals);
      EXPECT_EQ(volume_of(*method), whole);
    }
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
