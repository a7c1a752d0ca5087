// SPDX-License-Identifier: Apache-2.0
// The suite, small and on the CPU: what it refuses, and that a wrong result makes a figure wrong.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "bench/suite/filter_problem.h"
#include "bench/suite/known_scan.h"
#include "bench/suite/synthetic.h"
#include "bench/suite/parts.h"
#include "bench/suite/smoothing.h"

namespace lepus::bench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Listener final : Progress {
  void warning(const std::string& text) override { warnings.push_back(text); }
  std::vector<std::string> warnings;
};

struct SuiteCase : testing::Test {
  ThreadPool threads{2};
  CancelFlag never;
  Listener listener;
  Context context{threads, never, listener};

  std::string refusal(const BenchOptions& options) {
    try {
      run_bench(options, context);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  }
};

TEST_F(SuiteCase, RefusesWhatItDoesNotKnow) {
  BenchOptions o;
  o.only = {"filtr"};
  EXPECT_NE(refusal(o).find("did you mean 'filter'?"), std::string::npos);
  o.only = {"everything"};
  EXPECT_NE(refusal(o).find("machine, backprojection"), std::string::npos);
  o = {};
  o.sizes = {8};
  EXPECT_NE(refusal(o).find("16 to 4096"), std::string::npos);
  o = {};
  o.backend = "vulkan";
  EXPECT_NE(refusal(o).find("vulkan"), std::string::npos);
}

TEST_F(SuiteCase, AWrongFigureIsSaidAndKept) {
  bench::Run run{{}, true, false, {}, {}, {}, context};
  measure::Figure f;
  f.group = "filter";
  f.name = "CPU";
  f.seconds = 1;
  f.error = 1e-8;
  f.error_limit = 1e-6;
  run.add(f);
  EXPECT_TRUE(run.report.correct());
  EXPECT_TRUE(listener.warnings.empty());
  f.name = "another";
  f.error = nan;
  run.add(f);
  EXPECT_FALSE(run.report.correct());
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_NE(listener.warnings[0].find("filter, another"), std::string::npos);
  EXPECT_NE(listener.warnings[0].find("wrong"), std::string::npos);
}

// One voxel of 2000 off by a hundredth of the largest value, a volume that was not written, one that holds no numbers.
TEST_F(SuiteCase, AWrongVoxelMakesTheBackprojectionWrong) {
  const ScanGeometry scan = build_scan(c_arm_scan(78, 60, 12, Orbit::general));
  const std::vector<Sample> samples = reference_samples(scan, cube_of_256_mm(32), Interpolation::linear, 2000, threads);
  double peak = 0;
  for (const Sample& s : samples) peak = std::max(peak, std::abs(s.expected));
  const auto correct = [&](const std::function<double(std::size_t)>& value) {
    std::size_t i = 0;
    const SampleErrors e = errors_of(samples, [&](const Sample&) { return static_cast<float>(value(i++)); });
    return backprojection_figure(32, e, exact_limits).correct();
  };
  const auto truth = [&](std::size_t i) { return samples[i].expected; };
  EXPECT_TRUE(correct(truth));
  EXPECT_FALSE(correct([&](std::size_t i) { return truth(i) + (i == 1234 ? 0.01 * peak : 0); }));
  EXPECT_FALSE(correct([&](std::size_t i) { return truth(i) * 1.001; }));
  EXPECT_FALSE(correct([&](std::size_t i) { return i == 7 ? nan : truth(i); }));
  EXPECT_FALSE(correct([](std::size_t) { return 0.0; }));
}

TEST_F(SuiteCase, AWrongRowMakesTheFilterWrong) {
  const FilterProblem problem({64, 8, 3});
  const auto row_of = [&](std::int64_t view, std::int64_t row) {
    std::vector<double> line;
    for (std::int64_t u = 0; u < 64; ++u)
      line.push_back(std::log(known_open_beam / static_cast<double>(problem.count_at(view, row, u))) *
                     problem.weights.at(view, static_cast<double>(u), static_cast<double>(row)));
    const std::vector<double> filtered = ramp_filter_reference(line, problem.ramp);
    return std::vector<float>(filtered.begin(), filtered.end());
  };
  const auto correct = [&](const auto& change) {
    return filter_figure(problem, problem.error_of([&](std::int64_t view, std::int64_t row) {
             std::vector<float> line = row_of(view, row);
             if (view == 1 && row == 4) change(line);
             return line;
           }))
        .correct();
  };
  EXPECT_TRUE(correct([](std::vector<float>&) {}));
  EXPECT_FALSE(correct([](std::vector<float>& line) { std::rotate(line.begin(), line.begin() + 1, line.end()); }));
  EXPECT_FALSE(correct([](std::vector<float>& line) { line[9] *= 1.001f; }));
  EXPECT_FALSE(correct([](std::vector<float>& line) { line[9] = static_cast<float>(nan); }));
  EXPECT_FALSE(correct([](std::vector<float>& line) { line.clear(); }));
}

TEST_F(SuiteCase, AWrongBallMakesTheReconstructionWrong) {
  const VolumeGrid grid = cube_of_256_mm(32);
  const KnownBall ball;
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()), static_cast<float>(ball.density));
  const auto error = [&] { return std::abs(density_found(volume.data(), grid, ball) - 1); };
  EXPECT_LE(error(), 1e-6);
  volume[static_cast<std::size_t>((16 * 32 + 14) * 32 + 18)] = static_cast<float>(nan);
  EXPECT_FALSE(error() <= suite_density_limit);
  std::fill(volume.begin(), volume.end(), static_cast<float>(1.001 * ball.density));
  EXPECT_FALSE(error() <= suite_density_limit);
}

