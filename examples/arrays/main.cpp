// SPDX-License-Identifier: Apache-2.0
// lepus without files: what can compute here, and a ball of 0.02 /mm from its line integrals.
#include <cmath>
#include <iostream>
#include <vector>

#include <lepus/lepus.h>

int main() try {
  for (const lepus::DeviceInfo& device : lepus::list_devices())
    std::cout << device.kind << " " << device.number << ": "
              << (device.why_not.empty() ? device.name : "cannot be used, " + device.why_not) << "\n";

  lepus::CircularScan scan;
  scan.source_axis_mm = 200;
  scan.source_detector_mm = 300;
  scan.columns = scan.rows = 65;
  scan.pixel_width_mm = scan.pixel_height_mm = 1;
  for (int i = 0; i < 90; ++i) scan.angles_rad.push_back(2 * lepus::pi * i / 90);
  const lepus::ScanGeometry geometry = lepus::build_scan(scan);

  // A ball of 15 mm in the middle looks the same from everywhere: the chord of each pixel's ray, times the density.
  const double radius_mm = 15, density = 0.02;
  std::vector<float> lines;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    for (int row = -32; row <= 32; ++row)
      for (int column = -32; column <= 32; ++column) {
        const double off = std::hypot(column, row), miss = scan.source_axis_mm * off / std::hypot(off, 300.0);
        const double half = radius_mm * radius_mm - miss * miss;
        lines.push_back(static_cast<float>(half > 0 ? 2 * density * std::sqrt(half) : 0));
      }

  const lepus::VolumeGrid grid = lepus::centred_grid(33, 33, 33, {1, 1, 1});
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  lepus::FdkOptions options;
  options.compute.precision = lepus::Precision::exact;
  lepus::fdk(geometry, lines, grid, volume, options);
  const float middle = volume[volume.size() / 2];
  std::cout << "the middle has " << middle << " /mm\n";
  return std::abs(middle - density) < 0.02 * density ? 0 : 1;
} catch (const lepus::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
