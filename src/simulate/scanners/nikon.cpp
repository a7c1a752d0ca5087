// SPDX-License-Identifier: Apache-2.0
// Nikon X-Tek: scan.xtekct, scan_0001.tif ..., and _ctdata.txt where the views are not in equal steps.
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "simulate/scan_text.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_nikon(SimulationOptions& options) {
  require_circular_cone(options, "Nikon");
  const CircularScan& scan = options.scan;
  require_scanner_says(scan.pitch_rad == 0 && scan.yaw_rad == 0, "Nikon", "a detector that is tilted out of its plane");
  require_scanner_says(options.content == SimulatedContent::counts, "Nikon", "frames of line integrals");
  correct_in_scanner(options);
  options.scan.mirror_columns = true;
}

class NikonFiles final : public ScannerFiles {
public:
  explicit NikonFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t frames) override {
    return tiff_series(scan_, frames,
                       [folder = scan_.folder](std::int64_t i) { return folder / format("scan_{:04}.tif", i + 1); });
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    const std::vector<double>& angles = c.angles_rad;
    const auto views = static_cast<double>(angles.size());
    const bool equal = has_equal_steps(angles) || angles.size() == 1;
    const double step = angles.size() < 2 ? 360 : degrees(angles.back() - angles.front()) / (views - 1);
    std::string t = "[XTekCT]\r\n";
    const auto add = [&](std::string_view name, const auto& value) { t += format("{}={}\r\n", name, value); };
    add("Name", "scan");
    add("OperatorID", "lepus simulate");
    add("InputSeparator", "_");
    add("InputDigits", 4);
    add("InputFolderName", "");
    const VolumeGrid& g = scan_.grid;
    const bool centred = std::abs(g.centre(0, 0, 0.5 * static_cast<double>(g.nz - 1)).z) < 1e-9;
    if (centred) {  // the header's region is about the axis
      add("VoxelsX", g.nx);
      add("VoxelSizeX", std::abs(g.step_mm.x));
      add("VoxelsY", g.ny);
      add("VoxelSizeY", std::abs(g.step_mm.y));
      add("VoxelsZ", g.nz);
      add("VoxelSizeZ", std::abs(g.step_mm.z));
    }
    for (const char* axis : {"OffsetX", "OffsetY", "OffsetZ"}) add(axis, 0);
    add("SrcToObject", c.source_axis_mm);
    add("SrcToDetector", c.source_detector_mm);
    add("DetectorPixelsX", c.columns);
    add("DetectorPixelSizeX", c.pixel_width_mm);
    add("DetectorPixelsY", c.rows);
    add("DetectorPixelSizeY", c.pixel_height_mm);
    add("DetectorOffsetX", 0 - c.detector_shift_u_mm);
    add("DetectorOffsetY", 0 - c.detector_shift_v_mm);
    add("ObjectOffsetX", 0 - c.axis_offset_mm / std::cos(c.in_plane_rad));
    add("ObjectRoll", 0 - degrees(c.in_plane_rad));
    add("ObjectTilt", 0);
    add("WhiteLevel", scan_.options.detector.open_level);
    add("Projections", angles.size());
    add("InitialAngle", degrees(angles.front()) + 180);
    add("AngularStep", step);
    t += "[Xrays]\r\n";
    add("XraykV", scan_.options.tube_kv);
    write_file(scan_.folder / "scan.xtekct", t, false);
    if (equal) return;
    std::string list = "Projection count\tFrames per projection\tExposure time(msec)\r\n";
    list += format("{}\t1\t1000\r\nProjection\tAngle(deg)\tTime(s)\r\n", angles.size());
    for (std::size_t i = 0; i < angles.size(); ++i)
      list += format("{}\t{}\t{}\r\n", i + 1, degrees(angles[i]) + 180, static_cast<double>(i));
    write_file(scan_.folder / "_ctdata.txt", list, false);
  }

private:
  ScannerScan scan_;
};

}  // namespace

ScannerWriter nikon_writer() {
  return {"nikon", prepare_nikon,
          [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> { return std::make_unique<NikonFiles>(scan); }};
}

}  // namespace lepus
