// SPDX-License-Identifier: Apache-2.0
// Faults of the beam with known truth: a drifting and flickering tube, afterglow, a tube's spectrum, Fresnel fringes.
// Each is added to a clean scan, corrected, and held against it; the figures go into docs/corrections. With
// LEPUS_PICTURES naming a folder, pictures before and after are written there.
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fftw3.h>
#include <gtest/gtest.h>

#include "analysis/draw_text.h"
#include "correct/beam/beam_reference.h"
#include "correct/beam/hardening_fit.h"
#include "correct/beam/test_bands.h"
#include "simulate/detector.h"
#include "simulate/project.h"
#include "simulate/random.h"
#include "simulate/shape.h"

namespace lepus {
namespace {

using namespace test_bands;

CircularScan scanner(std::int64_t columns, std::int64_t rows, int views) {
  CircularScan s;
  s.source_axis_mm = 200;
  s.source_detector_mm = 300;
  s.columns = columns;
  s.rows = rows;
  s.pixel_width_mm = s.pixel_height_mm = 150.0 / static_cast<double>(columns);
  for (int view = 0; view < views; ++view) s.angles_rad.push_back(2 * pi * view / views);
  return s;
}

TestScan line_integrals(const Phantom& phantom, const CircularScan& circular, const Spectrum& spectrum = {}) {
  TestScan scan =
      TestScan::of_size(circular.columns, circular.rows, static_cast<std::int64_t>(circular.angles_rad.size()));
  scan.geometry = build_scan(circular);
  const PhantomProjector projector(phantom, scan.geometry, {}, spectrum);
  ThreadPool pool(2);
  std::vector<float> frame(static_cast<std::size_t>(scan.columns * scan.rows));
  for (std::int64_t view = 0; view < scan.views; ++view) {
    projector.project(view, frame.data(), pool);
    for (std::int64_t row = 0; row < scan.rows; ++row)
      std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(row * scan.columns), scan.columns,
                  &scan.at(row, view, 0));
  }
  return scan;
}

// The chain's log: clipped, so that no value makes it infinite.
std::vector<float> logarithm(std::vector<float> grey) {
  for (float& value : grey) value = -std::log(std::max(value, 1e-6F));
  return grey;
}

double rms_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

Slice picture_of(const float* values, std::int64_t width, std::int64_t height) {
  Slice slice;
  slice.width = width;
  slice.height = height;
  slice.values.assign(values, values + width * height);
  return slice;
}

// Side by side, each with its name above it.
void save_pictures(const std::string& name, const std::vector<std::pair<std::string, Slice>>& pictures,
                   const GreyWindow& window) {
  const char* folder = std::getenv("LEPUS_PICTURES");
  if (!folder) return;
  constexpr std::int64_t gap = 8, text = 24;
  std::int64_t width = gap, height = 0;
  for (const auto& [label, slice] : pictures) {
    width += slice.width + gap;
    height = std::max(height, slice.height);
  }
  Picture all(width, text + height + gap, {255, 255, 255});
  std::int64_t x = gap;
  for (const auto& [label, slice] : pictures) {
    draw_text(all, label, x, gap / 2, {13, {0, 0, 0}});
    all.paste(draw_slice(slice, window, ColourMap::grey, 1), x, text);
    x += slice.width + gap;
  }
  save_png(all, std::filesystem::path(folder) / ("beam-" + name + ".png"), true);
}

Phantom two_cylinders() {
  return Phantom("two", Combine::add, {cylinder({8, -5, 0}, 22, 400, 0.02), cylinder({-3, 9, 0}, 6, 400, 0.05)});
}

// A tube that loses 8 % over the scan and flickers by 3 %: the level in air must be right to its photon noise, and what
// is left in the frames is what noise alone would leave.
TEST(BeamFaults, DriftToWithinThePhotonNoise) {
  const CircularScan circular = scanner(160, 24, 90);
  const TestScan truth = line_integrals(two_cylinders(), circular);
  SimulatedDetector options;
  options.photons = 20000;
  options.beam_drift = -0.08;
  options.beam_flicker = 0.03;
  const Detector detector(160, 24, options);
  ThreadPool pool(2);
  TestScan drifting = truth, steady = truth;
  std::vector<float> frame(160 * 24);
  std::vector<std::uint16_t> levels(frame.size());
  for (std::int64_t view = 0; view < truth.views; ++view) {
    const std::vector<float> clean = truth.frame(view);
    for (TestScan* scan : {&drifting, &steady}) {
      detector.expose(Exposure::view, view, scan == &drifting ? detector.beam(view, truth.views) : 1.0, clean.data(),
                      levels.data(), pool);
      for (std::int64_t i = 0; i < 160 * 24; ++i)  // dark and flat are known exactly: only the frames are noisy
        scan->at(i / 160, view, i % 160) =
            static_cast<float>((levels[static_cast<std::size_t>(i)] - options.offset_level) / options.open_level);
    }
  }
  Facts f(drifting, Stage::grey_levels);
  const auto drift = make_drift({}, f.facts);
  EXPECT_TRUE(f.warnings.empty());
  const std::vector<float> after = corrected(*drift, drifting, 24, 2);

  // The factor that was applied, from one value of each frame, against the beam that the simulator knows.
  double before_squares = 0, after_squares = 0;
  for (std::int64_t view = 0; view < truth.views; ++view) {
    const auto i = static_cast<std::size_t>(view * 160 + 80);
    const double beam = detector.beam(view, truth.views);
    before_squares += std::pow(beam - 1, 2);
    after_squares += std::pow(beam * after[i] / drifting.values[i] - 1, 2);
  }
  const auto views = static_cast<double>(truth.views);
  const double before = std::sqrt(before_squares / views), left = std::sqrt(after_squares / views);
  // Rows searched: 24 of 24; strips of 20 columns at most on each side: what the pixels' photons allow.
  const double photon_noise = 1 / std::sqrt(20000.0 * 24 * 40);
  const std::vector<float> p = logarithm(after);
  const double error_before = rms_difference(logarithm(drifting.values), truth.values);
  const double error_after = rms_difference(p, truth.values);
  const double error_of_noise = rms_difference(logarithm(steady.values), truth.values);
  std::printf("drift: beam off by %.3g %% rms before, %.3g %% after; photon noise of the air %.3g %%\n", 100 * before,
              100 * left, 100 * photon_noise);
  std::printf("drift: line integrals off by %.4f before, %.5f after, %.5f in a scan without drift\n", error_before,
              error_after, error_of_noise);
  EXPECT_GT(before, 0.03);
  EXPECT_LT(left, 1.3 * photon_noise);            // 90 numbers: their rms is known to 7.5 %
  EXPECT_LT(error_after, 1.03 * error_of_noise);  // a weaker beam is noisier: 4 % less light on average
  EXPECT_LT(error_after, 0.3 * error_before);
  save_pictures("drift",
                {{"before", picture_of(logarithm(drifting.sinogram(12)).data(), 160, 90)},
                 {"after", picture_of(p.data() + 12 * 90 * 160, 160, 90)}},
                {-0.1, 0.4});
}

TEST(BeamFaults, LagAgainstTheTruth) {
  const CircularScan circular = scanner(128, 2, 120);
  const TestScan clean = line_integrals(two_cylinders(), circular);
  TestScan lagging = clean, intensity = clean;
  const double fraction = 0.06, decay = 4;
  for (std::int64_t row = 0; row < 2; ++row) {
    std::vector<double> truth;
    for (const float p : clean.sinogram(row)) truth.push_back(std::exp(-static_cast<double>(p)));
    const std::vector<double> measured = add_lag_reference(truth, 128, fraction, decay, LagStart::open_beam);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      lagging.values[static_cast<std::size_t>(row) * truth.size() + i] = static_cast<float>(measured[i]);
      intensity.values[static_cast<std::size_t>(row) * truth.size() + i] = static_cast<float>(truth[i]);
    }
  }
  Facts f(lagging, Stage::grey_levels);
  const auto left_with = [&](double a, double d) {
    const auto lag = make_lag({.fraction = a, .decay_frames = d, .before = LagStart::open_beam}, f.facts);
    return rms_difference(corrected(*lag, lagging, 2, 2), intensity.values);
  };
  const double before = rms_difference(lagging.values, intensity.values);
  const double after = left_with(fraction, decay), rough = left_with(1.2 * fraction, 0.8 * decay);
  std::printf("lag: grey levels off by %.3g before, %.3g after, %.3g with both parameters wrong by 20 %%\n", before,
              after, rough);
  EXPECT_GT(before, 2e-3);
  EXPECT_LT(after, 1e-4 * before);  // float rounding
  EXPECT_LT(rough, 0.4 * before);
  const auto lag = make_lag({.fraction = fraction, .decay_frames = decay, .before = LagStart::open_beam}, f.facts);
  const std::vector<float> out = corrected(*lag, lagging, 2, 2);
  std::vector<float> error_before, error_after;
  for (std::size_t i = 0; i < 120 * 128; ++i) {
    error_before.push_back(lagging.values[i] - intensity.values[i]);
    error_after.push_back(out[i] - intensity.values[i]);
  }
  save_pictures("lag",
                {{"error before", picture_of(error_before.data(), 128, 120)},
                 {"error after", picture_of(error_after.data(), 128, 120)}},
                {-0.01, 0.01});
}

