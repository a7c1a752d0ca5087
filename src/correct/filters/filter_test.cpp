// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/filter.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "correct/filters/filter_cases_test.h"
#include "device/host/band_kernels/row_kernels.h"

namespace lepus::filter_test {
namespace {

std::vector<float> reference_row(std::vector<float> values, FilterOptions options) {
  TestStack in(static_cast<std::int64_t>(values.size()), 1, 1), out = in;
  in.values = std::move(values);
  reference::filter(in.planes(), out.planes(), options);
  return out.values;
}

FilterOptions options_of(FilterKind kind, FilterBorder border, std::int64_t radius, int dimensions = 1) {
  FilterOptions options;
  options.kind = kind;
  options.border = border;
  options.radius = radius;
  options.dimensions = dimensions;
  return options;
}

using Row = std::vector<float>;

TEST(FilterReference, BoxOfThreeWithEveryBorder) {
  const Row row{3, 6, 0, 9};
  const auto box = [&](FilterBorder border) { return reference_row(row, options_of(FilterKind::box, border, 1)); };
  EXPECT_EQ(box(FilterBorder::keep), (Row{3, 3, 5, 9}));
  EXPECT_EQ(box(FilterBorder::zero), (Row{3, 3, 5, 3}));
  EXPECT_EQ(box(FilterBorder::partial), (Row{4.5, 3, 5, 4.5}));
  EXPECT_EQ(box(FilterBorder::wrap), (Row{6, 3, 5, 4}));
  EXPECT_EQ(box(FilterBorder::mirror), (Row{5, 3, 5, 3}));
  EXPECT_EQ(box(FilterBorder::clamp), (Row{4, 3, 5, 6}));
}

TEST(FilterReference, MedianOfThreeWithEveryBorder) {
  const Row row{3, 6, -1, 9};
  const auto median = [&](FilterBorder border) {
    return reference_row(row, options_of(FilterKind::median, border, 1));
  };
  EXPECT_EQ(median(FilterBorder::keep), (Row{3, 3, 6, 9}));
  EXPECT_EQ(median(FilterBorder::zero), (Row{3, 3, 6, 0}));
  EXPECT_EQ(median(FilterBorder::partial), (Row{3, 3, 6, -1}));  // of two the lower
  EXPECT_EQ(median(FilterBorder::wrap), (Row{6, 3, 6, 3}));
  EXPECT_EQ(median(FilterBorder::mirror), (Row{6, 3, 6, -1}));
  EXPECT_EQ(median(FilterBorder::clamp), (Row{3, 3, 6, 9}));
}

TEST(FilterReference, GaussianAndBilateralByHand) {
  FilterOptions options = options_of(FilterKind::gaussian, FilterBorder::keep, 1);
  options.sigma = 1;
  const double e = std::exp(-0.5);
  const Row row{0, 0, 1, 1};
  EXPECT_FLOAT_EQ(reference_row(row, options)[1], static_cast<float>(e / (1 + 2 * e)));
  options.kind = FilterKind::bilateral;
  options.sigma_value = 0.5;
  const double across = e * std::exp(-2.0);  // the neighbour beyond the step differs by 2 sigma
  EXPECT_FLOAT_EQ(reference_row(row, options)[1], static_cast<float>(across / (1 + e + across)));
}

TEST(FilterReference, IterationsFilterWhatWasFiltered) {
  FilterOptions options = options_of(FilterKind::box, FilterBorder::clamp, 1);
  options.iterations = 2;
  EXPECT_EQ(reference_row({0, 0, 9, 0, 0}, options), (Row{1, 2, 3, 2, 1}));
}

TEST(FilterReference, MasksOfTwoAndThreeDimensions) {
  TestStack in(3, 3, 3), out(3, 3, 3);
  in.values[13] = 27;  // the middle
  reference::filter(in.planes(), out.planes(), options_of(FilterKind::box, FilterBorder::keep, 1, 2));
  EXPECT_EQ(out.values[13], 3);
  EXPECT_EQ(out.values[12], 0);  // no full mask: kept
  reference::filter(in.planes(), out.planes(), options_of(FilterKind::box, FilterBorder::zero, 1, 3));
  EXPECT_EQ(std::count(out.values.begin(), out.values.end(), 1.0f), 27);
}

TEST(Filter, AgreesWithTheReferenceForAllSizesAndBorders) {
  ThreadPool threads(2);
  for (const Case& c : cases()) {
    TestStack in = noisy_stack(c.width, c.height, c.count), expected = in, got = in;
    std::fill(got.values.begin(), got.values.end(), NAN);
    reference::filter(in.planes(), expected.planes(), c.options);
    filter(in.planes(), got.planes(), c.options, threads);
    double worst = 0;
    for (std::size_t i = 0; i < got.values.size(); ++i) {
      const double error = std::abs(static_cast<double>(got.values[i]) - static_cast<double>(expected.values[i]));
      worst = error >= 0 ? std::max(worst, error) : INFINITY;  // NaN fails
    }
    // The expected value was rounded, too.
    EXPECT_LE(worst, limit_of(c.options) == 0 ? 0 : limit_of(c.options) + 0x1p-24) << name_of(c);
  }
}

TEST(Filter, LargeMasksAndTilesThatDoNotFit) {
  ThreadPool threads(2);
  for (const auto& [width, height, radius] :
       {std::array<std::int64_t, 3>{300, 150, 20}, {150, 300, 70}, {140, 131, 65}}) {
    const FilterOptions options = options_of(FilterKind::median, FilterBorder::clamp, radius, 2);
    TestStack in = noisy_stack(width, height, 1), got = in;
    filter(in.planes(), got.planes(), options, threads);
    for (std::int64_t i = 0; i < 40; ++i) {  // of the definition, a few pixels
      const std::int64_t x = i * 977 % width, y = i * 4099 % height;
      std::vector<float> mask;
      for (std::int64_t dy = -radius; dy <= radius; ++dy)
        for (std::int64_t dx = -radius; dx <= radius; ++dx)
          mask.push_back(in.planes().row(
              0, std::clamp(y + dy, std::int64_t{0}, height - 1))[std::clamp(x + dx, std::int64_t{0}, width - 1)]);
      std::nth_element(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(mask.size() / 2), mask.end());
      EXPECT_EQ(got.planes().row(0, y)[x], mask[mask.size() / 2]) << width << ' ' << height << ' ' << x << ' ' << y;
    }
  }
}

TEST(Filter, SameBitsForAnyCutAndAnyNumberOfThreads) {
  constexpr std::int64_t width = 70, rows = 37, views = 3;
  TestStack in = noisy_stack(width, rows, views);
  ThreadPool one(1), three(3);
  for (int kind = 0; kind < 4; ++kind)
    for (int border = 0; border < 6; ++border)
      for (const int iterations : {1, 2}) {
        FilterOptions options = options_of(static_cast<FilterKind>(kind), static_cast<FilterBorder>(border), 4, 2);
        options.iterations = iterations;
        options.sigma = 2;
        TestStack whole = in, cut = in;
        filter(in.planes(), whole.planes(), options, one);
        for (const RowBand wanted :
             {RowBand{0, 1}, RowBand{1, 12}, RowBand{12, 13}, RowBand{13, 30}, RowBand{30, 37}}) {
          const RowBand needed = needed_along(options, wanted, rows);
          Planes band = in.planes(), part = cut.planes();
          band.data += needed.first * width, band.height = needed.size();
          part.data += wanted.first * width, part.height = wanted.size();
          filter(band, part, options, cut_rows(band, needed, rows, wanted), three);
        }
        EXPECT_EQ(whole.values, cut.values) << name_of({width, rows, views, options});
      }
}

TEST(Filter, SlabsOfAVolumeGiveTheSameBits) {
  constexpr std::int64_t side = 20, count = 23;
  TestStack in = noisy_stack(side, side, count);
  ThreadPool threads(2);
  for (int kind = 0; kind < 4; ++kind) {
    const FilterOptions options = options_of(static_cast<FilterKind>(kind), FilterBorder::mirror, 2, 3);
    TestStack whole = in, cut = in;
    filter(in.planes(), whole.planes(), options, threads);
    for (const RowBand wanted : {RowBand{0, 7}, RowBand{7, 8}, RowBand{8, 23}}) {
      FilterCut c = uncut(in.planes());
      c.wanted_planes = wanted;
      c.planes = needed_along(options, wanted, count);
      Planes slab = in.planes(), part = cut.planes();
      slab.data += c.planes.first * side * side, slab.count = c.planes.size();
      part.data += wanted.first * side * side, part.count = wanted.size();
      filter(slab, part, options, c, threads);
    }
    EXPECT_EQ(whole.values, cut.values) << name_of({side, side, count, options});
  }
}

TEST(Filter, FramesInABandLieApart) {
  constexpr std::int64_t columns = 33, views = 4, rows = 9;
  std::vector<float> values = noisy_stack(columns, views, rows).values, out(values.size());
  SinogramBand band{values.data(), columns, views, {0, rows}, rows};
  const Planes frames = band.frames();
  ThreadPool threads(2);
  const FilterOptions options = options_of(FilterKind::median, FilterBorder::partial, 2, 2);
  Planes to = frames;
  to.data = out.data();
  filter(frames, to, options, threads);
  TestStack packed(columns, rows, views), expected = packed;
  for (std::int64_t v = 0; v < views; ++v)
    for (std::int64_t y = 0; y < rows; ++y) std::copy_n(frames.row(v, y), columns, packed.planes().row(v, y));
  reference::filter(packed.planes(), expected.planes(), options);
  for (std::int64_t v = 0; v < views; ++v)
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::int64_t x = 0; x < columns; ++x) EXPECT_EQ(to.row(v, y)[x], expected.planes().row(v, y)[x]);
}

TEST(Filter, ConstantsStayConstant) {
  ThreadPool threads(1);
  for (int kind = 0; kind < 4; ++kind)
    for (const FilterBorder border : {FilterBorder::partial, FilterBorder::wrap, FilterBorder::clamp}) {
      TestStack in(100, 20, 1), out = in;
      std::fill(in.values.begin(), in.values.end(), 0.7f);
      filter(in.planes(), out.planes(), options_of(static_cast<FilterKind>(kind), border, 9, 2), threads);
      for (const float value : out.values) ASSERT_NEAR(value, 0.7f, 0.7 * 2 * 21 * 0x1p-24);
    }
}

TEST(Filter, HugeJumpsGiveNoNaN) {
  ThreadPool threads(1);
  TestStack in(50, 1, 1), out = in;
  for (std::size_t i = 0; i < 50; ++i) in.values[i] = i % 7 == 0 ? 3e8f : 1e-8f;
  FilterOptions options = options_of(FilterKind::bilateral, FilterBorder::partial, 10);
  options.sigma_value = 1e-12;
  filter(in.planes(), out.planes(), options, threads);
  EXPECT_EQ(out.values, in.values);  // nothing is near enough in value to be mixed in, equal values mix to themselves
}

TEST(Filter, RefusesWhatMakesNoSense) {
  ThreadPool threads(1);
  TestStack in = noisy_stack(9, 4, 1), out = in;
  const auto refused = [&](FilterOptions options) {
    try {
      filter(in.planes(), out.planes(), options, threads);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage && !error.parts().what.empty();
    }
    return false;
  };
  EXPECT_TRUE(refused(options_of(FilterKind::box, FilterBorder::keep, 5)));  // 11 of 9
  EXPECT_FALSE(refused(options_of(FilterKind::box, FilterBorder::keep, 4)));
  EXPECT_TRUE(refused(options_of(FilterKind::median, FilterBorder::mirror, 9)));
  EXPECT_FALSE(refused(options_of(FilterKind::median, FilterBorder::mirror, 8)));
  EXPECT_TRUE(refused(options_of(FilterKind::box, FilterBorder::wrap, 4, 2)));  // 4 rows
  EXPECT_TRUE(refused(options_of(FilterKind::box, FilterBorder::wrap, 0)));
  EXPECT_TRUE(refused(options_of(FilterKind::box, FilterBorder::wrap, 1, 4)));
  EXPECT_TRUE(refused(options_of(FilterKind::box, FilterBorder::wrap, 1, 3)));  // one picture is no volume
  FilterOptions options = options_of(FilterKind::gaussian, FilterBorder::clamp, 2);
  options.sigma = 0;
  EXPECT_TRUE(refused(options));
  options.kind = FilterKind::bilateral, options.sigma = 1, options.sigma_value = NAN;
  EXPECT_TRUE(refused(options));
  options.sigma_value = 1, options.iterations = 0;
  EXPECT_TRUE(refused(options));
}

TEST(Filter, SaysWhichRowsItNeeds) {
  FilterOptions options = options_of(FilterKind::box, FilterBorder::keep, 3, 2);
  options.iterations = 2;
  EXPECT_EQ(needed_along(options, {10, 20}, 100), (RowBand{4, 26}));
  EXPECT_EQ(needed_along(options, {2, 98}, 100), (RowBand{0, 100}));
  options.border = FilterBorder::wrap;
  EXPECT_EQ(needed_along(options, {10, 20}, 100), (RowBand{0, 100}));
}

}  // namespace
}  // namespace lepus::filter_test
