// SPDX-License-Identifier: Apache-2.0
// Every method on a small dense matrix: against its formulas in plain loops in double precision, or against the
// minimiser that it must come to.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "iterative/iterate.h"
#include "iterative/subsets.h"
#include "iterative/test_dense_map.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using Numbers = std::vector<double>;

Values run(DenseProblem& dense, Problem& problem, IterateReport* report = nullptr) {
  const auto method = make_method(problem, dense.options);
  const IterateReport done = iterate(*method, problem, dense.options);
  if (report) *report = done;
  return {method->volume().data(), method->volume().data() + method->volume().size()};
}
Values run(DenseProblem& dense, IterateReport* report = nullptr) {
  Problem problem = dense.make();
  return run(dense, problem, report);
}

double distance(const Values& a, const Numbers& b) {
  double squared = 0, unit = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squared += std::pow(a[i] - b[i], 2);
    unit += b[i] * b[i];
  }
  return std::sqrt(squared / unit);
}
Numbers numbers(const Values& values) { return {values.begin(), values.end()}; }

// A x or A' y of some views, in double precision.
Numbers apply(DenseProblem& dense, const Numbers& x, const std::vector<std::int64_t>& rows) {
  Numbers y;
  for (const std::int64_t i : rows) {
    double sum = 0;
    for (std::int64_t j = 0; j < 24; ++j)
      sum += static_cast<double>(dense.map.at(i, j)) * x[static_cast<std::size_t>(j)];
    y.push_back(sum);
  }
  return y;
}
Numbers apply_transpose(DenseProblem& dense, const Numbers& y, const std::vector<std::int64_t>& rows) {
  Numbers x(24);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t j = 0; j < 24; ++j)
      x[static_cast<std::size_t>(j)] += static_cast<double>(dense.map.at(rows[r], j)) * y[r];
  return x;
}
std::vector<std::int64_t> rows_of_subset(std::int64_t views, std::int64_t subset, std::int64_t count) {
  std::vector<std::int64_t> rows;
  for (std::int64_t view = subset; view < views; view += count)
    for (std::int64_t i = 0; i < 5; ++i) rows.push_back(view * 5 + i);
  return rows;
}

// Weighted SART in plain loops.
Numbers plain_sart(DenseProblem& dense, std::int64_t count, std::int64_t iterations) {
  Numbers x(24);
  const std::int64_t views = dense.map.views();
  for (std::int64_t k = 0; k < iterations; ++k)
    for (std::int64_t s = 0; s < count; ++s) {
      const auto rows = rows_of_subset(views, s, count);
      Numbers error = apply(dense, x, rows);
      const Numbers length = apply(dense, Numbers(24, 1.0), rows);
      Numbers weight(rows.size(), 1.0);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto at = static_cast<std::size_t>(rows[r]);
        if (!dense.weights.empty()) weight[r] = dense.weights[at];
        error[r] = length[r] == 0 ? 0 : weight[r] * (dense.data[at] - error[r]) / length[r];
      }
      const Numbers step = apply_transpose(dense, error, rows), sums = apply_transpose(dense, weight, rows);
      for (std::size_t j = 0; j < 24; ++j)
        if (sums[j] != 0) x[j] += dense.options.relaxation * step[j] / sums[j];
    }
  return x;
}

TEST(Methods, SirtFollowsItsFormula) {
  DenseProblem dense("sirt");
  dense.options.iterations = 20;
  dense.options.relaxation = 1.5;
  EXPECT_LT(distance(run(dense), plain_sart(dense, 1, 20)), 1e-5);
}

TEST(Methods, SirtWithWeightsFollowsItsFormula) {
  DenseProblem dense("sirt");
  dense.options.iterations = 20;
  dense.weights = random_volume(35, 8);
  const Numbers plain = plain_sart(dense, 1, 20);
  EXPECT_LT(distance(run(dense), plain), 1e-5);
  dense.weights.clear();
  EXPECT_GT(distance(run(dense), plain), 1e-4);  // the weights matter
}

