// SPDX-License-Identifier: Apache-2.0
// The scans and volumes that every projector is held against the double-precision one with, and how far single
// precision may be from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "project/ray_views.h"

namespace lepus::ray_cases {

struct Case {
  const char* name;
  Beam beam = Beam::cone;
  std::int64_t nx = 20, ny = 20, nz = 20, columns = 24, rows = 20;
  Vec3 step{1, 1, 1};
  double source_axis = 60, source_detector = 90, pixel = 1.6, pitch = 0, in_plane = 0;
};

inline ScanGeometry scan_of(const Case& c) {
  CircularScan scan;
  scan.beam = c.beam;
  scan.source_axis_mm = c.source_axis;
  scan.source_detector_mm = c.source_detector;
  scan.columns = c.columns;
  scan.rows = c.rows;
  scan.pixel_width_mm = scan.pixel_height_mm = c.pixel;
  scan.pitch_rad = c.pitch;
  scan.in_plane_rad = c.in_plane;
  for (int i = 0; i < 7; ++i) scan.angles_rad.push_back(i * pi / 4 + (i == 6 ? 0.3 : 0.0));  // 45 degrees among them
  return build_scan(scan);
}

inline std::vector<float> random_volume(const VolumeGrid& grid) {
  std::mt19937 random(7);
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  for (float& voxel : volume) voxel = static_cast<float>(random() % 1000) / 1000.0f;
  return volume;
}

inline const Case cases[] = {
    {.name = "cone"},
    {.name = "odd sizes", .nx = 17, .ny = 23, .nz = 13, .columns = 37, .rows = 11},
    {.name = "one slice", .nx = 31, .ny = 9, .nz = 1, .columns = 19, .rows = 5},
    {.name = "one column of voxels", .nx = 1, .ny = 1, .nz = 33},
    {.name = "flat voxels, mirrored", .step = {1.5, -0.7, -2.0}},
    {.name = "tilted", .pitch = 0.2, .in_plane = 0.4},
    {.name = "steep: planes on z as well", .nz = 40, .rows = 61, .source_axis = 24, .source_detector = 30, .pixel = 2},
    {.name = "source inside the volume", .nx = 60, .ny = 60, .source_axis = 24, .source_detector = 48},
    {.name = "parallel", .beam = Beam::parallel, .pixel = 0.9},
    {.name = "fan", .beam = Beam::fan, .pixel = 1.1},
};

// Single precision: coordinates up to n/2 voxels from the middle are off by no more than 2^-24 n/2 (the start), as much
// again (the product's change rounded) and once more (the sum), which moves a sample by that much of the largest
// difference of neighbours (1), twice, for both axes; and k additions are off by k 2^-24 of the sum.
inline double single_precision_limit(const JosephLine& line, const JosephGrid& grid) {
  const double reach = std::max({grid.size[0], grid.size[1], grid.size[2]}), planes = line.last - line.first + 1;
  // Coordinates may be larger than the grid where a ray passes far off the middle plane at its start.
  const double far = reach + std::max(std::abs(line.a0), std::abs(line.b0));
  return line.way_mm * planes * 0x1p-24 * (2 * 2 * far + planes + 4);
}

}  // namespace lepus::ray_cases
