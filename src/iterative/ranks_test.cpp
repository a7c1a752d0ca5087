// SPDX-License-Identifier: Apache-2.0
// Methods whose line integrals are shared out over ranks, which are threads here: one solution, near that of one
// process, and states that all of them go on from.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "iterative/iterate.h"
#include "iterative/saved_states.h"
#include "iterative/test_dense_map.h"
#include "operators/rank_map.h"
#include "ranks/shared_sum.h"
#include "ranks/test_thread_ranks.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::int64_t values_of_view = 5;

struct Solution {
  Values volume;
  IterateReport report;
  friend bool operator==(const Solution& a, const Solution& b) {
    return a.volume == b.volume && a.report.residuals == b.report.residuals && a.report.stopped == b.report.stopped;
  }
};

using Hooks = std::function<IterateHooks(Ranks&)>;

MethodOptions options_for(const MethodKind& kind) {
  MethodOptions options;
  options.method = kind.name;
  options.iterations = 9;
  if (kind.ordered) options.order = ViewOrder::random;
  if (kind.subsets) options.subsets = 3;
  if (kind.regularised) options.strength = 0.01;
  return options;
}

Solution solve(DenseProblem& dense, LinearMap& map, std::int64_t first, const MethodOptions& options,
               const IterateHooks& hooks = {}) {
  if (dense.kind.weights != MethodKind::Weights::refused)
    for (std::size_t i = 0; i < dense.data.size(); ++i) dense.weights.push_back(i % 3 == 0 ? 0.5F : 2.0F);
  Problem problem = dense.make(map, first);
  problem.ramp = [](float*) {};
  problem.fdk = [&](const float* y, float* x) {
    map.adjoint(y, x);
    for (int j = 0; j < 24; ++j) x[j] *= 0.01F;
  };
  const auto method = make_method(problem, options);
  Solution solution;
  solution.report = iterate(*method, problem, options, hooks);
  solution.volume.assign(method->volume().data(), method->volume().data() + method->volume().size());
  return solution;
}

// By rank.
std::vector<Solution> solve_over(int size, const MethodKind& kind, const MethodOptions& options,
                                 const Hooks& hooks = {}) {
  std::vector<Solution> solutions(static_cast<std::size_t>(size));
  as_ranks(size, [&](Ranks& ranks) {
    DenseProblem dense(kind.name);
    const ArrayRange mine = share_of_rank(values_of_view, ranks.rank(), size);
    const auto map = make_rank_map(ranks, dense.map.part(mine.first, mine.last), dense.map.shape(), 0);
    solutions[static_cast<std::size_t>(ranks.rank())] =
        solve(dense, *map, mine.first, options, hooks ? hooks(ranks) : IterateHooks{});
  });
  return solutions;
}

TEST(MethodsOverRanks, EveryMethodHasOneSolutionNearThatOfOneProcess) {
  for (const MethodKind& kind : method_kinds()) {
    MethodOptions options = options_for(kind);
    options.iterations = 4;
    DenseProblem dense(kind.name), rounded(kind.name);
    const Solution alone = solve(dense, dense.map, 0, options);
    // Conjugate directions make much of every rounding. One bit of the data, rounded once, is the measure; the sums
    // over ranks are rounded anew in every iteration.
    for (std::size_t i = 0; i < rounded.data.size(); ++i) rounded.data[i] *= i % 2 ? 1 + 0x1p-23F : 1 - 0x1p-23F;
    const Solution by_one_bit = solve(rounded, rounded.map, 0, options);
    double peak = 0, one_bit = 0;
    for (std::size_t i = 0; i < alone.volume.size(); ++i) {
      peak = std::max<double>(peak, std::abs(alone.volume[i]));
      one_bit = std::max<double>(one_bit, std::abs(by_one_bit.volume[i] - alone.volume[i]));
    }
    for (const int size : {2, 3, 5}) {
      const std::vector<Solution> all = solve_over(size, kind, options);
      EXPECT_TRUE(all == solve_over(size, kind, options)) << kind.name << ": other bits in another run";
      double difference = 0;
      for (std::size_t i = 0; i < alone.volume.size(); ++i) {
        for (const Solution& one : all) EXPECT_EQ(one.volume[i], all.front().volume[i]) << kind.name;
        difference = std::max<double>(difference, std::abs(all.front().volume[i] - alone.volume[i]));
      }
      EXPECT_LE(difference, std::max(2e-6 * peak, static_cast<double>(options.iterations) * one_bit))
          << kind.name << " over " << size << " ranks; one bit of the data does " << one_bit;
      ASSERT_EQ(all.front().report.residuals.size(), alone.report.residuals.size()) << kind.name;
      // LSQR's with damping is a difference of two sums in fp32: 2.3e-5 was the most that was seen.
      const double share = kind.make == make_lsqr ? 1e-4 : 1e-5;
      EXPECT_NEAR(all.front().report.residuals.back(), alone.report.residuals.back(),
                  share * alone.report.residuals.front())
          << kind.name;
    }
  }
}