TEST(Methods, SubsetsThatDoNotDivideTheViews) {
  DenseProblem dense("os-sart", 7);
  dense.options.iterations = 10;
  dense.options.subsets = 3;
  dense.options.order = ViewOrder::sequential;
  dense.data[3] += 0.2F;
  EXPECT_LT(distance(run(dense), plain_sart(dense, 3, 10)), 1e-5);
}

TEST(Methods, ColumnSumsThatAreComputedAgainGiveTheSameBits) {
  DenseProblem dense("os-sart", 7);
  dense.options.iterations = 5;
  dense.options.subsets = 3;
  const Values kept = run(dense);
  dense.spare_bytes = 0;
  EXPECT_EQ(kept, run(dense));
}

TEST(Methods, SartTakesViewAfterView) {
  DenseProblem dense("sart", 7);
  dense.options.iterations = 10;
  dense.options.order = ViewOrder::sequential;
  EXPECT_LT(distance(run(dense), plain_sart(dense, 7, 10)), 1e-5);
}

TEST(Methods, RaysThatMissAndVoxelsThatAreNotSeenHaveNoSay) {
  for (const char* name :
       {"sirt", "os-sart", "mlem", "osem", "chambolle-pock", "fista-tv", "os-momentum", "cgls", "lsqr"}) {
    DenseProblem dense(name, 6);
    dense.options.iterations = 400;
    if (dense.kind.subsets) dense.options.subsets = 2;
    for (std::int64_t j = 0; j < 24; ++j) dense.map.at(7, j) = 0;
    for (std::int64_t i = 0; i < 30; ++i) dense.map.at(i, 4) = 0;
    dense.map.forward(dense.truth.data(), dense.data.data());
    dense.data[7] = 3;  // scattered light: a ray that meets nothing
    const Values x = run(dense);
    for (std::size_t j = 0; j < x.size(); ++j) ASSERT_TRUE(std::isfinite(x[j])) << name;
    Values back(30);
    dense.map.forward(x.data(), back.data());
    for (std::size_t i = 0; i < back.size(); ++i)
      if (i != 7) {
        EXPECT_NEAR(back[i], dense.data[i], 0.05 * dense.data[i] + 0.02) << name << " " << i;
      }
  }
}

// Plain CGLS in double precision.
Numbers plain_cgls(DenseProblem& dense, std::int64_t iterations, double damping = 0) {
  const auto rows = rows_of_subset(dense.map.views(), 0, 1);
  Numbers x(24), r = numbers(dense.data);
  Numbers s = apply_transpose(dense, r, rows), p = s;
  const auto squared = [](const Numbers& v) {
    double sum = 0;
    for (const double value : v) sum += value * value;
    return sum;
  };
  double gamma = squared(s);
  for (std::int64_t k = 0; k < iterations; ++k) {
    const Numbers q = apply(dense, p, rows);
    const double alpha = gamma / (squared(q) + damping * squared(p));
    for (std::size_t j = 0; j < 24; ++j) x[j] += alpha * p[j];
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i];
    s = apply_transpose(dense, r, rows);
    for (std::size_t j = 0; j < 24; ++j) s[j] -= damping * x[j];
    const double next = squared(s);
    for (std::size_t j = 0; j < 24; ++j) p[j] = s[j] + next / gamma * p[j];
    gamma = next;
  }
  return x;
}

TEST(Methods, ConjugateGradientsAndBidiagonalisationAgree) {
  for (const char* name : {"cgls", "lsqr"}) {
    DenseProblem dense(name);
    dense.options.iterations = 4;
    EXPECT_LT(distance(run(dense), plain_cgls(dense, 4)), 1e-4) << name;
    EXPECT_GT(distance(run(dense), plain_cgls(dense, 3)), 1e-3) << name;
  }
}

