// SPDX-License-Identifier: Apache-2.0
// Counts to a volume without a scan file: a ball of 0.02 /mm before a detector whose pixels differ, one of which is
// dead, while the beam loses a fifth of its strength, which a monitor has measured.
#include <cmath>
#include <iostream>
#include <vector>

#include <lepus/lepus.h>

int main() try {
  lepus::CircularScan scan;
  scan.source_axis_mm = 200;
  scan.source_detector_mm = 300;
  scan.columns = scan.rows = 65;
  scan.pixel_width_mm = scan.pixel_height_mm = 1;
  for (int i = 0; i < 90; ++i) scan.angles_rad.push_back(2 * lepus::pi * i / 90);
  const lepus::ScanGeometry geometry = lepus::build_scan(scan);

  const int side = 65, dead = 40 * side + 30;
  std::vector<float> flat, dark(side * side, 100.0F), counts;
  for (int pixel = 0; pixel < side * side; ++pixel)
    flat.push_back(pixel == dead ? 0.0F : 50000.0F + static_cast<float>(997 * pixel % 10007));
  const double radius_mm = 15, density = 0.02;
  std::vector<double> doses;
  for (std::size_t view = 0; view < scan.angles_rad.size(); ++view) {
    doses.push_back(1 - 0.2 * static_cast<double>(view) / 90);
    for (int pixel = 0; pixel < side * side; ++pixel) {
      const double off = std::hypot(pixel % side - 32, pixel / side - 32), miss = 200 * off / std::hypot(off, 300.0);
      const double half = radius_mm * radius_mm - miss * miss, line = half > 0 ? 2 * density * std::sqrt(half) : 0;
      const double open = pixel == dead ? 0 : static_cast<double>(flat[static_cast<std::size_t>(pixel)]) - 100;
      counts.push_back(static_cast<float>(100 + open * doses.back() * std::exp(-line)));
    }
  }

  std::vector<float> lines(counts.size());
  const std::vector<lepus::CorrectionStep> steps{lepus::corrections::Dose{.values = doses, .reference = 1.0},
                                                 lepus::corrections::Zingers{}};
  for (const std::string& report : lepus::correct_counts(geometry, counts, {.flat = flat, .dark = dark}, steps, lines))
    std::cout << report << "\n";

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
