// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "correct/beam/beam_reference.h"
#include "correct/beam/test_bands.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace test_bands;

// Each of some operations in float is off by 6e-8 of values up to 1.1, and the inverse filter with a pole of at most
// 0.9 in absolute value adds up to ten of them: 3 * 6e-8 * 1.1 * 10 * gain.
constexpr double lag_tolerance = 4e-6;

TEST(Lag, ReferenceByHand) {
  // decay = 1 / ln 2: the memory loses half of its difference in each frame. One flash of light, dark before.
  const double decay = 1 / std::log(2.0);
  const std::vector<double> truth{0, 1, 0, 0, 0};
  const std::vector<double> measured = add_lag_reference(truth, 1, 0.2, decay, LagStart::dark);
  const std::vector<double> by_hand{0, 0.8, 0.1, 0.05, 0.025};
  const std::vector<double> back = remove_lag_reference(measured, 1, 0.2, decay, LagStart::dark);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_NEAR(measured[i], by_hand[i], 1e-15);
    EXPECT_NEAR(back[i], truth[i], 1e-15);
  }
  // What does not change shows no lag; a detector that saw the open beam glows on into a dark first frame.
  EXPECT_NEAR(add_lag_reference({0.3, 0.3, 0.3}, 1, 0.2, 5, LagStart::first_frame)[2], 0.3, 1e-15);
  EXPECT_NEAR(add_lag_reference({0.0}, 1, 0.2, 5, LagStart::open_beam)[0], 0.2, 1e-15);
}

TEST(Lag, MatchesTheReferenceForOddSizesAndStarts) {
  for (const std::int64_t columns : {1, 2, 7, 63, 64, 65, 257, 513})
    for (const std::int64_t views : {1, 2, 17})
      for (const LagStart start : {LagStart::first_frame, LagStart::open_beam, LagStart::dark}) {
        const TestScan scan = TestScan::noise(columns, 3, views);
        Facts f(scan, Stage::grey_levels);
        const auto lag = make_lag({.fraction = 0.12, .decay_frames = 3.5, .before = start}, f.facts);
        const std::vector<float> out = corrected(*lag, scan, 3, 2);
        for (std::int64_t row = 0; row < 3; ++row) {
          const std::vector<float> sinogram = scan.sinogram(row);
          const std::vector<double> expected =
              remove_lag_reference({sinogram.begin(), sinogram.end()}, columns, 0.12, 3.5, start);
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(out[static_cast<std::size_t>(row) * expected.size() + i], expected[i], lag_tolerance)
                << columns << " columns, " << views << " views, " << static_cast<int>(start) << ", " << i;
        }
      }
}

TEST(Lag, SameBitsForAnyCutAndThreads) {
  const TestScan scan = TestScan::noise(530, 7, 12);
  Facts f(scan, Stage::grey_levels);
  const auto lag = make_lag({.fraction = 0.05, .decay_frames = 2, .before = LagStart::open_beam}, f.facts);
  const std::vector<float> whole = corrected(*lag, scan, 7, 1);
  for (const std::int64_t rows : {1, 2, 3})
    for (const int threads : {1, 3}) EXPECT_TRUE(same_bits(whole, corrected(*lag, scan, rows, threads)));
}

// The largest fraction that is allowed, over many frames: errors must not grow.
TEST(Lag, StaysStableAtItsLimit) {
  const TestScan scan = TestScan::noise(5, 1, 3000);
  Facts f(scan, Stage::grey_levels);
  for (const double decay : {1e-3, 0.5, 1e4}) {
    const auto lag = make_lag({.fraction = 0.49, .decay_frames = decay}, f.facts);
    for (const float value : corrected(*lag, scan, 1, 1))
      ASSERT_LT(std::abs(value), 60) << decay;  // noise times 1/(1-2a)
  }
}

TEST(Lag, RefusesWhatCannotBeUndone) {
  const TestScan scan = TestScan::noise(8, 2, 3);
  Facts f(scan, Stage::grey_levels);
  for (const double fraction : {-0.1, 0.5, 1.0, std::nan("")})
    EXPECT_THROW(make_lag({.fraction = fraction}, f.facts), Error) << fraction;
  for (const double decay : {0.0, -1.0, std::nan("")})
    EXPECT_THROW(make_lag({.decay_frames = decay}, f.facts), Error) << decay;
  Facts after(scan, Stage::line_integrals);
  EXPECT_THROW(make_lag({}, after.facts), Error);
}

}  // namespace
}  // namespace lepus
