// SPDX-License-Identifier: Apache-2.0
#include "correct/filters/filter_correction.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "correct/filters/filter_cases_test.h"
#include "device/host/test_host.h"

namespace lepus {
namespace {

using Pictures = FilterCorrectionOptions::Pictures;

FilterCorrectionOptions options_of(FilterKind kind) {
  return {.filter = {.kind = kind, .radius = 3, .sigma = 2, .sigma_value = 0.25, .border = FilterBorder::mirror}};
}

ScanFacts facts_of(std::int64_t columns, std::int64_t rows, std::int64_t views) {
  ScanFacts facts;
  facts.columns = columns;
  facts.rows = rows;
  facts.views = views;
  return facts;
}

constexpr std::int64_t columns = 40, rows = 21, views = 9;

// The whole detector in bands of three rows, each with what the correction says it needs.
std::vector<float> in_bands(Correction& correction, const std::vector<float>& scan) {
  TestHost machine(2);
  std::vector<float> result(scan.size());
  for (std::int64_t first = 0; first < rows; first += 3) {
    const RowBand wanted{first, first + 3}, needed = correction.rows_needed(wanted, rows);
    std::vector<float> copy(scan.begin() + needed.first * views * columns,
                            scan.begin() + needed.last * views * columns);
    const SinogramBand band{copy.data(), columns, views, needed, rows};
    EXPECT_GT(correction.scratch_bytes(band, 2), 0);
    correction.apply(band, wanted, machine.queue());
    std::copy_n(copy.begin() + (wanted.first - needed.first) * views * columns, 3 * views * columns,
                result.begin() + first * views * columns);
  }
  return result;
}

TEST(FilterCorrection, FiltersFramesAndSinogramsInBands) {
  std::vector<float> scan = filter_test::noisy_stack(columns, views, rows).values;
  const SinogramBand whole{scan.data(), columns, views, {0, rows}, rows};
  for (const bool frames : {false, true})
    for (const int dimensions : {1, 2}) {
      FilterCorrectionOptions options = options_of(FilterKind::median);
      options.pictures = frames ? Pictures::frames : Pictures::sinograms;
      options.filter.dimensions = dimensions;
      const auto correction = make_filter(options, facts_of(columns, rows, views));
      EXPECT_EQ(correction->needs_all_views(), dimensions == 2 && !frames);
      const std::vector<float> got = in_bands(*correction, scan);
      const Planes in = frames ? whole.frames() : whole.sinograms({0, rows});
      std::vector<float> expected(scan.size());
      Planes out = in;
      out.data = expected.data();
      reference::filter(in, out, filter_options(options, facts_of(columns, rows, views)));
      EXPECT_EQ(got, expected) << frames << ' ' << dimensions;
      EXPECT_NE(correction->summary().find("median"), std::string::npos);
    }
}

TEST(FilterCorrection, ScalesSigmaToTheRange) {
  ScanFacts facts = facts_of(columns, rows, views);
  FilterCorrectionOptions options = options_of(FilterKind::bilateral);
  EXPECT_DOUBLE_EQ(filter_options(options, facts).sigma_value, 0.25);  // grey levels
  facts.stage = Stage::line_integrals;
  facts.band = [](RowBand band) {
    EXPECT_EQ(band, (RowBand{10, 11}));
    Buffer<float> values(1001);
    for (std::int64_t i = 0; i < 1001; ++i) values[i] = 0.01f * static_cast<float>((i * 10) % 1001);
    values[500] = 5;  // stays within
    return values;
  };
  EXPECT_NEAR(filter_options(options, facts).sigma_value, 0.25 * 9.9, 0.25 * 0.011);
  options.value_range = 4;
  EXPECT_DOUBLE_EQ(filter_options(options, facts).sigma_value, 1);
}

TEST(FilterCorrection, RefusesWhatCannotWork) {
  const auto message = [](const FilterCorrectionOptions& options, const ScanFacts& facts) -> std::string {
    try {
      make_filter(options, facts);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  const ScanFacts facts = facts_of(columns, rows, views);
  FilterCorrectionOptions options = options_of(FilterKind::median);
  options.filter.radius = 40;
  EXPECT_NE(message(options, facts).find("40 pixels is too large"), std::string::npos) << message(options, facts);
  options.filter.radius = 20;
  options.filter.border = FilterBorder::keep;
  EXPECT_NE(message(options, facts).find("no pixel has a full mask"), std::string::npos) << message(options, facts);
  options = options_of(FilterKind::bilateral);
  ScanFacts flat = facts;
  flat.stage = Stage::line_integrals;
  EXPECT_NE(message(options, flat).find("value_range"), std::string::npos);
  flat.band = [](RowBand) {
    Buffer<float> values(5);
    std::fill(values.begin(), values.end(), 1.0f);
    return values;
  };
  EXPECT_NE(message(options, flat).find("all the same"), std::string::npos);
  flat.band = [](RowBand) {
    Buffer<float> values(5);
    std::fill(values.begin(), values.end(), NAN);
    return values;
  };
  EXPECT_NE(message(options, flat).find("not numbers"), std::string::npos);
  EXPECT_EQ(message(options_of(FilterKind::median), facts), "");
}

}  // namespace
}  // namespace lepus