struct Straightened {
  double before, after;
};

Straightened straighten(const std::string& name, const Phantom& phantom, const CircularScan& circular, double photons,
                        const std::string& picture = "") {
  TestScan scan = line_integrals(phantom, circular, tungsten_spectrum(120, 1.0));
  if (photons > 0)
    for (std::size_t i = 0; i < scan.values.size(); ++i) {
      Random random(3, 1, 0, i);
      const auto counted =
          static_cast<double>(random.poisson(photons * std::exp(-static_cast<double>(scan.values[i]))));
      scan.values[i] = static_cast<float>(-std::log(std::max(counted, 1.0) / photons));
    }
  Facts f(scan, Stage::line_integrals);
  const auto hardening = make_hardening({.homogeneous = true}, f.facts);
  const std::vector<float> out = corrected(*hardening, scan, scan.rows, 2);
  const std::int64_t row = mid_plane_row(scan.geometry), size = 112;  // another grid than the fit's
  const auto skip = static_cast<std::ptrdiff_t>(row * scan.views * scan.columns);
  ThreadPool pool(2);
  const MidPlane raw = reconstruct_mid_plane(scan.values.data() + skip, row, scan.geometry, size, pool);
  const MidPlane flat = reconstruct_mid_plane(out.data() + skip, row, scan.geometry, size, pool);
  const std::vector<unsigned char> object = object_of(raw);
  const Straightened result{cupping(raw, object), cupping(flat, object)};
  std::printf("hardening, %s: cupping %.2f %% before, %.3f %% after, unevenness %.2f %% and %.2f %%; %s\n",
              name.c_str(), 100 * result.before, 100 * result.after, 100 * unevenness(raw, object),
              100 * unevenness(flat, object), hardening->summary().c_str());
  if (!picture.empty()) {
    const std::vector<float> a(raw.values.begin(), raw.values.end()), b(flat.values.begin(), flat.values.end());
    const double mean = mean_inside(raw, object);
    save_pictures(picture, {{"before", picture_of(a.data(), size, size)}, {"after", picture_of(b.data(), size, size)}},
                  {-0.2 * mean, 1.4 * mean});
  }
  return result;
}

