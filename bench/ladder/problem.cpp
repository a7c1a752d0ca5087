// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder/problem.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "geometry/camera.h"
#include "project/detector_point.h"
#include "project/interpolate.h"
#include "bench/rabbitct/make.h"

namespace lepus::ladder {
namespace {

constexpr double volume_mm = 256;

ScanGeometry geometry_of(Orbit orbit, std::int64_t views, std::int64_t columns, std::int64_t rows) {
  rabbitct::MakeOptions options;
  options.columns = columns;
  options.rows = rows;
  options.views = views;
  if (orbit == Orbit::c_arm) return rabbitct::c_arm_sweep(options);
  // The same distances without tilt and wobble, all around.
  CircularScan scan;
  scan.source_axis_mm = 750;
  scan.source_detector_mm = 1200;
  scan.columns = columns;
  scan.rows = rows;
  scan.pixel_width_mm = 0.32 * 1248 / static_cast<double>(columns);
  scan.pixel_height_mm = 0.32 * 960 / static_cast<double>(rows);
  scan.angles_rad.reserve(static_cast<std::size_t>(views));
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return build_scan(scan);
}

// One line of a separable picture: a blob in the middle and two waves whose phase drifts from view to view.
std::vector<float> profile(std::int64_t n, std::int64_t part, double phase) {
  std::vector<float> line(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(n) - 0.5;
    line[static_cast<std::size_t>(i)] = static_cast<float>(
        part == 0 ? std::exp(-20 * t * t) : std::sin(2 * pi * (static_cast<double>(3 + 8 * part) * t + phase)));
  }
  return line;
}

constexpr std::int64_t noise_values = 1 << 16;

}  // namespace

Scene make_scene(Orbit orbit, std::int64_t views, std::int64_t columns, std::int64_t rows, ThreadPool& threads) {
  Scene scene;
  scene.geometry = geometry_of(orbit, views, columns, rows);
  scene.pixels = Buffer<float>(views * columns * rows);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-0.05F, 0.05F);
  std::vector<float> noise(noise_values);
  for (float& value : noise) value = uniform(random);
  // Of each view, so that the sum does not depend on the threads.
  std::vector<double> steps(static_cast<std::size_t>(views)), squares(static_cast<std::size_t>(views));
  std::vector<float> largest(static_cast<std::size_t>(views));
  threads.parallel_for(0, views, 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t view = first; view < last; ++view) {
      const double turn = static_cast<double>(view) / static_cast<double>(views);
      const auto blob_u = profile(columns, 0, 0), blob_v = profile(rows, 0, 0);
      const auto wave_u = profile(columns, 1, turn), wave_v = profile(rows, 1, 2 * turn);
      const auto fine_u = profile(columns, 2, 3 * turn), fine_v = profile(rows, 2, turn);
      float* const picture = scene.pixels.data() + view * columns * rows;
      double step = 0, square = 0;
      float peak = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto v = static_cast<std::size_t>(row);
        float* const line = picture + row * columns;
        for (std::int64_t column = 0; column < columns; ++column) {
          const auto u = static_cast<std::size_t>(column);
          const std::int64_t grain = (column + row * (columns + 31) + view * 7919) % noise_values;
          line[column] = blob_u[u] * blob_v[v] + 0.3F * wave_u[u] * wave_v[v] + 0.2F * fine_u[u] * fine_v[v] +
                         noise[static_cast<std::size_t>(grain)];
          square += static_cast<double>(line[column]) * line[column];
          peak = std::max(peak, std::abs(line[column]));
          if (column > 0) step += std::pow(static_cast<double>(line[column]) - line[column - 1], 2);
          if (row > 0) step += std::pow(static_cast<double>(line[column]) - line[column - columns], 2);
        }
      }
      steps[static_cast<std::size_t>(view)] = step;
      squares[static_cast<std::size_t>(view)] = square;
      largest[static_cast<std::size_t>(view)] = peak;
    }
  });
  const auto mean = [&](const std::vector<double>& sums) {
    double sum = 0;
    for (const double s : sums) sum += s;
    return sum / static_cast<double>(scene.pixels.size());
  };
  scene.gradient = std::sqrt(mean(steps));
  scene.amplitude = std::sqrt(mean(squares));
  scene.largest = *std::max_element(largest.begin(), largest.end());
  return scene;
}

