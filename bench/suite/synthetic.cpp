// SPDX-License-Identifier: Apache-2.0
#include "bench/suite/synthetic.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>

#include "core/format.h"
#include "geometry/camera.h"
#include "project/detector_point.h"
#include "project/interpolate.h"

namespace lepus::bench {

CircularScan c_arm_scan(std::int64_t columns, std::int64_t rows, std::int64_t views, Orbit orbit) {
  CircularScan scan;
  scan.source_axis_mm = 750;
  scan.source_detector_mm = 1200;
  scan.columns = columns;
  scan.rows = rows;
  scan.pixel_width_mm = scan.pixel_height_mm = 0.32 * 1248 / static_cast<double>(columns);
  scan.angles_rad.reserve(static_cast<std::size_t>(views));
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  if (orbit == Orbit::circular) return scan;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> off(-1.0, 1.0);
  scan.perturbations.reserve(static_cast<std::size_t>(views));
  for (std::int64_t i = 0; i < views; ++i) {
    ViewPerturbation p;
    p.source_mm = {off(random), off(random), off(random)};
    p.detector_mm = {off(random), off(random), off(random)};
    p.in_plane_rad = 0.004 * off(random);
    p.pitch_rad = 0.004 * off(random);
    p.yaw_rad = 0.004 * off(random);
    p.angle_rad = 0.002 * off(random);
    scan.perturbations.push_back(p);
  }
  return scan;
}

VolumeGrid cube_of_256_mm(std::int64_t size) {
  const double voxel = 256.0 / static_cast<double>(size);
  return centred_grid(size, size, size, {voxel, voxel, voxel});
}

std::vector<Sample> reference_samples(const ScanGeometry& geometry, const VolumeGrid& grid, Interpolation interpolation,
                                      std::int64_t count, ThreadPool& threads) {
  std::mt19937_64 random(11);
  std::vector<Sample> samples(static_cast<std::size_t>(count));
  for (auto& s : samples)
    s = {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid.nx)),
         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid.ny)),
         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid.nz)), 0.0};
  std::vector<Matrix34> matrices;
  matrices.reserve(geometry.matrices.size());
  for (const auto& m : geometry.matrices) matrices.push_back(in_voxel_indices(m, grid));
  threads.parallel_for(0, count, 16, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) {
      Sample& s = samples[static_cast<std::size_t>(i)];
      for (std::size_t view = 0; view < matrices.size(); ++view) {
        const auto p = detector_point(matrices[view].m.data(), geometry.beam, static_cast<double>(s.x),
                                      static_cast<double>(s.y), static_cast<double>(s.z));
        if (!in_front_of_source(p.w)) continue;
        const auto pixel = [&](std::int64_t column, std::int64_t row) {
          return synthetic_pixel(static_cast<unsigned>(view), static_cast<unsigned>(column),
                                 static_cast<unsigned>(row));
        };
        s.expected += distance_weight(geometry.beam, p.w) *
                      sample(interpolation, geometry.columns, geometry.rows, p.u, p.v, pixel);
      }
    }
  });
  return samples;
}

double share_seen(const ScanGeometry& geometry, const VolumeGrid& grid, ThreadPool& threads) {
  constexpr int places = 24;
  const auto at = [](int i, std::int64_t size) { return (i + 0.5) / places * static_cast<double>(size) - 0.5; };
  std::atomic<std::int64_t> seen{0};
  threads.parallel_for(0, geometry.views(), 1, [&](std::int64_t first, std::int64_t last, int) {
    std::int64_t found = 0;
    for (std::int64_t view = first; view < last; ++view) {
      const Matrix34 matrix = in_voxel_indices(geometry.matrices[static_cast<std::size_t>(view)], grid);
      for (int i = 0; i < places * places * places; ++i) {
        const auto p = detector_point(matrix.m.data(), geometry.beam, at(i % places, grid.nx),
                                      at(i / places % places, grid.ny), at(i / (places * places), grid.nz));
        found += in_front_of_source(p.w) && p.u > -1 && p.u < static_cast<double>(geometry.columns) && p.v > -1 &&
                 p.v < static_cast<double>(geometry.rows);
      }
    }
    seen += found;
  });
  return static_cast<double>(seen) / (places * places * places * static_cast<double>(geometry.views()));
}

std::string seen_text(double share) { return format("{:.0f} % of the pairs hit the detector", 100 * share); }

SampleErrors errors_of(const std::vector<Sample>& samples, const std::function<float(const Sample&)>& value) {
  double squares = 0, largest = 0, peak = 0;
  for (const Sample& s : samples) {
    const double got = static_cast<double>(value(s));
    const double difference = std::isfinite(got) ? std::abs(got - s.expected) : std::numeric_limits<double>::infinity();
    squares += difference * difference;
    largest = std::max(largest, difference);
    peak = std::max(peak, std::abs(s.expected));
  }
  return {std::sqrt(squares / static_cast<double>(samples.size())) / peak, largest / peak};
}

}  // namespace lepus::bench
