// SPDX-License-Identifier: Apache-2.0
#include "noise.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/format.h"
#include "filter/ramp.h"
#include "measure.h"
#include "names.h"
#include "simulate/random.h"
#include <lepus/reconstruct.h>

namespace lepus::accuracy {
namespace {

constexpr double pixel_mm = 0.6;  // at the axis
constexpr double to_axis_mm = 200, to_detector_mm = 300;
constexpr double cylinder_mm = 30, photons = 1e6;
constexpr double region_mm = 6;
constexpr double voxel_mm_across = 0.437;  // no multiple of the pixel: voxels then meet every phase equally often
constexpr std::int64_t slices = 512;       // every row is a scan of its own

CircularScan scan_of(Beam beam) {
  CircularScan s;
  s.beam = beam;
  s.source_axis_mm = to_axis_mm;
  s.source_detector_mm = to_detector_mm;
  s.columns = 128;
  s.rows = slices;
  s.pixel_width_mm = beam == Beam::parallel ? pixel_mm : pixel_mm * to_detector_mm / to_axis_mm;
  s.pixel_height_mm = pixel_mm;
  constexpr int views = 181;  // odd: the fan's views do not come in pairs that share their phases
  for (int i = 0; i < views; ++i) s.angles_rad.push_back((beam == Beam::parallel ? 1 : 2) * pi * i / views);
  return s;
}

// What counting photons makes of line integrals.
void add_noise(std::vector<float>& lines, std::int64_t columns, ThreadPool& threads) {
  const auto rows = static_cast<std::int64_t>(lines.size()) / columns;
  threads.parallel_for(0, rows, 64, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        float& p = lines[static_cast<std::size_t>(row * columns + column)];
        Random random(3, 0, static_cast<std::uint32_t>(row), static_cast<std::uint64_t>(column));
        const auto counts = static_cast<double>(random.poisson(photons * std::exp(-static_cast<double>(p))));
        p = static_cast<float>(-std::log(std::max(counts, 1.0) / photons));
      }
  });
}

// Every window is tried on the same line integrals. All rows see the same: one is projected, and every copy gets noise
// of its own.
const std::vector<float>& line_integrals(Beam beam, ThreadPool& threads) {
  static std::map<Beam, std::vector<float>> kept;
  std::vector<float>& lines = kept[beam];
  if (!lines.empty()) return lines;
  const Phantom phantom("cylinder", Combine::add, {cylinder({}, cylinder_mm, 2 * slices * pixel_mm, body_value)});
  CircularScan single = scan_of(beam);
  single.rows = 1;
  const std::vector<float> one = projections(phantom, build_scan(single), 1, threads);
  lines.reserve(one.size() * slices);
  for (auto row = one.begin(); row != one.end(); row += single.columns)
    for (std::int64_t copy = 0; copy < slices; ++copy) lines.insert(lines.end(), row, row + single.columns);
  add_noise(lines, single.columns, threads);
  return lines;
}

// The mean over all phases of the squared response of linear interpolation is 2/3 + cos(2 pi f)/3.
double filtered_variance(Window window) {
  RampOptions options;
  options.window = window;
  constexpr int steps = 20000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double f = (i + 0.5) / steps / 2;
    const double h = ramp_response(options, f);
    sum += h * h * (2.0 / 3 + std::cos(2 * pi * f) / 3) / steps;
  }
  return sum;
}

// The variance of a line integral p, exp(p) / photons, times the backprojection's weight squared: the mean over the
// region and the views. Both hardly vary near the axis.
double line_variance(const ScanGeometry& geometry, const VolumeGrid& g) {
  double sum = 0;
  for (const Matrix34& matrix : geometry.matrices)
    for (std::int64_t j = 0; j < g.ny; ++j)
      for (std::int64_t i = 0; i < g.nx; ++i) {
        const Vec3 p = transform(matrix, g.centre(static_cast<double>(i), static_cast<double>(j), 0));
        const double from_axis = pixel_mm * (p.x / p.z - 0.5 * static_cast<double>(geometry.columns - 1));
        const double length = 2 * std::sqrt(cylinder_mm * cylinder_mm - from_axis * from_axis);
        sum += std::exp(body_value * length) / (p.z * p.z * p.z * p.z);
      }
  return sum / photons / static_cast<double>(g.nx * g.ny * geometry.views());
}

}  // namespace

std::string NoiseCase::name() const { return format("{}, {}", name_of(beam), name_of(window)); }

std::vector<NoiseCase> noise_cases() {
  std::vector<NoiseCase> all;
  for (const Beam beam : {Beam::parallel, Beam::fan})
    for (const Window window : {Window::ram_lak, Window::shepp_logan, Window::cosine, Window::hamming, Window::hann})
      all.push_back({beam, window});
  return all;
}

Noise measure_noise(const NoiseCase& which, ThreadPool& threads) {
  const ScanGeometry geometry = build_scan(scan_of(which.beam));
  const std::vector<float>& lines = line_integrals(which.beam, threads);
  const auto across = static_cast<std::int64_t>(2 * region_mm / voxel_mm_across);
  const VolumeGrid g = centred_grid(across, across, slices, {voxel_mm_across, voxel_mm_across, pixel_mm});
  std::vector<float> volume(static_cast<std::size_t>(g.voxels()));
  FdkOptions options;
  options.filter.window = which.window;
  options.compute.backend = "cpu";
  options.compute.threads = threads.size();
  fdk(geometry, lines, g, volume, options);

  // Per voxel the variance over the slices; what the cylinder itself leaves is the same in each and cancels.
  const auto plane = static_cast<std::size_t>(g.nx * g.ny);
  std::vector<double> mean(plane, 0.0);
  for (std::size_t i = 0; i < volume.size(); ++i) mean[i % plane] += static_cast<double>(volume[i]) / slices;
  std::vector<double> of_slice(slices, 0.0);
  for (std::size_t i = 0; i < volume.size(); ++i) {
    const double d = static_cast<double>(volume[i]) - mean[i % plane];
    of_slice[i / plane] += d * d / static_cast<double>(plane) * slices / (slices - 1.0);
  }
  Noise noise;
  for (const double v : of_slice) noise.measured += v / slices;
  double spread = 0;
  for (const double v : of_slice) spread += (v - noise.measured) * (v - noise.measured) / (slices - 1.0);
  noise.statistical_error = std::sqrt(spread / slices) / noise.measured;

  const auto views = static_cast<double>(geometry.views());
  const double weight = pi / views / pixel_mm;  // a full turn sees every line twice, and counts each half
  noise.predicted = views * weight * weight * line_variance(geometry, g) * filtered_variance(which.window);
  return noise;
}

}  // namespace lepus::accuracy