TEST_F(SuiteCase, AWrongPixelMakesASmoothingFilterWrong) {
  const std::vector<float> right{1, 2, 3};
  std::vector<float> got = right;
  EXPECT_EQ(largest_difference(got, right), 0);
  got[1] = 2.001f;
  EXPECT_GT(largest_difference(got, right), smoothing_limit(FilterKind::box));
  got[1] = static_cast<float>(nan);
  EXPECT_FALSE(largest_difference(got, right) <= 1e9);
  got.resize(2);
  EXPECT_FALSE(largest_difference(got, right) <= 1e9);
}

// Against a count of every voxel.
TEST_F(SuiteCase, PairsThatHitTheDetectorAreCounted) {
  const ScanGeometry scan = build_scan(c_arm_scan(78, 60, 9));
  const VolumeGrid grid = cube_of_256_mm(48);
  double hits = 0;
  for (const Matrix34& m : scan.matrices)
    for (std::int64_t i = 0; i < grid.voxels(); ++i) {
      const Vec3 p =
          grid.centre(static_cast<double>(i % 48), static_cast<double>(i / 48 % 48), static_cast<double>(i / 48 / 48));
      const auto row = [&](std::size_t k) { return m.m[k] * p.x + m.m[k + 1] * p.y + m.m[k + 2] * p.z + m.m[k + 3]; };
      const double u = row(0) / row(8), v = row(4) / row(8);
      hits += u > -1 && u < 78 && v > -1 && v < 60 ? 1 : 0;
    }
  const double share = hits / static_cast<double>(grid.voxels() * scan.views());
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 0.95);
  EXPECT_NEAR(share_seen(scan, grid, threads), share, 0.005);
  // A small grid in the middle is seen wholly.
  EXPECT_EQ(share_seen(scan, centred_grid(8, 8, 8, {1, 1, 1}), threads), 1);
}

// Two parts in one go, on problems of a few milliseconds.
TEST_F(SuiteCase, RunsWhatIsAskedFor) {
  BenchOptions o;
  o.quick = true;
  o.backend = "cpu";
  o.only = {"filter", "backprojection"};
  o.sizes = {24};
  const measure::Report report = run_bench(o, context);
  EXPECT_TRUE(report.correct());
  EXPECT_EQ(measure::groups_of(report), (std::vector<std::string>{"machine", "backprojection 24^3", "filter"}));
  for (const measure::Figure& f : report.figures) {
    EXPECT_GT(f.rate(), 0) << f.name;
    EXPECT_LT(f.share_of_limit(), 1.0) << f.name << ": faster than the machine";
  }
  EXPECT_TRUE(listener.warnings.empty());
}

}  // namespace
}  // namespace lepus::bench
