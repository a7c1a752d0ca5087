// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/rings_correction.h"

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "correct/rings/choose_method.h"
#include "correct/rings/ring_cases_test.h"
#include "device/host/test_host.h"
#include <lepus/error.h>

namespace lepus {
namespace {

RingsOptions options_of(std::optional<RingMethod> method) {
  return {.method = method,
          .iterations = 1,
          .radius = 30,
          .sigma = 10,
          .sigma_value = 0.2,
          .levels = 5,
          .small_size = 21,
          .large_size = 61};
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
    TestHost machine(2);
    EXPECT_GT(correction.scratch_bytes(band, 2), 0);
    EXPECT_EQ(correction.rows_needed(wanted, 8), wanted);
    correction.apply(band, wanted, machine.queue());
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
  const auto methods = std::to_array<std::optional<RingMethod>>(
      {RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting, RingMethod::combined, std::nullopt});
  for (const auto& method : methods) {
    const auto correction = make_rings(options_of(method), scan.facts);
    const std::string name = method ? name_of(*method) : "chosen on 5 rows";
    const std::vector<float> whole = scan.corrected(*correction, {0, 8}, {0, 8});
    const std::vector<float> band = scan.corrected(*correction, {2, 6}, {3, 5});
    EXPECT_TRUE(std::equal(band.begin() + 5600, band.begin() + 3 * 5600, whole.begin() + 3 * 5600)) << name;
    EXPECT_NE(whole, scan.rows) << name;
    EXPECT_NE(correction->summary().find(name), std::string::npos) << correction->summary();
  }
}

TEST(RingsCorrection, WindowsThatAreNotGivenAreTheDefaultOnes) {
  Scan scan;
  RingsOptions same = options_of(RingMethod::trend);
  same.radius = 5;
  same.sigma = 5.0 / 3;
  const auto left_out = make_rings({.sigma_value = 0.2}, scan.facts), written = make_rings(same, scan.facts);
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
  const auto correction = make_rings(options_of(RingMethod::trend), scan.facts);
  const std::vector<float> after = scan.corrected(*correction, {0, 8}, {0, 8});
  for (std::size_t i = 70; i < after.size(); i += 140)
    // The filter itself follows the stripe by its own weight, 1 in 25 (2.5 sigma): 0.3 % of 8 %.
    EXPECT_NEAR(static_cast<double>(after[i]) / static_cast<double>(after[i - 10]), 1, 0.006);
}

TEST(RingsCorrection, SaysWhatIsWrong) {
  Scan scan;
  const auto message = [&](const RingsOptions& options) -> std::string {
    try {
      make_rings(options, scan.facts);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  RingsOptions options = options_of(RingMethod::trend);
  options.radius = 140;
  EXPECT_NE(message(options).find("140"), std::string::npos) << message(options);
  options = options_of(RingMethod::trend);
  options.filter = FilterKind::box;
  EXPECT_NE(message(options).find("keep edges"), std::string::npos);
  options = options_of(RingMethod::wavelet_fourier);
  options.levels = 9;
  EXPECT_NE(message(options).find("levels"), std::string::npos);
  scan.rows[4 * 5600 + 17] = std::nanf("");
  EXPECT_NE(message(options_of(std::nullopt)).find("not numbers"), std::string::npos);
  scan.facts.band = nullptr;
  EXPECT_NE(message(options_of(std::nullopt)), "");
}

TEST(ChooseRingMethod, TakesTheBestBalanceOfThoseThatDoLittleHarm) {
  const Scan scan;
  ThreadPool threads(2);
  RingOptions parameters = ring_cases::options_for({}, 140);
  parameters.iterations = 0;
  const RingChoice choice = choose_ring_method({scan.stack.planes, false, {}}, parameters, threads);
  ASSERT_TRUE(choice.options.has_value()) << choice.why_none;
  EXPECT_GT(choice.broken_columns, 0);
  double best = 0, chosen = 0;
  for (const RingTrial& t : choice.trials) {
    const rings::RingVerdict& v = t.verdict;
    EXPECT_TRUE(std::isfinite(v.left_db) && std::isfinite(v.won) && v.change > 0);
    const bool harmless = v.disturbed < maximum_disturbed || v.lost <= share_of_winnings * v.won;
    if (harmless && v.left_db <= -3 && v.risen <= share_of_winnings * v.won && v.won > 2 * v.lost)
      best = std::max(best, v.won - v.lost);
    if (t.options.method == choice.options->method && t.options.iterations == choice.options->iterations)
      chosen = v.won - v.lost;
  }
  EXPECT_GT(chosen, 0);
  EXPECT_EQ(chosen, best);
}

// Noise about 1 on `rows` sinograms of 140 columns and 40 views, and stripe(x) in all of them.
ring_cases::Stack noise_and(std::int64_t rows, const auto& stripe) {
  ring_cases::Stack stack({"", {}, 140, 40, rows});
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t y = 0; y < 40; ++y)
      for (std::int64_t x = 0; x < 140; ++x) stack.planes.row(row, y)[x] = 1 + 0.02F * normal(random) + stripe(x);
  return stack;
}

TEST(ChooseRingMethod, NothingIsACandidate) {
  ThreadPool threads(2);
  const ring_cases::Stack stack = noise_and(3, [](std::int64_t) { return 0.0F; });
  const RingChoice choice = choose_ring_method({stack.planes, true, {}}, ring_cases::options_for({}, 140), threads);
  EXPECT_FALSE(choice.options.has_value());
  EXPECT_FALSE(choice.refused);
  EXPECT_TRUE(choice.trials.empty());  // none can win: none need be tried
  EXPECT_NE(choice.why_none.find("no method"), std::string::npos);
}

TEST(ChooseRingMethod, StripesOfAllRowsAreTheObjectsWhereRowsAreFarApart) {
  ThreadPool threads(2);
  const auto walls = [](std::int64_t x) { return x == 40 || x == 41 || x == 100 ? 0.3F : 0.0F; };
  const ring_cases::Stack stack = noise_and(5, walls);
  const RingOptions options = ring_cases::options_for({}, 140);
  EXPECT_TRUE(choose_ring_method({stack.planes, false, {}}, options, threads).options.has_value());
  const RingChoice apart = choose_ring_method({stack.planes, true, {}}, options, threads);
  EXPECT_FALSE(apart.options.has_value());
  EXPECT_NE(apart.why_none.find("like an object's"), std::string::npos) << apart.why_none;
}

TEST(ChooseRingMethod, StripesThatMirrorEachOtherAreTheObjects) {
  ThreadPool threads(2);
  const auto walls = [](std::int64_t x) { return x == 40 || x == 95 ? 0.3F : x == 31 || x == 104 ? 0.2F : 0.0F; };
  const ring_cases::Stack stack = noise_and(1, walls);
  const RingOptions options = ring_cases::options_for({}, 140);
  for (const double axis : {67.5, 66.5})
    EXPECT_FALSE(choose_ring_method({stack.planes, false, axis}, options, threads).options);
  EXPECT_TRUE(choose_ring_method({stack.planes, false, 80.0}, options, threads).options.has_value());
}

TEST(ChooseRingMethod, AllThatHelpsDoesTooMuchHarm) {
  ThreadPool threads(2);
  RingOptions options = ring_cases::options_for({}, 140);
  options.sigma_value = 1e-6;  // every stripe is an edge to trend, which leaves it; the others disturb the noise
  const auto weak_rings_in_air = [](std::int64_t x) { return 0.007F * static_cast<float>(x * x % 7 - 2) - 1; };
  const ring_cases::Stack stack = noise_and(1, weak_rings_in_air);
  const RingChoice choice = choose_ring_method({stack.planes, false, {}}, options, threads);
  EXPECT_TRUE(choice.refused);
  EXPECT_FALSE(choice.options.has_value());
  EXPECT_NE(choice.why_none.find("disturbs the object by more than 1 %"), std::string::npos) << choice.why_none;
}

TEST(ChooseRingMethod, FewViewsAndWindowsThatDoNotFit) {
  ThreadPool threads(1);
  const ring_cases::Case few{"", {}, 40, 8, 1}, tiny{"", {}, 3, 20, 1};
  ring_cases::Stack two(few), small(tiny);
  EXPECT_NE(choose_ring_method({two.planes, false, {}}, {}, threads).why_none.find("8 views"), std::string::npos);
  RingOptions wide;  // windows of 21 and more on 3 columns
  wide.levels = 5;
  EXPECT_THROW(choose_ring_method({small.planes, false, {}}, wide, threads), Error);
}

TEST(RingsCorrection, MoreBrokenColumnsThanADetectorHasAreRefused) {
  Scan scan;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(scan.rows.size()); ++i)
    if (i % 140 % 8 == 3) scan.rows[static_cast<std::size_t>(i)] = 1;
  RingsOptions options = options_of(RingMethod::combined);
  try {
    make_rings(options, scan.facts);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("of the columns"), std::string::npos) << error.what();
  }
  options.maximum_share = 1;
  EXPECT_NO_THROW(make_rings(options, scan.facts));
}

}  // namespace
}  // namespace lepus
