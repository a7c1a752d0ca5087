// SPDX-License-Identifier: Apache-2.0
// Every problem of the literature, tiny, on the CPU: it runs, it is right, and its figures are complete.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "bench/papers/ball.h"
#include "bench/papers/papers.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::bench {
namespace {

struct Quiet {
  ThreadPool threads{2};
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
};

PapersOptions tiny() {
  PapersOptions options;
  options.backend = "cpu";
  options.scale = 0.08;
  options.repeats = 1;
  return options;
}

TEST(papers, all_are_right) {
  Quiet quiet;
  const measure::Report report = run_papers(tiny(), quiet.context);
  std::set<std::string> names, groups;
  for (const measure::Figure& f : report.figures) {
    const std::string what = f.group + ": " + f.name;
    EXPECT_TRUE(f.correct()) << what << " is off by " << f.error << ", limit " << f.error_limit;
    EXPECT_TRUE(names.insert(what).second) << what << " stands there twice";
    EXPECT_GT(f.seconds, 0) << what;
    EXPECT_GT(f.rate(), 0) << what;
    EXPECT_FALSE(f.unit.empty()) << what;
    EXPECT_FALSE(f.error_of.empty()) << what;
    groups.insert(f.group);
    if (f.published_seconds == 0) continue;
    // A smaller problem never stands beside the whole paper's time without a word.
    EXPECT_NE(f.note.find("scaled down"), std::string::npos) << what;
    EXPECT_NE(f.published.find("scaled"), std::string::npos) << what;
  }
  EXPECT_EQ(groups, (std::set<std::string>{"RabbitCT", "Michigan FDK", "PARIS", "multi-GPU projector", "Iowa State",
                                           "Iowa State filters"}));
  EXPECT_TRUE(report.correct());
}

TEST(papers, published_times_shrink_with_the_work) {
  Quiet quiet;
  PapersOptions options = tiny();
  options.only = "michigan";
  const measure::Report report = run_papers(options, quiet.context);
  ASSERT_EQ(report.figures.size(), 2u);
  const double full = 512.0 * 496 * 480 * 984 / 0x1p30;
  for (const measure::Figure& f : report.figures)
    EXPECT_NEAR(f.published_seconds, (f.name.find("CPU") != std::string::npos ? 849 : 107) * f.work / full, 1e-9);
}

TEST(papers, refuses) {
  Quiet quiet;
  const auto refused = [&](PapersOptions options) { EXPECT_THROW(run_papers(options, quiet.context), Error); };
  PapersOptions o = tiny();
  o.only = "rabbit";
  refused(o);
  o = tiny();
  o.scale = 1.5;
  refused(o);
  o = tiny();
  o.scale = NAN;
  refused(o);
  o.scale = 0.01;
  refused(o);
  o = tiny();
  o.backend = "vulkan";
  refused(o);
  o = tiny();
  o.repeats = 0;
  refused(o);
}

TEST(papers, many_counts_are_the_counts) {
  CircularScan scan;
  scan.source_axis_mm = 300;
  scan.source_detector_mm = 500;
  scan.columns = 37;
  scan.rows = 21;
  scan.pixel_width_mm = scan.pixel_height_mm = 5;
  scan.angles_rad = {0, 0.7, 2.5};
  ThreadPool threads(2);
  const KnownBall ball;
  std::vector<std::uint16_t> usual(3 * 37 * 21), many(usual.size());
  fill_ball_counts(scan, ball, usual.data(), threads);
  fill_many_ball_counts(build_scan(scan), ball, many.data(), threads);
  for (std::size_t i = 0; i < usual.size(); ++i) ASSERT_NEAR(many[i], usual[i], 1) << i;
  EXPECT_LT(*std::min_element(many.begin(), many.end()), 0.5 * known_open_beam);
}

// What the check is worth: a volume that is a little off, empty, or not a number is found out.
TEST(papers, a_wrong_ball_is_found_out) {
  const VolumeGrid grid = centred_grid(80, 80, 9, {1, 1, 1});
  const KnownBall ball = ball_in(grid);
  const auto with = [&](double inside, double outside) {
    std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
    for (std::int64_t i = 0; i < grid.voxels(); ++i) {
      const Vec3 p =
          grid.centre(static_cast<double>(i % 80), static_cast<double>(i / 80 % 80), static_cast<double>(i / 6400));
      volume[static_cast<std::size_t>(i)] =
          static_cast<float>(ball.density * (norm(p - ball.centre_mm) < ball.radius_mm ? inside : outside));
    }
    return ball_error(volume.data(), grid, ball);
  };
  EXPECT_LT(with(1, 0), 1e-6);
  EXPECT_NEAR(with(0.98, 0), 0.02, 1e-6);
  EXPECT_NEAR(with(1, 0.03), 0.03, 1e-6);
  EXPECT_NEAR(with(0, 0), 1, 1e-6);
  EXPECT_FALSE(with(NAN, 0) <= 1e9);
  EXPECT_FALSE(with(1, NAN) <= 1e9);
}

}  // namespace
}  // namespace lepus::bench
