// SPDX-License-Identifier: Apache-2.0
// The formulas of src/project, one call after another on the host: where a voxel meets the detector, a value between
// pixels, a ray's planes. They are what the reference is made of; the fast kernels have loops of their own.
#include <array>

#include "bench/suite/synthetic.h"
#include "checked.h"
#include "geometry/camera.h"
#include "project/detector_point.h"
#include "project/interpolate.h"
#include "project/joseph.h"

namespace lepus::micro {
namespace {

constexpr std::int64_t pixels = 64;
constexpr std::size_t calls = 256;
using Places = std::array<double, calls>;

// Spread over [5, 55] without a pattern.
Places places_from(double first) {
  Places places{};
  for (std::size_t i = 0; i < calls; ++i) {
    const double turns = first + 0.61803398875 * static_cast<double>(i);
    places[i] = 5 + 50 * (turns - std::floor(turns));
  }
  return places;
}

// Linear in column and row: linear and cubic interpolation give it back exactly, but for rounding.
double sloping_picture(std::int64_t column, std::int64_t row) {
  return 0.25 * static_cast<double>(column) + 0.5 * static_cast<double>(row);
}

template <Interpolation kind>
void interpolate(benchmark::State& state) {
  const Places u = places_from(0), v = places_from(0.3);
  Places got{}, expected{};
  for (std::size_t i = 0; i < calls; ++i) {
    got[i] = sample(kind, pixels, pixels, u[i], v[i], sloping_picture);
    expected[i] = kind == Interpolation::nearest ? 0.25 * std::floor(u[i] + 0.5) + 0.5 * std::floor(v[i] + 0.5)
                                                 : 0.25 * u[i] + 0.5 * v[i];
  }
  // Sums of 16 products of numbers below 50, in double precision.
  if (!is_right(state, largest_difference(got.data(), expected.data(), calls), 1e-12)) return;
  for (auto _ : state)
    for (std::size_t i = 0; i < calls; ++i)
      benchmark::DoNotOptimize(sample(kind, pixels, pixels, u[i], v[i], sloping_picture));
  count_rate(state, "samples", calls);
}
BENCHMARK(interpolate<Interpolation::nearest>);
BENCHMARK(interpolate<Interpolation::linear>);
BENCHMARK(interpolate<Interpolation::cubic>);

void detector_coordinates(benchmark::State& state) {
  const ScanGeometry scan = build_scan(bench::c_arm_scan(pixels, pixels, 1));
  const Matrix34 matrix = in_voxel_indices(scan.matrices[0], bench::cube_of_256_mm(pixels));
  constexpr double middle = 0.5 * (pixels - 1);
  const auto centre = detector_point(matrix.m.data(), scan.beam, middle, middle, middle);
  // The rotation centre falls on the detector's centre, at depth 1.
  const std::array<double, 3> got{centre.u, centre.v, centre.w}, expected{middle, middle, 1};
  if (!is_right(state, largest_difference(got.data(), expected.data(), 3), 1e-9)) return;
  const Places x = places_from(0), y = places_from(0.3), z = places_from(0.7);
  for (auto _ : state)
    for (std::size_t i = 0; i < calls; ++i)
      benchmark::DoNotOptimize(detector_point(matrix.m.data(), scan.beam, x[i], y[i], z[i]));
  count_rate(state, "points", calls);
}
BENCHMARK(detector_coordinates);

// Rays from y = -100 on about the y axis, through a grid of 64^3.
void planes_of_a_ray(benchmark::State& state) {
  JosephGrid grid;
  JosephView view;
  for (int k = 0; k < 3; ++k) {
    grid.size[k] = static_cast<int>(pixels);
    grid.middle[k] = grid.size[k] / 2;
    view.step_mm[k] = 0.5;
  }
  view.point[1][0] = 0;
  view.direction[1][0] = 100;                         // t = -1 is the source
  view.direction[0][1] = view.direction[2][2] = 0.1;  // per column, per row
  view.nearest = -1;
  const JosephLine middle = joseph_line(view, grid, 0, 0);
  // Along the axis all 64 planes count, half a millimetre apart.
  const std::array<double, 6> expected{1, -32, 32, 0, 0, 0.5}, got{static_cast<double>(middle.axis),
                                                                   static_cast<double>(middle.first),
                                                                   static_cast<double>(middle.last),
                                                                   middle.a0,
                                                                   middle.b0,
                                                                   middle.way_mm};
  if (!is_right(state, largest_difference(got.data(), expected.data(), got.size()), 1e-12)) return;
  const Places u = places_from(0), v = places_from(0.3);
  for (auto _ : state)
    for (std::size_t i = 0; i < calls; ++i) benchmark::DoNotOptimize(joseph_line(view, grid, u[i], v[i]));
  count_rate(state, "rays", calls);
}
BENCHMARK(planes_of_a_ray);

}  // namespace
}  // namespace lepus::micro
