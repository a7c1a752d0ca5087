// SPDX-License-Identifier: Apache-2.0
#include "sharpness.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/format.h"
#include "filter/ramp.h"
#include "measure.h"
#include "names.h"
#include "project/interpolate.h"
#include <lepus/reconstruct.h>

namespace lepus::accuracy {
namespace {

constexpr double pixel_mm = 0.6;  // at the axis
constexpr double to_axis_mm = 200, to_detector_mm = 300;
constexpr double cylinder_mm = 20;
constexpr Vec3 centre_mm{2.13, -1.37, 0};  // off the axis, so that the edge meets pixels at every phase
constexpr int rays_across = 8;
constexpr double margin_mm = 12;  // around the cylinder: the edge's ringing is summed, too

CircularScan scan_of(Beam beam) {
  CircularScan s;
  s.beam = beam;
  s.source_axis_mm = to_axis_mm;
  s.source_detector_mm = to_detector_mm;
  s.columns = 128;
  s.rows = beam == Beam::cone ? 3 : 1;
  s.pixel_width_mm = s.pixel_height_mm = beam == Beam::parallel ? pixel_mm : pixel_mm * to_detector_mm / to_axis_mm;
  const int views = beam == Beam::parallel ? 360 : 720;
  for (int i = 0; i < views; ++i) s.angles_rad.push_back(radians(0.5 * i));
  return s;
}

// Every filter and interpolation is tried on the same line integrals.
const std::vector<float>& line_integrals(Beam beam, ThreadPool& threads) {
  static std::map<Beam, std::vector<float>> kept;
  std::vector<float>& lines = kept[beam];
  if (lines.empty()) {
    // Long enough that every ray of the three rows passes its side.
    const Phantom phantom("cylinder", Combine::add, {cylinder(centre_mm, cylinder_mm, 100, body_value)});
    lines = projections(phantom, build_scan(scan_of(beam)), rays_across, threads);
  }
  return lines;
}

void blur_rows(std::vector<float>& lines, std::int64_t columns, double share) {
  std::vector<float> row(static_cast<std::size_t>(columns));
  const auto weight = static_cast<float>(share);
  for (std::size_t start = 0; start < lines.size(); start += row.size()) {
    std::copy_n(lines.begin() + static_cast<std::ptrdiff_t>(start), row.size(), row.begin());
    for (std::size_t i = 1; i + 1 < row.size(); ++i)
      lines[start + i] = (1 - 2 * weight) * row[i] + weight * (row[i - 1] + row[i + 1]);
  }
}

// The Fourier transform of the interpolation's kernel, by the midpoint rule over the taps that the backprojector uses.
double interpolation_response(Interpolation interpolation, double frequency) {
  constexpr int steps = 2000;
  double sum = 0;
  for (int k = 0; k < steps; ++k) {
    const double x = (k + 0.5) / steps;  // between two pixels
    double weight[4];
    const std::int64_t first = first_tap(interpolation, x, weight);
    for (int tap = 0; tap < tap_count(interpolation); ++tap)
      sum += weight[tap] * std::cos(2 * pi * frequency * (x - static_cast<double>(first + tap))) / steps;
  }
  return sum;
}

// The pixel as a row of rays_across rays.
double pixel_response(double frequency) {
  return std::sin(pi * frequency) / (rays_across * std::sin(pi * frequency / rays_across));
}

}  // namespace

std::string SharpnessCase::name() const {
  return format("{}, {}{}, {}", name_of(beam), name_of(filter.window),
                filter.cutoff < 1 ? format(" to {:g}", filter.cutoff) : std::string(), name_of(interpolation));
}

std::vector<SharpnessCase> sharpness_cases() {
  std::vector<SharpnessCase> all;
  for (const Beam beam : {Beam::parallel, Beam::fan, Beam::cone})
    for (const Window window : {Window::ram_lak, Window::shepp_logan, Window::cosine, Window::hamming, Window::hann}) {
      SharpnessCase c;
      c.beam = beam;
      c.filter.window = window;
      all.push_back(c);
    }
  SharpnessCase c;
  c.beam = Beam::cone;
  c.interpolation = Interpolation::cubic;
  all.push_back(c);
  c.interpolation = Interpolation::nearest;
  all.push_back(c);
  c.interpolation = Interpolation::linear;
  c.filter.window = Window::hann;
  c.filter.cutoff = 0.6;
  all.push_back(c);
  return all;
}

double Sharpness::largest_error() const {
  double largest = 0;
  for (const ModulationPoint& p : points) {
    const double error = std::abs(p.measured - p.predicted);
    if (!(error <= largest)) largest = error;  // keeps a NaN
  }
  return largest;
}

namespace {
const ModulationPoint& nearest(const std::vector<ModulationPoint>& points, double frequency) {
  return *std::min_element(points.begin(), points.end(), [&](const auto& a, const auto& b) {
    return std::abs(a.frequency - frequency) < std::abs(b.frequency - frequency);
  });
}
}  // namespace

double Sharpness::at(double frequency) const { return nearest(points, frequency).measured; }
double Sharpness::predicted_at(double frequency) const { return nearest(points, frequency).predicted; }

Sharpness measure_sharpness(const SharpnessCase& which, double blur, ThreadPool& threads) {
  const ScanGeometry geometry = build_scan(scan_of(which.beam));
  std::vector<float> lines = line_integrals(which.beam, threads);
  if (blur > 0) blur_rows(lines, geometry.columns, blur);

  const double voxel = pixel_mm / 2, half = cylinder_mm + margin_mm;
  VolumeGrid g;
  g.nx = g.ny = static_cast<std::int64_t>(2 * half / voxel);
  g.nz = 1;
  g.step_mm = {voxel, voxel, voxel};
  g.origin_mm = {centre_mm.x - half + 0.5 * voxel, centre_mm.y - half + 0.5 * voxel, 0};
  std::vector<float> volume(static_cast<std::size_t>(g.voxels()));
  FdkOptions options;
  options.filter = which.filter;
  options.interpolation = which.interpolation;
  options.compute.backend = "cpu";
  options.compute.threads = threads.size();
  fdk(geometry, lines, g, volume, options);

  // The rays that make an edge sharp touch it; there a pixel of a flat detector is cos^3 of the fan angle smaller.
  const double sine = which.beam == Beam::parallel ? 0 : cylinder_mm / to_axis_mm;
  const double pitch = pixel_mm * std::pow(1 - sine * sine, 1.5);

  Sharpness result;
  for (int k = 1;; ++k) {
    const double per_mm = (k + 0.75) / (2 * cylinder_mm);  // where J1 is large
    const double frequency = per_mm * pitch;
    if (frequency > highest_frequency) break;
    double sum = 0;
    for (std::int64_t j = 0; j < g.ny; ++j)
      for (std::int64_t i = 0; i < g.nx; ++i) {
        const Vec3 x = g.centre(static_cast<double>(i), static_cast<double>(j), 0) - centre_mm;
        const double r = std::hypot(x.x, x.y);
        if (r < half)
          sum += static_cast<double>(volume[static_cast<std::size_t>(j * g.nx + i)]) * j0(2 * pi * per_mm * r);
      }
    const double of_disc = body_value * cylinder_mm * j1(2 * pi * per_mm * cylinder_mm) / per_mm;
    result.points.push_back({frequency, sum * voxel * voxel / of_disc,
                             pixel_response(frequency) * ramp_response(which.filter, frequency) / frequency *
                                 interpolation_response(which.interpolation, frequency)});
  }
  return result;
}

}  // namespace lepus::accuracy