class StatesOverRanks : public testing::Test {
protected:
  StatesOverRanks() { std::filesystem::create_directories(folder_); }
  ~StatesOverRanks() override { std::filesystem::remove_all(folder_); }
  SavedStates states() const { return {folder_ / "v.mha", "[scan]\nviews = 7\n"}; }
  Hooks saving() const {
    return [this](Ranks&) {
      return IterateHooks{.save_rule = {2, 0}, .save = [this](Method& method, const IterateReport& done) {
                            states().save({.done = done}, method);
                          }};
    };
  }
  Hooks going_on() const {
    return [this](Ranks&) {
      return IterateHooks{.restore = [this](Method& method) {
        std::string damaged;
        return states().load(method, damaged).done;
      }};
    };
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(StatesOverRanks, ARunThatGoesOnHasTheSameBits) {
  for (const char* name : {"cgls", "lsqr", "chambolle-pock", "os-sart"}) {
    const MethodKind& kind = method_kind(name);
    MethodOptions options = options_for(kind);
    const std::vector<Solution> whole = solve_over(3, kind, options);
    options.iterations = 5;
    solve_over(3, kind, options, saving());  // the last state is that after four
    EXPECT_EQ(states().check(9).done.iterations, 4);
    options.iterations = 9;
    EXPECT_TRUE(solve_over(3, kind, options, going_on()) == whole) << name;
    // A damaged one: all ranks take the one before.
    std::fstream(states().newest(), std::ios::in | std::ios::out).seekp(-20, std::ios::end).put('x');
    EXPECT_TRUE(solve_over(3, kind, options, going_on()) == whole) << name << " from the state before";
  }
}

TEST_F(StatesOverRanks, ADiskThatFailsIsSaidByOneAndAllGoOn) {
  const MethodKind& kind = method_kind("cgls");
  const MethodOptions options = options_for(kind);
  std::atomic<int> failures = 0;
  const Hooks failing = [&](Ranks&) {
    return IterateHooks{.save_rule = {2, 0}, .save = [&](Method& method, const IterateReport& done) {
                          try {
                            SavedStates(folder_ / "nowhere" / "v.mha", "").save({.done = done}, method);
                          } catch (const Error&) {
                            ++failures;
                          }
                        }};
  };
  EXPECT_TRUE(solve_over(3, kind, options, failing) == solve_over(3, kind, options));
  EXPECT_EQ(failures, 4);  // after 2, 4, 6 and 8, by rank 0
}

// One rank is asked to end, and all stop after the same iteration.
TEST(MethodsOverRanks, ARequestToEndReachesAll) {
  const MethodKind& kind = method_kind("sirt");
  CancelFlag asked, never;
  std::vector<std::int64_t> saved(3);
  const Hooks hooks = [&](Ranks& ranks) {
    const bool one = ranks.rank() == 1;
    return IterateHooks{.cancel = one ? &asked : &never,
                        .save =
                            [&saved, &ranks](Method& method, const IterateReport&) {
                              saved[static_cast<std::size_t>(ranks.rank())] = method.iteration();
                            },
                        .go_on =
                            [&asked, one](Method& method, double) {
                              if (one && method.iteration() == 4) asked.cancel();
                              return true;
                            }};
  };
  for (const Solution& solution : solve_over(3, kind, options_for(kind), hooks)) {
    EXPECT_TRUE(solution.report.cancelled);
    EXPECT_EQ(solution.report.iterations, 4);
  }
  EXPECT_EQ(saved, std::vector<std::int64_t>(3, 4));
}

}  // namespace
}  // namespace lepus