Shape aluminium(Shape shape) {
  shape.material = "aluminium";
  shape.value = 2.699;
  return shape;
}

// 120 kV through a cylinder of aluminium of 40 mm: from more than 10 % of cupping to less than 1 %.
TEST(BeamFaults, HardenedCylinderBecomesFlat) {
  const Phantom rod("rod", Combine::replace, {aluminium(cylinder({0, 0, 0}, 20, 400, 1))});
  const Phantom beside("rod beside the axis", Combine::replace, {aluminium(cylinder({9, -7, 0}, 20, 400, 1))});
  const Phantom pieces("a bar and a rod", Combine::replace,
                       {aluminium(box({-9, 0, 0}, {14, 44, 400}, 1)), aluminium(cylinder({19, 6, 0}, 8, 400, 1))});
  CircularScan half_fan = scanner(160, 3, 240), short_scan = scanner(160, 3, 1);
  half_fan.detector_shift_u_mm = 50;
  short_scan.angles_rad.clear();
  for (int view = 0; view < 150; ++view) short_scan.angles_rad.push_back(radians(210) * view / 150);
  const std::vector<std::pair<const char*, Straightened>> all{
      {"cylinder", straighten("cylinder", rod, scanner(160, 3, 180), 0, "hardening")},
      {"noise", straighten("cylinder, 50000 photons", rod, scanner(160, 3, 180), 50000)},
      {"beside", straighten("cylinder beside the axis", beside, scanner(160, 3, 180), 0)},
      {"half-fan", straighten("half-fan", beside, half_fan, 0)},
      {"short", straighten("short scan", beside, short_scan, 0)}};
  for (const auto& [name, result] : all) {
    // A half-fan scan sees a wider field: its voxels are larger, and more of the rim counts as surface.
    EXPECT_GT(result.before, std::string(name) == "half-fan" ? 0.08 : 0.10) << name;
    EXPECT_LT(std::abs(result.after), 0.01) << name;
  }
  // Not convex: hardening leaves dark bands between the pieces, too.
  EXPECT_LT(std::abs(straighten("bar and rod", pieces, scanner(160, 3, 180), 0, "hardening-pieces").after), 0.01);
}

