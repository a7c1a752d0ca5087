// SPDX-License-Identifier: Apache-2.0
// The filters on a CUDA device against the reference over the sizes and borders that the CPU is tested with, larger
// ones against the CPU, and bands against the whole.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "device/host/band_kernels/filter.h"
#include "correct/filters/filter_cases_test.h"
#include "correct/filters/filter_correction.h"
#include "device/host/test_host.h"
#include "need_device.h"
#include "test_card.h"

namespace lepus::filter_test {
namespace {

// A copy of a stack in the card's memory, with the same strides.
class OnDevice {
public:
  OnDevice(TestCard& card, TestStack& stack)
      : card_(card), planes_(stack.planes()), memory_(card.upload(stack.values)) {
    planes_.data = TestCard::floats(memory_);
  }
  Planes planes() const { return planes_; }
  void download(TestStack& stack) const { card_.download(memory_.get(), stack.values); }

private:
  TestCard& card_;
  Planes planes_;
  Block memory_;
};

TestStack filtered_on_device(TestStack& in, const FilterOptions& options) {
  TestCard card;
  TestStack out = in;
  std::fill(out.values.begin(), out.values.end(), NAN);
  const OnDevice device_in(card, in), device_out(card, out);
  card.kernels().filter(device_in.planes(), device_out.planes(), options, uncut(device_in.planes()), card.queue());
  device_out.download(out);
  return out;
}

double worst_difference(const TestStack& a, const TestStack& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double error = std::abs(static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]));
    worst = error >= 0 ? std::max(worst, error) : INFINITY;  // NaN fails
  }
  return worst;
}

TEST(FilterOnDevice, AgreesWithTheReferenceForAllSizesAndBorders) {
  NEED_DEVICE();
  for (const Case& c : cases()) {
    TestStack in = noisy_stack(c.width, c.height, c.count), expected = in;
    reference::filter(in.planes(), expected.planes(), c.options);
    const TestStack got = filtered_on_device(in, c.options);
    // The expected value was rounded, too.
    EXPECT_LE(worst_difference(got, expected), limit_of(c.options) == 0 ? 0 : limit_of(c.options) + 0x1p-24)
        << name_of(c);
  }
}

TEST(FilterOnDevice, AgreesWithTheCpuForLargeMasks) {
  NEED_DEVICE();
  ThreadPool threads;
  struct Large {
    std::int64_t width, height, count, radius;
    int dimensions;
  };
  // Rows in several pieces; blocks of every size; masks that are searched in global memory (2-D from radius 64, 3-D
  // from radius 13).
  for (const Large& l :
       {Large{1400, 7, 3, 30, 1}, Large{4099, 2, 1, 100, 1}, Large{4099, 1, 1, 1500, 1}, Large{9001, 1, 1, 3000, 1},
        Large{20000, 1, 1, 4000, 1}, Large{20000, 1, 1, 8500, 1}, Large{300, 130, 2, 30, 2}, Large{211, 150, 1, 50, 2},
        Large{160, 140, 1, 66, 2}, Large{90, 40, 25, 5, 3}, Large{40, 30, 28, 13, 3}})
    for (const FilterKind kind : {FilterKind::box, FilterKind::gaussian, FilterKind::median, FilterKind::bilateral}) {
      if ((kind == FilterKind::bilateral && l.radius > 100) || (kind != FilterKind::median && l.radius > 4000))
        continue;
      for (const FilterBorder border : {FilterBorder::keep, FilterBorder::partial, FilterBorder::mirror}) {
        FilterOptions options;
        options.kind = kind;
        options.border = border;
        options.radius = l.radius;
        options.dimensions = l.dimensions;
        options.sigma = 0.4 * static_cast<double>(l.radius);
        options.sigma_value = 0.4;
        if (border == FilterBorder::keep && 2 * l.radius >= (l.dimensions > 2   ? l.count
                                                             : l.dimensions > 1 ? l.height
                                                                                : l.width))
          continue;
        TestStack in = noisy_stack(l.width, l.height, l.count), expected = in;
        filter(in.planes(), expected.planes(), options, threads);
        const TestStack got = filtered_on_device(in, options);
        EXPECT_LE(worst_difference(got, expected), 2 * limit_of(options))
            << name_of({l.width, l.height, l.count, options});
      }
    }
}

TEST(FilterOnDevice, SameBitsForAnyCut) {
  NEED_DEVICE();
  constexpr std::int64_t width = 70, rows = 37, views = 3;
  TestCard card;
  for (int kind = 0; kind < 4; ++kind)
    for (int border = 0; border < 6; ++border) {
      FilterOptions options;
      options.kind = static_cast<FilterKind>(kind);
      options.border = static_cast<FilterBorder>(border);
      options.radius = 4;
      options.dimensions = 2;
      options.iterations = 2;
      options.sigma = 2;
      TestStack in = noisy_stack(width, rows, views), cut = in;
      const TestStack whole = filtered_on_device(in, options);
      const OnDevice device_in(card, in), device_cut(card, cut);
      for (const RowBand wanted : {RowBand{0, 1}, RowBand{1, 12}, RowBand{12, 13}, RowBand{13, 30}, RowBand{30, 37}}) {
        const RowBand needed = needed_along(options, wanted, rows);
        Planes band = device_in.planes(), part = device_cut.planes();
        band.data += needed.first * width, band.height = needed.size();
        part.data += wanted.first * width, part.height = wanted.size();
        card.kernels().filter(band, part, options, cut_rows(band, needed, rows, wanted), card.queue());
      }
      device_cut.download(cut);
      EXPECT_EQ(whole.values, cut.values) << name_of({width, rows, views, options});
    }
}

TEST(FilterOnDevice, CorrectionAgreesWithTheHost) {
  NEED_DEVICE();
  constexpr std::int64_t columns = 65, views = 11, rows = 30;
  TestHost machine(2);
  TestCard card;
  using Pictures = FilterCorrectionOptions::Pictures;
  for (const Pictures pictures : {Pictures::sinograms, Pictures::frames}) {
    const FilterCorrectionOptions options{
        .filter = {.radius = 4, .dimensions = 2, .border = FilterBorder::wrap, .iterations = 2}, .pictures = pictures};
    ScanFacts facts;
    facts.columns = columns, facts.rows = rows, facts.views = views;
    const auto correction = make_filter(options, facts);
    TestStack on_host = noisy_stack(columns, views, rows), on_device = on_host;
    correction->apply({on_host.values.data(), columns, views, {0, rows}, rows}, {3, 20}, machine.queue());
    const OnDevice memory(card, on_device);
    correction->apply({memory.planes().data, columns, views, {0, rows}, rows}, {3, 20}, card.queue());
    memory.download(on_device);
    EXPECT_EQ(on_host.values, on_device.values)
        << static_cast<int>(pictures);  // rows that are not wanted stay, the median is exact
  }
}

TEST(FilterOnDevice, RefusesWhatTheHostRefuses) {
  NEED_DEVICE();
  TestStack in = noisy_stack(9, 4, 1);
  FilterOptions options;
  options.radius = 5;
  EXPECT_THROW(filtered_on_device(in, options), Error);
}

}  // namespace
}  // namespace lepus::filter_test