TEST(Methods, DampedMethodsAgree) {
  DenseProblem one("cgls"), other("lsqr");
  for (DenseProblem* dense : {&one, &other}) {
    dense->options.iterations = 60;
    dense->options.strength = 0.01;
  }
  const Values damped = run(one);
  EXPECT_LT(distance(run(other), numbers(damped)), 1e-4);
  one.options.strength = 0;
  EXPECT_GT(distance(run(one), numbers(damped)), 1e-2);
}

TEST(Methods, DampedMethodsHaveOneAimFromEveryStart) {
  Numbers first;
  for (const char* name : {"cgls", "lsqr"})
    for (const bool warm : {false, true}) {
      SCOPED_TRACE(std::string(name) + (warm ? ", warm" : ""));
      DenseProblem dense(name);
      dense.options.iterations = 60;
      dense.options.strength = 0.05;
      Problem problem = dense.make();
      if (warm) problem.start = volume_from(problem, random_volume(24, 5));
      IterateReport report;
      const Numbers x = numbers(run(dense, problem, &report));
      if (first.empty()) first = x;
      EXPECT_LT(distance({x.begin(), x.end()}, first), 1e-4);
      // What is said is the residual of the data, without the damping.
      const Numbers image = apply(dense, x, rows_of_subset(7, 0, 1));
      double squared = 0, unit = 0;
      for (std::size_t i = 0; i < image.size(); ++i) {
        squared += std::pow(image[i] - dense.data[i], 2);
        unit += std::pow(dense.data[i], 2);
      }
      EXPECT_NEAR(report.residuals.back(), std::sqrt(squared / unit), 1e-4);
    }
}

TEST(Methods, DampingOfRampedOnesIsMeasuredBehindTheRamp) {
  DenseProblem dense("ramp-cgls");
  dense.options.iterations = 60;
  dense.options.strength = 0.01;
  Values made[2];
  for (const int i : {0, 1}) {  // another unit of the ramp is the same aim
    Problem problem = dense.make();
    problem.ramp = [&](float* y) {
      for (int j = 0; j < 35; ++j) y[j] *= i == 0 ? 1.0F : 0.01F;
    };
    made[i] = run(dense, problem);
  }
  EXPECT_LT(distance(made[1], numbers(made[0])), 1e-4);
}

TEST(Methods, RampedConjugateGradientsMinimiseTheFilteredResidual) {
  DenseProblem dense("ramp-cgls");
  dense.options.iterations = 60;
  dense.data[4] += 1;
  Problem problem = dense.make();
  const auto scale = [](std::size_t i) { return 1 + 0.5 * static_cast<double>(i % 3); };
  problem.ramp = [&](float* y) {
    for (std::size_t i = 0; i < 35; ++i) y[i] *= static_cast<float>(scale(i));
  };
  const Numbers x = numbers(run(dense, problem));
  const auto rows = rows_of_subset(7, 0, 1);
  Numbers error = apply(dense, x, rows);
  for (std::size_t i = 0; i < error.size(); ++i) error[i] = scale(i) * (error[i] - dense.data[i]);
  for (const double slope : apply_transpose(dense, error, rows)) EXPECT_NEAR(slope, 0, 2e-4);
}

TEST(Methods, MaximumLikelihoodFollowsItsFormulaAndTakesZeroCounts) {
  DenseProblem dense("mlem");
  dense.options.iterations = 15;
  dense.data[2] = 0;
  dense.data[9] = -0.5F;  // noise: counted as zero
  Problem problem = dense.make();
  EXPECT_EQ(problem.negative_values, 1);
  const Values x = run(dense, problem);
  const auto rows = rows_of_subset(7, 0, 1);
  Numbers plain(24, 1.0);
  const Numbers seen = apply_transpose(dense, Numbers(35, 1.0), rows);
  for (int k = 0; k < 15; ++k) {
    Numbers ratio = apply(dense, plain, rows);
    for (std::size_t i = 0; i < ratio.size(); ++i) ratio[i] = std::max(0.0F, dense.data[i]) / ratio[i];
    const Numbers factor = apply_transpose(dense, ratio, rows);
    for (std::size_t j = 0; j < 24; ++j) plain[j] *= factor[j] / seen[j];
  }
  EXPECT_LT(distance(x, plain), 1e-5);
  for (const float value : x) EXPECT_GE(value, 0);
}

