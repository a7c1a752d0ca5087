// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "correct/pixels/bridge.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"
#include <lepus/error.h>

namespace lepus::pixels {
namespace {

TestBand counting(std::int64_t columns, std::int64_t views, std::int64_t rows) {
  TestBand band(columns, views, rows);
  for (std::size_t i = 0; i < band.values.size(); ++i) band.values[i] = static_cast<float>(i * i % 97);
  return band;
}

TEST(Bridge, IsALineBetweenTheNearestGoodPixels) {
  TestBand band = counting(6, 2, 3);
  const TestBand before = band;
  TestHost machine(2);
  // Row 0: columns 2 and 3; row 1: columns 0 and 1; row 2: column 5. Not in order, one twice.
  const BadPixels bad(6, 3, {17, 3, 2, 6, 7, 3});
  EXPECT_EQ(bad.count(), 5);
  bad.bridge(band.band(), {0, 3}, machine.queue());
  TestBand expected = before;
  for (std::int64_t view = 0; view < 2; ++view) {
    const float left = expected.at(0, view, 1), right = expected.at(0, view, 4);
    expected.at(0, view, 2) = left + (right - left) * 1 / 3;
    expected.at(0, view, 3) = left + (right - left) * 2 / 3;
    expected.at(1, view, 0) = expected.at(1, view, 1) = expected.at(1, view, 2);
    expected.at(2, view, 5) = expected.at(2, view, 4);
  }
  EXPECT_EQ(band.values, expected.values);
}

TEST(Bridge, WholeRowsLieBetweenTheNearestGoodRows) {
  const TestBand before = counting(3, 2, 6);
  TestHost machine(1);
  // Rows 0, 2, 3 and 5 are bad, and a pixel of row 1, which is mended first.
  const BadPixels bad(3, 6, {0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 15, 16, 17});
  EXPECT_FALSE(bad.all_rows_bad());
  EXPECT_EQ(bad.rows_needed({3, 4}), (RowBand{1, 5}));
  EXPECT_EQ(bad.rows_needed({0, 1}), (RowBand{0, 2}));
  EXPECT_EQ(bad.rows_needed({4, 6}), (RowBand{4, 6}));
  EXPECT_EQ(bad.rows_needed({4, 5}), (RowBand{4, 5}));
  TestBand band = before;
  bad.bridge(band.band(), {0, 6}, machine.queue());
  for (std::int64_t view = 0; view < 2; ++view)
    for (std::int64_t x = 0; x < 3; ++x) {
      const float one = x == 1 ? (before.values[static_cast<std::size_t>((2 + view) * 3)] +
                                  before.values[static_cast<std::size_t>((2 + view) * 3 + 2)]) /
                                     2
                               : before.values[static_cast<std::size_t>((2 + view) * 3 + x)];
      const float four = before.values[static_cast<std::size_t>((8 + view) * 3 + x)];
      EXPECT_FLOAT_EQ(band.at(1, view, x), one);
      EXPECT_FLOAT_EQ(band.at(0, view, x), one);
      EXPECT_FLOAT_EQ(band.at(2, view, x), one + (four - one) / 3);
      EXPECT_FLOAT_EQ(band.at(3, view, x), one + (four - one) * 2 / 3);
      EXPECT_FLOAT_EQ(band.at(4, view, x), four);
      EXPECT_FLOAT_EQ(band.at(5, view, x), four);
    }
  // The same from a band that holds only what row 3 needs.
  TestBand part = before.part(1, 5);
  bad.bridge({part.values.data(), 3, 2, {1, 5}, 6}, {3, 4}, machine.queue());
  EXPECT_EQ(part.part(2, 3).values, band.part(3, 4).values);
}

TEST(Bridge, RefusesPixelsOutside) {
  for (const std::int64_t pixel : {-1, 18}) try {
      BadPixels(6, 3, {pixel});
      ADD_FAILURE() << pixel;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
}

TEST(DeadPixels, AreBridgedAndCounted) {
  TestBand band = counting(7, 3, 4);
  const TestBand before = band;
  const auto correction = make_dead_pixels({}, facts_of(band), {10});
  EXPECT_EQ(correction->summary(), "1 dead pixel replaced in every view");
  EXPECT_EQ(correction->rows_needed({1, 2}, 4), (RowBand{1, 2}));
  TestHost machine(2);
  correction->apply(band.band(), {0, 4}, machine.queue());
  TestBand expected = before;
  for (std::int64_t view = 0; view < 3; ++view)
    expected.at(1, view, 3) =
        expected.at(1, view, 2) + (expected.at(1, view, 4) - expected.at(1, view, 2)) * 1.0F / 2.0F;
  EXPECT_EQ(band.values, expected.values);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < 28; ++i) all.push_back(i);
  EXPECT_THROW(make_dead_pixels({}, facts_of(band), all), Error);
  EXPECT_EQ(make_dead_pixels({}, facts_of(band), {})->summary(), "0 dead pixels replaced in every view");
}

}  // namespace
}  // namespace lepus::pixels
