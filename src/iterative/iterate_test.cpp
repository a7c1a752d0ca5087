// SPDX-License-Identifier: Apache-2.0
// The loop around methods: stopping, divergence, and states that are saved and gone on from.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "iterative/iterate.h"
#include "iterative/state_file.h"
#include "iterative/test_dense_map.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class StateFile : public testing::Test {
protected:
  StateFile() {
    file = std::filesystem::path(testing::TempDir()) /
           (std::string("lepus-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".state");
    std::filesystem::remove(file);
  }
  ~StateFile() override { std::filesystem::remove(file); }
  std::filesystem::path file;
  StateHeader header{"scan 1", "options", 0};
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
    iterate(*whole, problem, dense.options);

    const auto first = make_method(problem, dense.options);
    MethodOptions some = dense.options;
    some.iterations = 4;
    iterate(*first, problem, some, {.save_every = 2, .save = [&](Method& m) { save_state(file, header, m); }});
    const auto second = make_method(problem, dense.options);
    const IterateReport report =
        iterate(*second, problem, dense.options, {.restore = [&](Method& m) { load_state(file, header, m); }});
    EXPECT_EQ(report.residuals.size(), 5U) << kind.name;
    EXPECT_EQ(volume_of(*second), volume_of(*whole)) << kind.name;
  }
}

TEST_F(StateFile, OtherStatesAreRefused) {
  DenseProblem dense("cgls");
  dense.options.iterations = 2;
  Problem problem = dense.make();
  const auto method = make_method(problem, dense.options);
  iterate(*method, problem, dense.options);
  save_state(file, header, *method);
  const auto why = [&](const StateHeader& expected, Method& into) -> std::string {
    try {
      load_state(file, expected, into);
    } catch (const Error& error) {
      return error.parts().why;
    }
    return "";
  };
  EXPECT_EQ(why(header, *method), "");
  EXPECT_EQ(why({"scan 2", "options", 0}, *method), "it is the state of another scan");
  EXPECT_NE(why({"scan 1", "others", 0}, *method), "");
  dense.options.method = "lsqr";
  EXPECT_NE(why(header, *make_method(problem, dense.options)), "");
  DenseProblem longer("cgls", 8);
  Problem other = longer.make();
  EXPECT_NE(why(header, *make_method(other, longer.options)), "");

  const auto size = std::filesystem::file_size(file);
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(size) - 20);
    bytes.put('\x55');
  }
  EXPECT_EQ(why(header, *method), "its bytes are not those that were written");
  std::filesystem::resize_file(file, size - 30);
  EXPECT_NE(why(header, *method), "");
  std::filesystem::resize_file(file, 5);
  EXPECT_NE(why(header, *method), "");
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
  const IterateReport report =
      iterate(*method, problem, dense.options,
              {.cancel = &cancel, .save = [&](Method& m) { saved += static_cast<int>(m.iteration()); }});
  EXPECT_TRUE(report.cancelled);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_EQ(saved, 1);
}

}  // namespace
}  // namespace lepus