Problem make_problem(const Scene& scene, std::int64_t size, double voxel_mm) {
  Problem p;
  p.scene = &scene;
  p.size = size;
  const double step = voxel_mm > 0 ? voxel_mm : volume_mm / static_cast<double>(size);
  p.grid = centred_grid(size, size, size, {step, step, step});
  p.exact.reserve(scene.geometry.matrices.size());
  p.matrices.reserve(scene.geometry.matrices.size());
  for (const Matrix34& m : scene.geometry.matrices) {
    const Matrix34 indexed = in_voxel_indices(m, p.grid);
    Matrix single{};
    for (int i = 0; i < 4; ++i) {
      single.u[i] = static_cast<float>(indexed(0, i));
      single.v[i] = static_cast<float>(indexed(1, i));
      single.w[i] = static_cast<float>(indexed(2, i));
    }
    p.exact.push_back(indexed);
    p.matrices.push_back(single);
  }
  return p;
}

Truth make_truth(const Problem& problem, Summed summed, std::int64_t samples, ThreadPool& threads) {
  const Scene& scene = *problem.scene;
  const std::int64_t n = problem.size, columns = scene.geometry.columns, rows = scene.geometry.rows;
  Truth truth;
  truth.summed = summed;
  truth.values.resize(static_cast<std::size_t>(samples));
  std::vector<std::int64_t> seen(truth.values.size());
  std::mt19937_64 random(11);
  truth.offsets.reserve(static_cast<std::size_t>(samples));
  for (std::int64_t i = 0; i < samples; ++i)
    truth.offsets.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n * n * n)));
  threads.parallel_for(0, samples, 16, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t offset = truth.offsets[static_cast<std::size_t>(i)];
      double sum = 0;
      for (std::int64_t view = 0; view < scene.views(); ++view) {
        const auto p = detector_point(problem.exact[static_cast<std::size_t>(view)].m.data(), Beam::cone,
                                      static_cast<double>(offset % n), static_cast<double>(offset / n % n),
                                      static_cast<double>(offset / (n * n)));
        if (p.u > -1 && p.v > -1 && p.u < static_cast<double>(columns) && p.v < static_cast<double>(rows))
          ++seen[static_cast<std::size_t>(i)];
        const float* const picture = scene.view(view);
        const auto pixel = [&](std::int64_t column, std::int64_t row) { return picture[row * columns + column]; };
        sum += distance_weight(Beam::cone, p.w) * (summed == Summed::pixels
                                                       ? sample(Interpolation::linear, columns, rows, p.u, p.v, pixel)
                                                       : (p.u + 0.5) + (p.v + 0.5));
      }
      truth.values[static_cast<std::size_t>(i)] = sum;
    }
  });
  for (const double value : truth.values) truth.largest = std::max(truth.largest, std::abs(value));
  for (const std::int64_t count : seen) truth.seen += static_cast<double>(count);
  truth.seen /= static_cast<double>(samples) * static_cast<double>(scene.views());
  return truth;
}

double error_of(const Truth& truth, const std::vector<float>& sampled) {
  double squares = 0;
  for (std::size_t i = 0; i < sampled.size(); ++i) squares += std::pow(sampled[i] - truth.values[i], 2);
  return std::sqrt(squares / static_cast<double>(sampled.size())) / truth.largest;
}

// An error of d pixels in a coordinate changes a sample by d times the gradient; d is independent from view to view, so
// that a voxel's error is sqrt(views) * d * gradient (1/w^2 is about 1). d has two parts, given as standard deviations:
//   single precision: u w is put together from four terms about as large as half the detector and multiplied by 1/w:
//   six roundings, each even within a unit in the last place of that width;
//   texture unit: the weights have 8 bits, even within 1/256 of a pixel.
// fp16 texels add a rounding of 2^-11 of the pixel's value. The sum itself rounds once per view, to 2^-24 of at most
// the largest value. The limit is three times all this. (Measured at 256^3 from 32 views on a CPU: 0.9 and 1.1 times.)
double error_limit(const Problem& problem, const Truth& truth, Weights weights) {
  const double views = static_cast<double>(problem.scene->views()), even = 1 / std::sqrt(12.0);
  const double width =
      0.5 * static_cast<double>(std::max(problem.scene->geometry.columns, problem.scene->geometry.rows));
  const double ulp = std::ldexp(1.0, std::ilogb(width) - 23);
  double d = std::sqrt(6.0) * ulp * even;
  if (weights != Weights::single) d = std::hypot(d, even / 256);
  double per_view = d * (truth.summed == Summed::pixels ? problem.scene->gradient : std::sqrt(2.0));
  if (weights == Weights::texture_of_half)
    per_view = std::hypot(per_view, std::ldexp(even, -11) * problem.scene->amplitude);
  const double summing = std::sqrt(views) * std::ldexp(1.0, -24);
  return 3 * (std::sqrt(views) * per_view / truth.largest + summing);
}

}  // namespace lepus::ladder
