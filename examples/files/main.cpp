// SPDX-License-Identifier: Apache-2.0
// What the program lepus does, as calls: a simulated scan whose detector is not where its scan file says, the rotation
// axis found from its frames, volumes before and after, and how far each is from the truth.   files FOLDER
#include <filesystem>
#include <iostream>

#include <lepus/lepus.h>

namespace {

double error_of(const lepus::SimulationReport& scan, const std::filesystem::path& volume) {
  lepus::ReconstructOptions options;
  options.force = true;
  lepus::reconstruct(scan.scan_file, volume, options);
  lepus::CompareOptions compared;
  compared.reference = scan.truth_volume;
  compared.volume = volume;
  return lepus::compare_volumes(compared).comparison.rmse;
}

}  // namespace

int main(int count, char** words) try {
  if (count != 2) {
    std::cerr << "usage: files FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = words[1];
  lepus::SimulationOptions simulated;
  simulated.scan.source_axis_mm = 200;
  simulated.scan.source_detector_mm = 400;
  simulated.scan.columns = 96;
  simulated.scan.rows = 64;
  simulated.scan.pixel_width_mm = simulated.scan.pixel_height_mm = 1;
  simulated.scan.angles_rad = lepus::equal_angles_rad(120);
  simulated.hidden_shift_px = 2.5;
  simulated.call.force = true;
  const lepus::SimulationReport scan = lepus::simulate_scan(folder / "scan", simulated);
  const double before = error_of(scan, folder / "volume.mha");

  lepus::CenterOptions search;
  search.write = true;  // into the scan file
  const lepus::CenterReport found = lepus::center(scan.scan_file, search);
  std::cout << "the axis is seen on column " << found.axis.column << ", not " << found.axis.given_column << "\n";

  const double after = error_of(scan, folder / "volume.mha");
  std::cout << "error " << before << " /mm before, " << after << " /mm after\n";
  lepus::SliceOptions picture;
  picture.volume = folder / "volume.mha";
  picture.picture = folder / "slices.png";
  picture.three = true;
  picture.call.force = true;
  lepus::draw_slices(picture);
  return after < 0.8 * before ? 0 : 1;
} catch (const lepus::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