// Objective of least squares with total variation, in double precision.
double objective(DenseProblem& dense, const Values& x, double strength) {
  const Numbers at = numbers(x);
  const auto rows = rows_of_subset(dense.map.views(), 0, 1);
  const Numbers image = apply(dense, at, rows), back = apply_transpose(dense, numbers(dense.data), rows);
  double value = 0, unit = 0;
  for (std::size_t i = 0; i < image.size(); ++i) value += 0.5 * std::pow(image[i] - dense.data[i], 2);
  for (const double b : back) unit = std::max(unit, std::abs(b));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int i = 0; i < 4; ++i) {
        const auto j = static_cast<std::size_t>((z * 3 + y) * 4 + i);
        value +=
            strength * unit *
            std::hypot(i < 3 ? at[j + 1] - at[j] : 0, y < 2 ? at[j + 4] - at[j] : 0, z < 1 ? at[j + 12] - at[j] : 0);
      }
  return value;
}

TEST(Methods, TotalVariationMethodsComeToTheSameMinimum) {
  const double strength = 0.005;
  DenseProblem fista("fista-tv"), primal_dual("chambolle-pock"), momentum("os-momentum");
  std::vector<double> values;
  for (DenseProblem* dense : {&fista, &primal_dual, &momentum}) {
    dense->options.strength = strength;
    dense->options.iterations = 3000;
    dense->options.low = 0.3;
    dense->options.high = 0.9;
    const Values x = run(*dense);
    for (const float value : x) {
      EXPECT_GE(value, 0.3F);
      EXPECT_LE(value, 0.9F);
    }
    values.push_back(objective(*dense, x, strength));
    // Nothing near it is lower.
    Values moved = x;
    for (std::size_t j = 0; j < x.size(); ++j)
      for (const float by : {-0.01F, 0.01F}) {
        moved[j] = std::min(0.9F, std::max(0.3F, x[j] + by));
        EXPECT_GT(objective(*dense, moved, strength), values.back() - 1e-5) << dense->options.method;
        moved[j] = x[j];
      }
  }
  EXPECT_NEAR(values[1], values[0], 1e-3 * values[0]);
  EXPECT_NEAR(values[2], values[0], 1e-3 * values[0]);
}

TEST(Methods, APriorVolumeIsCloserToWithoutDoubt) {
  DenseProblem dense("chambolle-pock");
  dense.options.strength = 0.2;
  dense.options.iterations = 2000;
  dense.options.prior_share = 1;
  Problem problem = dense.make();
  problem.prior = volume_from(problem, dense.truth);
  EXPECT_LT(distance(run(dense, problem), numbers(dense.truth)), 1e-3);  // the data agree with the prior
  Problem flat = dense.make();
  EXPECT_GT(distance(run(dense, flat), numbers(dense.truth)), 1e-2);  // total variation alone flattens it
}

TEST(Methods, HuberKeepsSlopesThatTotalVariationFlattens) {
  DenseProblem dense("chambolle-pock");
  dense.options.strength = 0.05;
  dense.options.iterations = 3000;
  const double plain = distance(run(dense), numbers(dense.truth));
  dense.options.huber = 10;
  EXPECT_LT(distance(run(dense), numbers(dense.truth)), plain);
}

