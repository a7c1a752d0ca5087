// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/rings_correction.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "correct/rings/choose_method.h"
#include "correct/rings/ring_cases_test.h"
#include <lepus/error.h>

namespace lepus {
namespace {

CorrectionSpec spec_of(const std::string& method) {
  CorrectionSpec spec;
  spec.kind = "rings";
  spec.line = 12;
  spec.parameters = {{"method", method},
                     {"iterations", std::int64_t{1}},
                     {"filter", std::string("bilateral")},
                     {"radius_px", std::int64_t{30}},
                     {"sigma_px", 10.0},
                     {"sigma_value", 0.2},
                     {"value_range", 0.0},
                     {"wavelet", std::int64_t{8}},
                     {"levels", std::int64_t{5}},
                     {"damping_sigma", 2.0},
                     {"small_px", std::int64_t{21}},
                     {"large_px", std::int64_t{61}},
                     {"snr", 3.0}};
  return spec;
}

struct Scan {
  ring_cases::Case c{"", {}, 140, 40, 8};
  ring_cases::Stack stack{c};
  std::vector<float> rows;  // [row][view][column]
  ScanFacts facts;
  Scan() {
    for (std::int64_t row = 0; row < 8; ++row)
      for (std::int64_t y = 0; y < 40; ++y)
        rows.insert(rows.end(), stack.planes.row(row, y), stack.planes.row(row, y) + 140);
    facts.columns = 140;
    facts.rows = 8;
    facts.views = 40;
    facts.stage = Stage::line_integrals;
    facts.band = [this](RowBand band) {
      Buffer<float> buffer(band.size() * 40 * 140);
      std::copy_n(rows.data() + band.first * 40 * 140, buffer.size(), buffer.data());
      return buffer;
    };
  }
  std::vector<float> corrected(Correction& correction, RowBand rows_of, RowBand wanted) {
    std::vector<float> part(rows.begin() + rows_of.first * 40 * 140, rows.begin() + rows_of.last * 40 * 140);
    const SinogramBand band{part.data(), 140, 40, rows_of, 8};
    ThreadPool threads(2);
    EXPECT_GT(correction.scratch_bytes(band, 2), 0);
    EXPECT_EQ(correction.rows_needed(wanted, 8), wanted);
    correction.apply(band, wanted, threads);
    return part;
  }
};

TEST(RingsCorrection, WindowsAreTheSameShareOfShorterRows) {
  using Windows = std::array<std::int64_t, 5>;  // columns, radius, small, large, levels
  for (const auto& [columns, radius, small, large, levels] : {Windows{4096, 30, 21, 61, 5},
                                                              {1024, 30, 21, 61, 5},
                                                              {512, 15, 11, 31, 4},
                                                              {400, 12, 9, 25, 3},
                                                              {40, 5, 7, 15, 2}}) {
    const RingOptions options = default_windows(columns);
    EXPECT_EQ(options.radius, radius) << columns;
    EXPECT_DOUBLE_EQ(options.sigma, static_cast<double>(radius) / 3) << columns;
    EXPECT_EQ(options.small_size, small) << columns;
    EXPECT_EQ(options.large_size, large) << columns;
    EXPECT_EQ(options.levels, levels) << columns;
  }
}

TEST(RingsCorrection, EveryMethodGivesTheSameBitsForAnyBand) {
  Scan scan;
  for (const char* method : {"trend", "wavelet-fourier", "sorting", "combined", "auto"}) {
    const auto correction = make_rings(spec_of(method), scan.facts);
    const std::vector<float> whole = scan.corrected(*correction, {0, 8}, {0, 8});
    const std::vector<float> band = scan.corrected(*correction, {2, 6}, {3, 5});
    EXPECT_TRUE(std::equal(band.begin() + 5600, band.begin() + 3 * 5600, whole.begin() + 3 * 5600)) << method;
    EXPECT_NE(whole, scan.rows) << method;
    const std::string expected = std::string(method) == "auto" ? "chosen on 5 rows" : method;
    EXPECT_NE(correction->summary().find(expected), std::string::npos) << correction->summary();
  }
}

TEST(RingsCorrection, WindowsThatAreNotGivenAreTheDefaultOnes) {
  Scan scan;
  CorrectionSpec spec = spec_of("trend");
  for (const char* name : {"radius_px", "sigma_px", "levels", "small_px", "large_px"}) spec.parameters.erase(name);
  CorrectionSpec same = spec_of("trend");
  same.parameters["radius_px"] = std::int64_t{5};
  same.parameters["sigma_px"] = 5.0 / 3;
  const auto left_out = make_rings(spec, scan.facts), written = make_rings(same, scan.facts);
  EXPECT_EQ(scan.corrected(*left_out, {0, 8}, {0, 8}), scan.corrected(*written, {0, 8}, {0, 8}));
}

TEST(RingsCorrection, OnGreyLevelsAGainErrorIsDividedOut) {
  Scan scan;
  scan.facts.stage = Stage::grey_levels;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(scan.rows.size()); ++i) {
    const std::int64_t x = i % 140, view = i / 140 % 40;
    const double clean = std::exp(-1.5 + 1.5 * std::cos(0.15 * static_cast<double>(view)));  // 0.05 to 1, flat in x
    scan.rows[static_cast<std::size_t>(i)] = static_cast<float>(clean * (x == 70 ? 1.08 : 1));
  }
  const auto correction = make_rings(spec_of("trend"), scan.facts);
  const std::vector<float> after = scan.corrected(*correction, {0, 8}, {0, 8});
  for (std::size_t i = 70; i < after.size(); i += 140)
    // The filter itself follows the stripe by its own weight, 1 in 25 (2.5 sigma): 0.3 % of 8 %.
    EXPECT_NEAR(static_cast<double>(after[i]) / static_cast<double>(after[i - 10]), 1, 0.006);
}

TEST(RingsCorrection, SaysWhatIsWrong) {
  Scan scan;
  const auto message = [&](CorrectionSpec spec) -> std::string {
    try {
      make_rings(spec, scan.facts);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return "";
  };
  CorrectionSpec spec = spec_of("trend");
  spec.parameters["radius_px"] = std::int64_t{140};
  EXPECT_NE(message(spec).find("line 12"), std::string::npos) << message(spec);
  EXPECT_NE(message(spec_of("magic")).find("wavelet-fourier"), std::string::npos);
  spec = spec_of("wavelet-fourier");
  spec.parameters["levels"] = std::int64_t{9};
  EXPECT_NE(message(spec).find("levels"), std::string::npos);
  scan.rows[4 * 5600 + 17] = std::nanf("");
  EXPECT_NE(message(spec_of("auto")).find("not numbers"), std::string::npos);
  scan.facts.band = nullptr;
  EXPECT_NE(message(spec_of("auto")), "");
}

TEST(ChooseRingMethod, TakesTheLeastLeftOfThoseThatDisturbLittle) {
  const Scan scan;
  ThreadPool threads(2);
  const RingChoice choice = choose_ring_method(scan.stack.planes, ring_cases::options_for({}, 140), threads);
  ASSERT_EQ(choice.trials.size(), 4U);
  bool any_gentle = false;
  for (const RingTrial& t : choice.trials) any_gentle |= t.disturbed < most_disturbed;
  double least = 1e9, chosen = 0;
  for (const RingTrial& t : choice.trials) {
    EXPECT_TRUE(std::isfinite(t.left_db) && t.change > 0);
    if (!any_gentle || t.disturbed < most_disturbed) least = std::min(least, t.left_db);
    if (t.options.method == choice.options.method) chosen = t.left_db;
  }
  EXPECT_LE(chosen, least + 1);
  const ring_cases::Case tiny{"", {}, 3, 8, 1};
  ring_cases::Stack small(tiny);
  RingOptions wide;  // windows of 21 and more on 3 columns
  wide.levels = 5;
  EXPECT_THROW(choose_ring_method(small.planes, wide, threads), Error);
}

}  // namespace
}  // namespace lepus
