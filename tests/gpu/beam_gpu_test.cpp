// SPDX-License-Identifier: Apache-2.0
// Drift, dose, lag, hardening and phase on a device against their definitions in double precision and against the CPU,
// over odd sizes, cuts into bands, and with other people's floats around the band.
#include <functional>

#include <gtest/gtest.h>

#include "correct/beam/beam_reference.h"
#include "device/host/band_kernels/phase.h"
#include "correct/beam/phase_cases.h"
#include "correct/beam/phase_reference.h"
#include "correct/beam/test_bands.h"
#include "need_device.h"
#include "test_card.h"
#include <lepus/math.h>

namespace lepus {
namespace {

using namespace test_bands;

constexpr std::int64_t guard = 64;  // floats before and behind the band that nobody may touch
constexpr float sentinel = -12345;

using Apply = std::function<void(const SinogramBand&, RowBand, TestCard&)>;

// The whole scan through `apply` on the device, band by band.
std::vector<float> on_device(const TestScan& scan, std::int64_t rows_at_once,
                             const std::function<RowBand(RowBand)>& needed_for, const Apply& apply) {
  TestCard card;
  std::vector<float> result(scan.values.size());
  for (std::int64_t first = 0; first < scan.rows; first += rows_at_once) {
    const RowBand wanted{first, std::min(scan.rows, first + rows_at_once)}, needed = needed_for(wanted);
    const Buffer<float> rows = scan.band(needed);
    std::vector<float> host(guard, sentinel);
    host.insert(host.end(), rows.begin(), rows.end());
    host.insert(host.end(), guard, sentinel);
    const Block memory = card.upload(host);
    SinogramBand band{TestCard::floats(memory) + guard, scan.columns, scan.views, needed, scan.rows};
    apply(band, wanted, card);
    card.download(memory.get(), host);
    for (std::size_t i = 0; i < guard; ++i) {
      EXPECT_EQ(host[i], sentinel);
      EXPECT_EQ(host[host.size() - 1 - i], sentinel);
    }
    band.data = host.data() + guard;
    std::copy_n(band.sinograms(wanted).data, wanted.size() * scan.views * scan.columns,
                result.begin() + static_cast<std::ptrdiff_t>(first * scan.views * scan.columns));
  }
  return result;
}

std::vector<float> on_device(Correction& correction, const TestScan& scan, std::int64_t rows_at_once) {
  return on_device(
      scan, rows_at_once, [&](RowBand wanted) { return correction.rows_needed(wanted, scan.rows); },
      [&](const SinogramBand& band, RowBand wanted, TestCard& card) { correction.apply(band, wanted, card.queue()); });
}

// The formulas are one source, compiled without contraction on both sides: the same bits as the CPU, in any cut.
void expect_the_cpus_bits(Correction& correction, const TestScan& scan, const std::string& name) {
  const std::vector<float> cpu = corrected(correction, scan, scan.rows, 2);
  EXPECT_TRUE(same_bits(on_device(correction, scan, scan.rows), cpu)) << name;
  EXPECT_TRUE(same_bits(on_device(correction, scan, 2), cpu)) << name << ", two rows at a time";
}

TEST(BeamGpu, DriftAndDoseMatchReferenceAndCpu) {
  NEED_DEVICE();
  for (const std::int64_t columns : {1, 2, 7, 63, 64, 65, 257, 1025})
    for (const std::int64_t views : {1, 9, 130}) {
      const TestScan scan = TestScan::noise(columns, 5, views);
      Facts f(scan, Stage::grey_levels);
      std::vector<double> doses;
      for (std::int64_t view = 0; view < views; ++view) doses.push_back(1 + 0.3 * std::sin(static_cast<double>(view)));
      const auto dose = make_dose({.values = doses, .reference = 1}, f.facts);
      expect_the_cpus_bits(*dose, scan, "dose");
      const std::vector<float> out = on_device(*dose, scan, 3);
      for (std::int64_t row = 0; row < 5; ++row) {
        const std::vector<double> expected = scale_views_reference(scan.sinogram(row), columns, doses);
        for (std::size_t i = 0; i < expected.size(); ++i)  // two roundings of values up to 1.6
          ASSERT_NEAR(out[static_cast<std::size_t>(row) * expected.size() + i], expected[i], 1.6 * 1.3e-7);
      }
    }
  const TestScan air = TestScan::noise(65, 6, 11, 0.9F, 1.1F);
  Facts f(air, Stage::grey_levels);
  const auto drift = make_drift({.region = {{0, 20, 0, 6}}, .lowest_level = 0.5}, f.facts);
  expect_the_cpus_bits(*drift, air, "drift");
}

TEST(BeamGpu, LagMatchesReferenceAndCpu) {
  NEED_DEVICE();
  for (const std::int64_t columns : {1, 2, 7, 63, 64, 65, 257})
    for (const std::int64_t views : {1, 2, 33})
      for (const auto& [word, start] :
           {std::pair{"first-frame", LagStart::first_frame}, std::pair{"open-beam", LagStart::open_beam},
            std::pair{"dark", LagStart::dark}}) {
        const TestScan scan = TestScan::noise(columns, 3, views);
        Facts f(scan, Stage::grey_levels);
        const auto lag = make_lag({.fraction = 0.12, .decay_frames = 3.5, .before = start}, f.facts);
        expect_the_cpus_bits(*lag, scan, word);
        const std::vector<float> out = on_device(*lag, scan, 3);
        for (std::int64_t row = 0; row < 3; ++row) {
          const std::vector<float> sinogram = scan.sinogram(row);
          const std::vector<double> expected =
              remove_lag_reference({sinogram.begin(), sinogram.end()}, columns, 0.12, 3.5, start);
          for (std::size_t i = 0; i < expected.size(); ++i)  // as for the CPU: lag_test.cpp
            ASSERT_NEAR(out[static_cast<std::size_t>(row) * expected.size() + i], expected[i], 4e-6);
        }
      }
}

TEST(BeamGpu, HardeningMatchesReferenceAndCpu) {
  NEED_DEVICE();
  const std::vector<double> c{1.1, 0.05, -0.002, 0.0003};
  for (const std::int64_t columns : {1, 2, 7, 63, 64, 65, 257}) {
    const TestScan scan = TestScan::noise(columns, 5, 7, -0.5F, 8);
    Facts f(scan, Stage::line_integrals);
    const auto hardening = make_hardening({.coefficients = c}, f.facts);
    expect_the_cpus_bits(*hardening, scan, "hardening");
    const std::vector<float> out = on_device(*hardening, scan, 5);
    for (std::size_t i = 0; i < out.size(); ++i)  // six products and sums of numbers up to 15
      ASSERT_NEAR(out[i], linearise_reference(c, 20, scan.values[i]), 15 * 6 * 6e-8);
  }
}

std::vector<float> phase_on_device(const PhasePlan& plan, const TestScan& scan, std::int64_t rows_at_once) {
  std::unique_ptr<PhaseKernel> phase;  // of the card's queue
  return on_device(
      scan, rows_at_once, [&](RowBand wanted) { return plan.rows_needed(wanted); },
      [&](const SinogramBand& band, RowBand wanted, TestCard& card) {
        if (!phase) phase = card.kernels().make_phase(plan, scan.views);
        phase->apply(band, wanted, card.queue());
      });
}

// Twice what FFTW is allowed (phase_test.cpp): cuFFT takes large primes through longer transforms.
TEST(BeamGpu, PhaseMatchesTheReferenceForOddSizes) {
  NEED_DEVICE();
  for (const std::int64_t columns : {1, 2, 7, 63, 64, 65, 257})
    for (const std::int64_t rows : {1, 2, 5, 16, 31})
      for (const double a : {0.0, 3.0, 400.0}) {
        if (columns == 257 && a != 3.0) continue;  // the reference takes its time
        const TestScan scan = TestScan::noise(columns, rows, 3);
        EXPECT_LT(
            worst_phase_difference(phase_on_device(PhasePlan(columns, rows, a, 0.5 * a), scan, rows), scan, a, 0.5 * a),
            2e-6)
            << columns << " x " << rows << ", a = " << a;
      }
}

TEST(BeamGpu, PhaseTilesMatchTheCpuAndGiveTheSameBitsForAnyCut) {
  NEED_DEVICE();
  const TestScan scan = TestScan::noise(47, 230, 7);
  const PhasePlan plan(47, 230, 150, 75);
  ASSERT_GT(plan.tiles.halo, 0);
  const std::vector<float> whole = phase_on_device(plan, scan, 230);
  for (const std::int64_t rows : {1, 13, 64, 229}) EXPECT_TRUE(same_bits(whole, phase_on_device(plan, scan, rows)));
  const PhaseTransform cpu(plan);
  ThreadPool pool(2);
  Buffer<float> rows = scan.band({0, 230});
  cpu.apply({rows.data(), 47, 7, {0, 230}, 230}, {0, 230}, pool);
  for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(whole[i], rows[static_cast<std::int64_t>(i)], 2e-6);
  // What the halo leaves out: phase.h.
  EXPECT_LT(worst_phase_difference(whole, scan, 150, 75), 1e-4);
}

// Through the chain's own interface, twice on one stream and once on another.
TEST(BeamGpu, PhaseCorrectionServesSeveralStreams) {
  NEED_DEVICE();
  TestScan scan = TestScan::noise(33, 12, 4);
  CircularScan circular;
  circular.source_axis_mm = 100;
  circular.source_detector_mm = 300;
  circular.columns = 33;
  circular.rows = 12;
  circular.pixel_width_mm = circular.pixel_height_mm = 0.03;
  circular.angles_rad = {0, 1, 2, 3};
  scan.geometry = build_scan(circular);
  Facts f(scan, Stage::grey_levels);
  const auto phase = make_phase({.energy_kev = 20, .delta_over_beta = 500}, f.facts);
  const std::vector<float> cpu = corrected(*phase, scan, 12, 2);
  const std::vector<float> first = on_device(*phase, scan, 12), second = on_device(*phase, scan, 5);
  EXPECT_TRUE(same_bits(first, second));
  for (std::size_t i = 0; i < cpu.size(); ++i) ASSERT_NEAR(first[i], cpu[i], 2e-6);
}

}  // namespace
}  // namespace lepus
