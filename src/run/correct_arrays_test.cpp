// SPDX-License-Identifier: Apache-2.0
// Corrections of arrays: each undoes what was done to a scan whose truth is known, on the side of the log it needs.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <lepus/correct.h>
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace corrections;

constexpr std::int64_t array_columns = 40, array_rows = 6, array_views = 30, array_pixels = array_columns * array_rows;

ScanGeometry scan() {
  CircularScan s;
  s.source_axis_mm = 200;
  s.source_detector_mm = 300;
  s.columns = array_columns;
  s.rows = array_rows;
  s.pixel_width_mm = s.pixel_height_mm = 1;
  for (std::int64_t i = 0; i < array_views; ++i) s.angles_rad.push_back(2 * pi * static_cast<double>(i) / array_views);
  return build_scan(s);
}

// Smooth line integrals.
double truth(std::int64_t i) {
  return 1 + 0.5 * std::sin(0.2 * static_cast<double>(i % array_columns)) *
                 std::cos(0.1 * static_cast<double>(i / array_pixels));
}

std::vector<float> line_integrals() {
  std::vector<float> lines;
  for (std::int64_t i = 0; i < array_views * array_pixels; ++i) lines.push_back(static_cast<float>(truth(i)));
  return lines;
}

void expect_truth(const std::vector<float>& lines, double limit) {
  for (std::int64_t i = 0; i < array_views * array_pixels; ++i)
    ASSERT_NEAR(static_cast<double>(lines[static_cast<std::size_t>(i)]), truth(i), limit) << i;
}

std::vector<float> counts_of(const std::vector<float>& flat, const std::vector<double>& doses, float dark) {
  std::vector<float> counts;
  for (std::int64_t i = 0; i < array_views * array_pixels; ++i)
    counts.push_back(static_cast<float>(static_cast<double>(dark) +
                                        static_cast<double>(flat[static_cast<std::size_t>(i % array_pixels)] - dark) *
                                            doses[static_cast<std::size_t>(i / array_pixels)] * std::exp(-truth(i))));
  return counts;
}

TEST(correct_arrays, counts_become_line_integrals) {
  std::vector<float> flat, dark(array_pixels, 50.0F), lines(array_views * array_pixels);
  for (std::int64_t i = 0; i < array_pixels; ++i) flat.push_back(static_cast<float>(40000 + 97 * i));
  const std::vector<double> steady(array_views, 1.0);
  EXPECT_TRUE(correct_counts(scan(), counts_of(flat, steady, 50), {flat, dark}, {}, lines).empty());
  expect_truth(lines, 2e-6);  // a logarithm of about 11 rounds to 5e-7

  const std::vector<float> one_value(array_pixels, 30000.0F);
  correct_counts(scan(), counts_of(one_value, steady, 0), {.counts = 30000}, {}, lines);
  expect_truth(lines, 2e-6);
}

TEST(correct_arrays, a_pixel_without_light_is_bridged) {
  std::vector<float> flat(array_pixels, 40000.0F), lines(array_views * array_pixels);
  flat[2 * array_columns + 17] = 0;
  const auto report =
      correct_counts(scan(), counts_of(flat, std::vector<double>(array_views, 1.0), 0), {.flat = flat}, {}, lines);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_TRUE(report[0].starts_with("dead pixels: ")) << report[0];
  expect_truth(lines,
               0.5 * 0.2 * 0.2 / 2);  // on a line instead of a wave whose second derivative is 0.5 * 0.2^2 at most
}

TEST(correct_arrays, steps_are_done_on_their_side_of_the_log) {
  std::vector<double> doses;
  for (std::int64_t view = 0; view < array_views; ++view)
    doses.push_back(1 + 0.2 * std::sin(static_cast<double>(view)));
  const std::vector<float> flat(array_pixels, 40000.0F);
  std::vector<float> lines(array_views * array_pixels);
  const std::vector<CorrectionStep> steps{Dose{doses, 1.0}, Hardening{{2.0}}, Hardening{{0.5}}};
  EXPECT_EQ(correct_counts(scan(), counts_of(flat, doses, 0), {.flat = flat}, steps, lines).size(), 3U);
  expect_truth(lines, 4e-6);

  // The same of line integrals, which become grey levels and line integrals again.
  std::vector<float> dimmed = line_integrals();
  for (std::int64_t i = 0; i < array_views * array_pixels; ++i)
    dimmed[static_cast<std::size_t>(i)] -=
        static_cast<float>(std::log(doses[static_cast<std::size_t>(i / array_pixels)]));
  correct_line_integrals(scan(), dimmed, steps);
  expect_truth(dimmed, 4e-6);
}

