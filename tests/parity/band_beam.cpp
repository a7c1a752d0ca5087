// SPDX-License-Identifier: Apache-2.0
// Band kernels of what the beam does: dose, lag, hardening, changing flats, phase. Units are how far their few
// roundings go, value by value.
#include <algorithm>
#include <cmath>

#include "correct/beam/beam_reference.h"
#include "correct/beam/hardening_curve.h"
#include "correct/beam/phase_reference.h"
#include "correct/beam/test_bands.h"
#include "operations.h"

namespace lepus::parity {
namespace {

using test_bands::TestScan;

Planes sinograms_of(const TestScan& scan) {
  return {nullptr, scan.columns, scan.views, scan.columns, scan.rows, scan.views * scan.columns};
}

// In place, sinogram by sinogram; the truth of each follows from its own values.
template <class Kernel, class Reference>
Case beam_case(const TestScan& scan, BandOperation operation, double unit, const Kernel& kernel,
               const Reference& reference) {
  const auto truth = [=] {
    Truth all;
    for (std::int64_t row = 0; row < scan.rows; ++row)
      for (const double value : reference(scan.sinogram(row), row)) all.add(value, unit);
    return all;
  };
  const auto run = [=](Machine& m, const Way& way) {
    return on_device(m, input_of(scan.values, way), sinograms_of(scan), [&](const Planes& all) {
      in_pieces(all, way, [&](const Planes& some, std::int64_t first) { kernel(m, some, first); });
    });
  };
  return {.name = std::to_string(scan.columns) + " x " + std::to_string(scan.views),
          .truth = truth,
          .run = run,
          .cuts = 1,
          .has = [=](const Machine& m) { return m.kernels().has(operation); }};
}

}  // namespace

std::vector<Case> scale_cases() {
  std::vector<Case> cases;
  for (const std::int64_t columns : {65, 1, 2, 7, 64, 1025})
    for (const std::int64_t views : {1, 9, 130}) {
      std::vector<double> doses;
      std::vector<float> factors;
      for (std::int64_t view = 0; view < views; ++view) {
        doses.push_back(1 + 0.3 * std::sin(static_cast<double>(view)));
        factors.push_back(static_cast<float>(1 / doses.back()));
      }
      cases.push_back(beam_case(
          TestScan::noise(columns, 5, views), BandOperation::scale, 1.6 * 1.3e-7,  // two roundings of values up to 1.6
          [=](Machine& m, const Planes& some, std::int64_t) {
            const Guarded<float> sent(m, factors);
            m.kernels().scale_views(some, sent.data(), m.queue());
            m.queue().wait();
          },
          [=](const std::vector<float>& s, std::int64_t) { return scale_views_reference(s, columns, doses); }));
    }
  return cases;
}

std::vector<Case> lag_cases() {
  std::vector<Case> cases;
  constexpr double fraction = 0.12, decay = 3.5;
  const LagModel model{static_cast<float>(fraction), static_cast<float>(1 / (1 - fraction)),
                       static_cast<float>(1 - std::exp(-1 / decay))};
  for (const std::int64_t columns : {65, 1, 7, 64, 257})
    for (const std::int64_t views : {2, 1, 33})
      for (const LagStart start : {LagStart::first_frame, LagStart::open_beam, LagStart::dark})
        cases.push_back(beam_case(
            TestScan::noise(columns, 3, views), BandOperation::lag, 4e-6,  // as correct/beam/lag_test.cpp derives it
            [=](Machine& m, const Planes& some, std::int64_t) {
              m.kernels().remove_lag(some, model, start, m.queue());
            },
            [=](const std::vector<float>& s, std::int64_t) {
              return remove_lag_reference({s.begin(), s.end()}, columns, fraction, decay, start);
            }));
  return cases;
}

std::vector<Case> hardening_cases() {
  std::vector<Case> cases;
  const std::vector<double> c{1.1, 0.05, -0.002, 0.0003};
  const HardeningCurve curve = hardening_curve(c, 20);
  for (const std::int64_t columns : {65, 1, 7, 64, 257})
    cases.push_back(beam_case(
        TestScan::noise(columns, 5, 7, -0.5F, 8), BandOperation::hardening, 15 * 6 * 6e-8,  // six steps, up to 15
        [=](Machine& m, const Planes& some, std::int64_t) { m.kernels().linearise(some, curve, m.queue()); },
        [=](const std::vector<float>& s, std::int64_t) {
          std::vector<double> straight;
          for (const float p : s) straight.push_back(linearise_reference(c, 20, static_cast<double>(p)));
          return straight;
        }));
  return cases;
}

std::vector<Case> flat_cases() {
  std::vector<Case> cases;
  for (const std::int64_t columns : {65, 1, 7, 257}) {
    constexpr std::int64_t views = 11, rows = 4, first_row = 3, detector_rows = 9, flats = 3;
    const std::int64_t pixels = columns * detector_rows;
    std::vector<float> mean, open;
    for (std::int64_t i = 0; i < flats * pixels; ++i) open.push_back(static_cast<float>(900 + 200 * noise(i)));
    for (std::int64_t i = 0; i < pixels; ++i) mean.push_back(i % 23 == 5 ? 0.0F : open[static_cast<std::size_t>(i)]);
    std::vector<FlatShare> shares;
    for (std::int32_t view = 0; view < views; ++view)
      shares.push_back({view / 5, std::min(view / 5 + 1, 2), static_cast<float>(view % 5) / 5});
    cases.push_back(beam_case(
        TestScan::noise(columns, rows, views), BandOperation::flats, 6 * 0x1p-24 * 1.4,  // six roundings, up to 1.4
        [=](Machine& m, const Planes& some, std::int64_t first) {
          const Guarded<float> sent_mean(m, mean), sent(m, open);
          const Guarded<FlatShare> sent_shares(m, shares);
          m.kernels().interpolate_flats(some, first_row + first,
                                        {sent_mean.data(), sent.data(), pixels, sent_shares.data()}, m.queue());
          m.queue().wait();
        },
        [=](const std::vector<float>& s, std::int64_t row) {
          std::vector<double> grey;
          for (std::size_t i = 0; i < s.size(); ++i) {
            const FlatShare& share = shares[i / static_cast<std::size_t>(columns)];
            const std::int64_t pixel = (first_row + row) * columns + static_cast<std::int64_t>(i) % columns;
            const auto flat = [&](std::int32_t number) {
              return static_cast<double>(open[static_cast<std::size_t>(number * pixels + pixel)]);
            };
            const double beam =
                flat(share.before) + static_cast<double>(share.share) * (flat(share.after) - flat(share.before));
            const auto of_mean = static_cast<double>(mean[static_cast<std::size_t>(pixel)]);
            grey.push_back(static_cast<double>(s[i]) * (of_mean > 0 ? of_mean / beam : 1));
          }
          return grey;
        }));
  }
  return cases;
}

std::vector<Case> phase_cases() {
  std::vector<Case> cases;
  // Twice what FFTW is allowed (correct/beam/phase_test.cpp): cuFFT takes large primes through longer transforms. Of a
  // detector that is worked on in tiles, what their halo leaves out (project/phase_plan.h).
  const auto add = [&](std::int64_t columns, std::int64_t rows, double a, double unit) {
    const TestScan scan = TestScan::noise(columns, rows, 3);
    const auto truth = [=] {
      std::vector<std::vector<double>> frames;
      for (std::int64_t view = 0; view < 3; ++view)
        frames.push_back(paganin_reference(scan.frame(view), columns, a, 0.5 * a));
      Truth all;
      for (std::int64_t row = 0; row < rows; ++row)
        for (const std::vector<double>& frame : frames)
          for (std::int64_t x = 0; x < columns; ++x) all.add(frame[static_cast<std::size_t>(row * columns + x)], unit);
      return all;
    };
    const auto run = [=](Machine& m, const Way& way) {
      const PhasePlan plan(columns, rows, a, 0.5 * a);
      const auto kernel = m.kernels().make_phase(plan, 3);
      std::vector<float> result;
      const std::int64_t at_once = way.cut == 0 ? rows : way.cut == 1 ? 1 : 13;
      for (std::int64_t first = 0; first < rows; first += at_once) {
        const RowBand wanted{first, std::min(rows, first + at_once)}, needed = plan.rows_needed(wanted);
        const std::vector<float> all = input_of(scan.values, way);
        const std::vector<float> band(all.begin() + needed.first * 3 * columns,
                                      all.begin() + needed.last * 3 * columns);
        const std::vector<float> out = on_device(m, band, {}, [&](const Planes& p) {
          kernel->apply({p.data, columns, 3, needed, rows}, wanted, m.queue());
        });
        const auto begin = out.begin() + (wanted.first - needed.first) * 3 * columns;
        result.insert(result.end(), begin, begin + wanted.size() * 3 * columns);
      }
      return result;
    };
    cases.push_back({.name = std::to_string(columns) + " x " + std::to_string(rows) + ", a " + std::to_string(a),
                     .truth = truth,
                     .run = run,
                     .cuts = 2,
                     .has = [](const Machine& m) { return m.kernels().has(BandOperation::phase); }});
  };
  for (const std::int64_t columns : {65, 1, 2, 7, 64})
    for (const std::int64_t rows : {5, 1, 2, 16, 31})
      for (const double a : {3.0, 0.0, 400.0}) add(columns, rows, a, 2e-6);
  add(47, 230, 150, 1e-4);
  return cases;
}

}  // namespace lepus::parity