// Frames as waves make them: transmission of spheres of one material, propagated by Fresnel's transfer function.
TEST(BeamFaults, PhaseAgainstTheTruth) {
  constexpr int n = 192;
  constexpr double pixel_mm = 1e-3, energy_kev = 20, distance_mm = 60, ratio = 600, mu_per_mm = 0.6;
  const double wavelength_mm = 1.239841984e-6 / energy_kev;
  // mu = 4 pi beta / lambda and phase = 2 pi delta T / lambda = mu T ratio / 2.
  std::vector<std::complex<double>> wave(n * n);
  std::vector<double> truth(n * n);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      double thickness = 0;
      for (const auto& [cx, cy, r] : {std::tuple{70.0, 80.0, 40.0}, {130.0, 120.0, 25.0}, {120.0, 50.0, 12.0}}) {
        const double d = r * r - (x - cx) * (x - cx) - (y - cy) * (y - cy);
        thickness += d > 0 ? 2 * std::sqrt(d) * pixel_mm : 0;
      }
      const auto i = static_cast<std::size_t>(y * n + x);
      truth[i] = mu_per_mm * thickness;
      wave[i] = std::exp(std::complex<double>(-0.5 * truth[i], -0.5 * truth[i] * ratio));
    }
  auto* data = reinterpret_cast<fftw_complex*>(wave.data());
  fftw_plan there = fftw_plan_dft_2d(n, n, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_plan_dft_2d(n, n, data, data, FFTW_BACKWARD, FFTW_ESTIMATE);
  fftw_execute(there);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const double fx = (x < n / 2 ? x : x - n) / (n * pixel_mm), fy = (y < n / 2 ? y : y - n) / (n * pixel_mm);
      const double angle = -pi * wavelength_mm * distance_mm * (fx * fx + fy * fy);
      wave[static_cast<std::size_t>(y * n + x)] *= std::polar(1.0 / (n * n), angle);
    }
  fftw_execute(back);
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);

  CircularScan circular = scanner(n, n, 1);
  circular.beam = Beam::parallel;
  circular.pixel_width_mm = circular.pixel_height_mm = pixel_mm;
  TestScan scan = TestScan::of_size(n, n, 1);
  scan.geometry = build_scan(circular);
  for (std::size_t i = 0; i < wave.size(); ++i) scan.values[i] = static_cast<float>(std::norm(wave[i]));
  Facts f(scan, Stage::grey_levels);
  const auto phase =
      make_phase({.energy_kev = energy_kev, .delta_over_beta = ratio, .distance_mm = distance_mm}, f.facts);
  const std::vector<float> before = logarithm(scan.values), after = logarithm(corrected(*phase, scan, n, 2));
  const std::vector<float> expected(truth.begin(), truth.end());
  const double error_before = rms_difference(before, expected), error_after = rms_difference(after, expected);
  const double largest = *std::max_element(truth.begin(), truth.end());
  std::printf("phase: line integrals off by %.4f before, %.5f after (largest %.3f); %s\n", error_before, error_after,
              largest, phase->summary().c_str());
  EXPECT_LT(error_after, 0.1 * error_before);
  EXPECT_LT(error_after, 0.05 * largest);
  save_pictures("phase",
                {{"before", picture_of(before.data(), n, n)},
                 {"after", picture_of(after.data(), n, n)},
                 {"truth", picture_of(expected.data(), n, n)}},
                {-0.02, largest});
}

}  // namespace
}  // namespace lepus