TEST(Methods, WeightsAreThoseOfWeightedLeastSquares) {
  Numbers first;
  for (const char* name : {"cgls", "lsqr", "fista-tv", "chambolle-pock", "os-momentum"}) {
    DenseProblem dense(name);
    dense.options.iterations = 5000;
    for (std::size_t i = 0; i < dense.data.size(); ++i) dense.data[i] += (i % 4 == 0 ? 0.3F : 0);
    dense.weights = random_volume(35, 8);
    if (dense.kind.name == std::string("cgls") || dense.kind.name == std::string("lsqr")) dense.options.iterations = 60;
    const Numbers x = numbers(run(dense));
    const auto rows = rows_of_subset(7, 0, 1);
    Numbers error = apply(dense, x, rows);
    for (std::size_t i = 0; i < error.size(); ++i) error[i] = dense.weights[i] * (error[i] - dense.data[i]);
    for (const double slope : apply_transpose(dense, error, rows)) EXPECT_NEAR(slope, 0, 2e-3) << name;
  }
}

TEST(Methods, OutsideTheMaskIsNothing) {
  for (const MethodKind& kind : method_kinds()) {
    DenseProblem dense(kind.name);
    dense.options.iterations = 5;
    dense.mask.assign(24, 1);
    dense.mask[5] = dense.mask[17] = 0;
    Problem problem = dense.make();
    problem.ramp = [](float*) {};
    problem.fdk = [&](const float* y, float* x) {
      dense.map.adjoint(y, x);
      for (int j = 0; j < 24; ++j) x[j] *= 0.01F;
    };
    const Values x = run(dense, problem);
    EXPECT_EQ(x[5], 0) << kind.name;
    EXPECT_EQ(x[17], 0) << kind.name;
    EXPECT_NE(x[6], 0) << kind.name;
  }
}

TEST(Methods, AWarmStartIsNearer) {
  for (const MethodKind& kind : method_kinds()) {
    if (kind.name == std::string("iterative-fdk")) continue;
    DenseProblem dense(kind.name);
    dense.options.iterations = 1;
    Problem cold = dense.make(), warm = dense.make();
    Values near = dense.truth;
    near[3] += 0.01F;
    warm.start = volume_from(warm, near);
    cold.ramp = warm.ramp = [](float*) {};
    EXPECT_LT(distance(run(dense, warm), numbers(dense.truth)), distance(run(dense, cold), numbers(dense.truth)) / 2)
        << kind.name;
  }
}

TEST(Methods, MaximumLikelihoodLeavesNoVoxelOfItsStartAtZero) {
  for (const char* name : {"mlem", "osem"}) {
    DenseProblem dense(name);
    dense.options.iterations = 2000;
    Problem problem = dense.make();
    Values start = dense.truth;
    for (std::size_t j = 0; j < start.size(); j += 3) start[j] = j % 2 ? 0 : -1;
    problem.start = volume_from(problem, start);
    EXPECT_LT(distance(run(dense, problem), numbers(dense.truth)), 0.05) << name;
    Problem empty = dense.make();
    empty.start = volume_from(empty, Values(24));
    EXPECT_EQ(run(dense, empty), run(dense)) << name;
  }
}

TEST(Methods, LineIntegralsAreClippedAfterFdkHasMadeTheStart) {
  DenseProblem dense("mlem");
  dense.data[9] = -0.5F;
  Problem problem = dense.make();
  EXPECT_EQ(problem.data.data()[9], -0.5F);
  make_method(problem, dense.options);
  EXPECT_EQ(problem.data.data()[9], 0);
}

