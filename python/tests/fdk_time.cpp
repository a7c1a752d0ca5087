// SPDX-License-Identifier: Apache-2.0
// fdk called from C++, for test_speed.py: seconds of the processor and of the clock, the best of three.
//   lepus_fdk_time COLUMNS ROWS VIEWS VOXELS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <lepus/lepus.h>

int main(int count, char** words) {
  if (count != 5) return 2;
  lepus::CircularScan circle;
  circle.source_axis_mm = 200;
  circle.source_detector_mm = 400;
  circle.columns = std::stol(words[1]);
  circle.rows = std::stol(words[2]);
  circle.pixel_width_mm = circle.pixel_height_mm = 0.5;
  const long views = std::stol(words[3]), voxels = std::stol(words[4]);
  for (long i = 0; i < views; ++i)
    circle.angles_rad.push_back(2 * lepus::pi * static_cast<double>(i) / static_cast<double>(views));
  const lepus::ScanGeometry scan = lepus::build_scan(circle);
  const lepus::VolumeGrid grid = lepus::centred_grid(voxels, voxels, voxels, {0.25, 0.25, 0.25});
  const std::vector<float> lines(static_cast<std::size_t>(views * circle.rows * circle.columns), 1.0F);
  double processor = 1e9, wall = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t before = std::clock();
    const auto start = std::chrono::steady_clock::now();
    std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));  // made in the call, as in Python
    lepus::FdkOptions options;
    options.compute.backend = "cpu";
    lepus::fdk(scan, lines, grid, volume, options);
    processor = std::min(processor, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
    wall = std::min(wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%.6f %.6f\n", processor, wall);
}