TEST(correct_arrays, stripes_and_outliers_go) {
  std::vector<float> lines = line_integrals();
  for (std::int64_t view = 0; view < array_views; ++view)
    lines[static_cast<std::size_t>(view * array_pixels + 3 * array_columns + 20)] += 0.3F;
  lines[static_cast<std::size_t>(11 * array_pixels + array_columns + 9)] -= 0.7F;
  CorrectOptions one_thread;
  one_thread.threads = 1;
  std::vector<float> again = lines;
  const std::vector<CorrectionStep> steps{Zingers{}, Rings{Rings::Method::sorting}};
  correct_line_integrals(scan(), lines, steps);
  const auto at = [&](std::int64_t i) { return static_cast<double>(lines[static_cast<std::size_t>(i)]); };
  EXPECT_NEAR(at(11 * array_pixels + array_columns + 9), truth(11 * array_pixels + array_columns + 9), 0.1);
  EXPECT_NEAR(at(3 * array_columns + 20), truth(3 * array_columns + 20), 0.1);
  correct_line_integrals(scan(), again, steps, one_thread);
  EXPECT_EQ(lines, again);
}

TEST(correct_arrays, what_a_person_should_look_at_is_warned_of) {
  struct Told : Progress {
    std::vector<std::string> warnings;
    std::int64_t steps = 0, done = 0;
    void begin(std::string_view, std::int64_t count) override { steps = count; }
    void advance(std::int64_t count) override { done += count; }
    void warning(const std::string& message) override { warnings.push_back(message); }
  } told;
  std::vector<float> lines = line_integrals();
  DeadPixels many;
  for (std::int64_t pixel = 1; pixel < array_pixels; pixel += 14) many.pixels.push_back(pixel);
  const std::vector<CorrectionStep> steps{many, Hardening{{1}}};
  const auto reports = correct_line_integrals(scan(), lines, steps, {.progress = &told});
  ASSERT_EQ(told.warnings.size(), 1U);
  EXPECT_EQ(told.warnings[0], "dead pixels: " + reports[0]);
  EXPECT_EQ(told.steps, 2);
  EXPECT_EQ(told.done, 2);
}

TEST(correct_arrays, what_does_not_go_together_is_refused) {
  std::vector<float> lines = line_integrals();
  const std::vector<CorrectionStep> late{Hardening{{1.0}}, Lag{}};
  const auto kind_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind_of([&] { correct_line_integrals(scan(), lines, late); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { correct_line_integrals(scan(), std::span(lines).first(7), {}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { correct_counts(scan(), lines, {.counts = 0}, {}, lines); }), ErrorKind::input);
  lines[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(kind_of([&] { correct_line_integrals(scan(), lines, {}); }), ErrorKind::input);
  CancelFlag stop;
  stop.cancel();
  lines = line_integrals();
  const std::vector<CorrectionStep> some{Zingers{}};
  EXPECT_EQ(kind_of([&] { correct_line_integrals(scan(), lines, some, {0, &stop}); }), ErrorKind::cancelled);
}

TEST(correct_arrays, open_beams_are_looked_at) {
  std::vector<float> flat(array_pixels, 40000.0F), dark(array_pixels, 50.0F), lines(array_views * array_pixels);
  const std::vector<float> counts = counts_of(flat, std::vector<double>(array_views, 1.0), 50);
  std::vector<float> broken = dark;
  broken[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(correct_counts(scan(), counts, {{}, broken, 40000}, {}, lines), Error);
  EXPECT_THROW(correct_counts(scan(), counts, {flat, broken}, {}, lines), Error);
  EXPECT_THROW(correct_counts(scan(), counts, {broken, dark}, {}, lines), Error);
  // A dark that is not this detector's.
  const std::vector<float> bright(array_pixels, 39000.0F);
  const std::vector<std::string> reports = correct_counts(scan(), counts, {flat, bright}, {}, lines);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("not above the dark"), std::string::npos) << reports[0];
  // A pixel that is dead in the flat comes first, and is not counted among the caller's steps.
  flat[3] = 0;
  const CorrectionStep steps[] = {Hardening{{1.0}}, Dose{std::vector<double>(array_views, 1.0)}};
  try {
    correct_counts(scan(), counts, {flat, dark}, steps, lines);
    FAIL() << "hardening before dose was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().where, "correction 1");
  }
  EXPECT_THROW(correct_counts(scan(), counts, {flat, dark},
                              std::vector<CorrectionStep>{Dose{std::vector<double>(array_views, 1.0), 0.0}}, lines),
               Error);
}

}  // namespace
}  // namespace lepus