TEST(SubsetOrder, DistantSubsetsAreFarFromEachOther) {
  std::vector<double> angles;
  for (int i = 0; i < 8; ++i) angles.push_back(i * 3.14159265358979 / 8);
  EXPECT_EQ(subset_order(ViewOrder::distant, angles, 1, 0), (std::vector<std::int64_t>{0, 4, 2, 6, 1, 3, 5, 7}));
  EXPECT_EQ(subset_order(ViewOrder::sequential, angles, 1, 0), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const auto random = subset_order(ViewOrder::random, angles, 1, 0);
  EXPECT_EQ(random, subset_order(ViewOrder::random, angles, 1, 0));
  EXPECT_NE(random, subset_order(ViewOrder::random, angles, 1, 1));
  EXPECT_NE(random, subset_order(ViewOrder::random, angles, 2, 0));
}

TEST(Methods, ChoicesThatMakeNoSenseAreRefused) {
  const auto refused = [](const char* method, auto&& change) {
    MethodOptions options;
    options.method = method;
    change(options);
    try {
      check_options(options, 10);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_FALSE(refused("fista-tv", [](MethodOptions& o) { o.strength = 0.1; }));
  EXPECT_TRUE(refused("fista-tv", [](MethodOptions& o) { o.strength = -0.1; }));
  EXPECT_TRUE(refused("fista-tv", [](MethodOptions& o) { o.strength = std::nan(""); }));
  EXPECT_TRUE(refused("sirt", [](MethodOptions& o) { o.strength = 0.1; }));
  EXPECT_TRUE(refused("sirt", [](MethodOptions& o) { o.subsets = 2; }));
  EXPECT_TRUE(refused("os-sart", [](MethodOptions& o) { o.subsets = 11; }));
  EXPECT_TRUE(refused("os-sart", [](MethodOptions& o) { o.subsets = 0; }));
  EXPECT_TRUE(refused("sirt", [](MethodOptions& o) { o.iterations = 0; }));
  EXPECT_TRUE(refused("sirt", [](MethodOptions& o) { o.relaxation = 2; }));
  EXPECT_TRUE(refused("cgls", [](MethodOptions& o) { o.low = 0; }));
  EXPECT_TRUE(refused("sirt", [](MethodOptions& o) { o.low = 1, o.high = 0; }));
  EXPECT_TRUE(refused("fista-tv", [](MethodOptions& o) { o.huber = 1; }));
  EXPECT_TRUE(refused("sitr", [](MethodOptions&) {}));
  EXPECT_TRUE(refused("cgls", [](MethodOptions& o) { o.relaxation = 0.5; }));
  EXPECT_FALSE(refused("iterative-fdk", [](MethodOptions& o) { o.relaxation = 0.5; }));
  EXPECT_TRUE(refused("cgls", [](MethodOptions& o) { o.order = ViewOrder::random; }));
  EXPECT_TRUE(refused("cgls", [](MethodOptions& o) { o.seed = 2; }));
  EXPECT_FALSE(refused("sart", [](MethodOptions& o) { o.order = ViewOrder::random, o.seed = 2; }));
  EXPECT_TRUE(refused("chambolle-pock", [](MethodOptions& o) { o.total_variation_steps = 5; }));
  EXPECT_TRUE(refused("fista-tv", [](MethodOptions& o) { o.prior_share = 1; }));
}

TEST(Methods, InputsThatHaveNoUseAreRefused) {
  const auto refused = [](const char* method, double strength, double huber, const MethodInputs& inputs) {
    MethodOptions options;
    options.method = method;
    options.strength = strength;
    options.huber = huber;
    try {
      check_inputs(options, inputs);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_TRUE(refused("cgls", 0.1, 0, {.prior = true}));
  EXPECT_FALSE(refused("chambolle-pock", 0.1, 0, {.prior = true}));
  EXPECT_TRUE(refused("chambolle-pock", 0, 0, {.prior = true}));
  EXPECT_TRUE(refused("chambolle-pock", 0, 1, {}));
  EXPECT_FALSE(refused("chambolle-pock", 0, 1, {.prior = true, .chooses_strength = true}));
  EXPECT_TRUE(refused("mlem", 0, 0, {.weights = true}));
  for (const char* name : {"cgls", "lsqr", "ramp-cgls"})
    EXPECT_TRUE(refused(name, 0, 0, {.exact_transpose = false})) << name;
  EXPECT_FALSE(refused("os-sart", 0, 0, {.exact_transpose = false}));
}

}  // namespace
}  // namespace lepus
