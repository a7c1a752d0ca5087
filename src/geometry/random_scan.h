// SPDX-License-Identifier: Apache-2.0
// For tests: random circular scans with everything turned on (tilts, offsets, jitter, mirroring, unequal pixels).
#pragma once

#include <cstdint>
#include <random>

#include <lepus/geometry.h>

namespace lepus {

inline CircularScan random_scan(std::uint64_t seed, Beam beam, std::int64_t views = 7) {
  std::mt19937_64 engine(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  CircularScan s;
  s.beam = beam;
  s.source_axis_mm = uniform(80, 800);
  s.source_detector_mm = s.source_axis_mm * uniform(1.1, 4);
  s.columns = 100 + static_cast<std::int64_t>(engine() % 400);
  s.rows = 80 + static_cast<std::int64_t>(engine() % 300);
  const double width = (beam == Beam::parallel ? 1 : s.source_detector_mm) * uniform(0.1, 0.5);
  s.pixel_width_mm = width / static_cast<double>(s.columns);
  s.pixel_height_mm = s.pixel_width_mm * uniform(0.5, 2);
  s.detector_shift_u_mm = uniform(-0.2, 0.2) * width;
  s.detector_shift_v_mm = uniform(-0.2, 0.2) * width;
  s.axis_offset_mm = uniform(-0.05, 0.05) * width;
  s.yaw_rad = uniform(-0.15, 0.15);
  if (beam != Beam::fan) {
    s.pitch_rad = uniform(-0.15, 0.15);
    s.in_plane_rad = uniform(-0.3, 0.3);
  }
  s.mirror_columns = engine() % 2 == 0;
  s.mirror_rows = engine() % 2 == 0;
  for (std::int64_t i = 0; i < views; ++i) {
    s.angles_rad.push_back(uniform(-7, 7));
    ViewPerturbation p;
    p.source_mm = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    p.detector_mm = 0.01 * width * Vec3{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    p.yaw_rad = uniform(-0.01, 0.01);
    if (beam != Beam::fan) {
      p.pitch_rad = uniform(-0.01, 0.01);
      p.in_plane_rad = uniform(-0.01, 0.01);
    }
    p.angle_rad = uniform(-0.01, 0.01);
    s.perturbations.push_back(p);
  }
  return s;
}

}  // namespace lepus
