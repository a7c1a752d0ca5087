// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/phase.h"

#include <gtest/gtest.h>

#include "correct/beam/phase_cases.h"
#include "correct/beam/phase_reference.h"
#include "correct/beam/test_bands.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus {
namespace {

using namespace test_bands;

// FFTW's float transforms of these sizes are off by less than 3e-7 of the frame's rms each way; values are up to 1.1.
constexpr double phase_tolerance = 1e-6;

std::vector<float> filtered(const PhasePlan& plan, const TestScan& scan, std::int64_t rows_at_once, int threads) {
  const PhaseTransform transform(plan);
  ThreadPool pool(threads);
  std::vector<float> result(scan.values.size());
  for (std::int64_t first = 0; first < scan.rows; first += rows_at_once) {
    const RowBand wanted{first, std::min(scan.rows, first + rows_at_once)}, needed = plan.rows_needed(wanted);
    Buffer<float> rows = scan.band(needed);
    const SinogramBand band{rows.data(), scan.columns, scan.views, needed, scan.rows};
    transform.apply(band, wanted, pool);
    std::copy_n(band.sinograms(wanted).data, wanted.size() * scan.views * scan.columns,
                result.begin() + static_cast<std::ptrdiff_t>(first * scan.views * scan.columns));
  }
  return result;
}

// One cosine of frequency m / 2N by k / 2M is weakened by its own factor; a constant is not changed.
TEST(Phase, ReferenceByHand) {
  const std::int64_t columns = 6, rows = 5;
  std::vector<float> frame;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      frame.push_back(static_cast<float>(3 + std::cos(pi * 2 * (y + 0.5) / 5) * std::cos(pi * 3 * (x + 0.5) / 6)));
  const std::vector<double> out = paganin_reference(frame, columns, 40, 90);
  const double factor = 1 / (1 + 40 * 0.2 * 0.2 + 90 * 0.25 * 0.25);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], 3 + factor * (frame[i] - 3), 1e-6);  // frame: float
}

TEST(Phase, MatchesTheReferenceForOddSizes) {
  for (const std::int64_t columns : {1, 2, 7, 63, 64, 65})
    for (const std::int64_t rows : {1, 2, 5, 16, 31})
      for (const double a : {0.0, 3.0, 400.0}) {
        const TestScan scan = TestScan::noise(columns, rows, 2);
        const PhasePlan plan(columns, rows, a, 0.5 * a);
        EXPECT_LT(worst_phase_difference(filtered(plan, scan, rows, 2), scan, a, 0.5 * a), phase_tolerance)
            << columns << " x " << rows << ", a = " << a;
      }
  const TestScan wide = TestScan::noise(257, 9, 1);
  const PhasePlan plan(257, 9, 1e4, 1e4);  // reaches further than the frame
  EXPECT_LT(worst_phase_difference(filtered(plan, wide, 9, 1), wide, 1e4, 1e4), phase_tolerance);
}

// Detectors of many rows are cut into tiles: what the halo leaves out is at most 1e-4 of a change from full beam to
// none, be it an edge or white noise.
TEST(Phase, TilesMatchTheWholeFrame) {
  for (const double a : {1.0, 60.0, 1200.0}) {
    TestScan scan = TestScan::noise(24, 211, 1);
    for (std::int64_t row = 90; row < 130; ++row)
      for (std::int64_t x = 0; x < 24; ++x) scan.at(row, 0, x) = 0;
    const PhasePlan plan(24, 211, a, a);
    ASSERT_GT(plan.tiles.halo, 0);
    EXPECT_LT(worst_phase_difference(filtered(plan, scan, 211, 2), scan, a, a), 1e-4) << a;
  }
}

TEST(Phase, SameBitsForAnyCutAndThreads) {
  const TestScan scan = TestScan::noise(31, 230, 3);
  const PhasePlan plan(31, 230, 150, 150);
  ASSERT_GT(plan.tiles.halo, 0);
  const std::vector<float> whole = filtered(plan, scan, 230, 1);
  for (const std::int64_t rows : {1, 13, 64, 229})
    EXPECT_TRUE(same_bits(whole, filtered(plan, scan, rows, rows == 13 ? 3 : 1))) << rows;
}

TEST(Phase, RowsNeededStayOnTheDetector) {
  const PhasePlan plan(8, 500, 100, 100);
  for (std::int64_t first = 0; first < 500; first += 7) {
    const RowBand wanted{first, std::min<std::int64_t>(500, first + 3)}, needed = plan.rows_needed(wanted);
    EXPECT_GE(needed.first, 0);
    EXPECT_LE(needed.last, 500);
    const RowBand tiles = plan.tiles_of(wanted);
    for (std::int64_t tile = tiles.first; tile < tiles.last; ++tile)
      for (std::int64_t y = 0; y < plan.tiles.height(); ++y) {
        const std::int64_t row = plan.tiles.row(tile, y);
        ASSERT_TRUE(row >= needed.first && row < needed.last) << first << " " << tile << " " << y;
      }
  }
}

CircularScan cone_scan() {
  CircularScan s;
  s.source_axis_mm = 100;
  s.source_detector_mm = 300;
  s.columns = 16;
  s.rows = 12;
  s.pixel_width_mm = 0.03;
  s.pixel_height_mm = 0.06;
  s.angles_rad = {0, 1};
  return s;
}

// 20 keV, 100 and 200 mm: R = 66.67 mm; pixels of 0.01 x 0.02 mm at the axis; delta / beta = 500.
TEST(Phase, TakesItsStrengthFromTheGeometry) {
  TestScan scan = TestScan::noise(16, 12, 2);
  scan.geometry = build_scan(cone_scan());
  const double strength = pi * (1.239841984e-6 / 20) * (100.0 * 200 / 300) * 500;
  for (const bool given : {false, true}) {
    Facts f(scan, Stage::grey_levels);
    PhaseOptions options{.energy_kev = 20, .delta_over_beta = 500};
    if (given) options.distance_mm = 200;
    const auto phase = make_phase(options, f.facts);
    const std::vector<float> out = corrected(*phase, scan, 12, 1);
    EXPECT_LT(worst_phase_difference(out, scan, strength / 4e-4, strength / 1e-4), phase_tolerance);
  }
}

TEST(Phase, RefusesWhatIsMissing) {
  TestScan scan = TestScan::noise(16, 12, 2);
  CircularScan parallel = cone_scan();
  parallel.beam = Beam::parallel;
  scan.geometry = build_scan(parallel);
  Facts f(scan, Stage::grey_levels);
  EXPECT_THROW(make_phase({.energy_kev = 20, .delta_over_beta = 500}, f.facts), Error);
  for (const auto& [energy, ratio, distance] :
       {std::tuple{0.0, 500.0, 10.0}, {20.0, -1.0, 10.0}, {20.0, 500.0, 0.0}, {20.0, 1e30, 10.0}})
    EXPECT_THROW(make_phase({.energy_kev = energy, .delta_over_beta = ratio, .distance_mm = distance}, f.facts), Error);
  EXPECT_NO_THROW(make_phase({.energy_kev = 20, .delta_over_beta = 500, .distance_mm = 10}, f.facts));
}

}  // namespace
}  // namespace lepus
