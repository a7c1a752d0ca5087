// SPDX-License-Identifier: Apache-2.0
// Bruker SkyScan: scan.log and scan0000.tif ...
#include "core/format.h"
#include "core/output_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_skyscan(SimulationOptions& options) {
  require_circular_cone(options, "SkyScan");
  const CircularScan& scan = options.scan;
  require_scanner_says(scan.axis_offset_mm == 0 && scan.detector_shift_u_mm == 0, "SkyScan",
                       "an axis that is not behind the middle column");
  require_scanner_says(scan.in_plane_rad == 0, "SkyScan", "a detector that is turned");
  require_scanner_says(equal_step_deg(options, "SkyScan") > 0, "SkyScan", "views that run backwards");
  correct_in_scanner(options);
}

class SkyScanFiles final : public ScannerFiles {
public:
  explicit SkyScanFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t frames) override {
    return file_series(scan_, frames,
                       [folder = scan_.folder](std::int64_t i) { return folder / format("scan{:04}.tif", i); });
  }

  void finish() override {
    const SimulationOptions& o = scan_.options;
    const CircularScan& c = o.scan;
    const double step = equal_step_deg(o, "SkyScan");
    const double magnification = c.source_detector_mm / c.source_axis_mm;
    std::string t = format(
        "[System]\r\nScanner=SkyScan1173\r\nSoftware=lepus simulate\r\nCamera Pixel Size "
        "(um)={}\r\nCameraXYRatio={}\r\n",
        c.pixel_width_mm * 1000, c.pixel_width_mm / c.pixel_height_mm);
    t += format(
        "[Acquisition]\r\nFilename Prefix=scan\r\nFilename Index Length=4\r\nNumber of Files={}\r\nNumber of "
        "Rows={}\r\nNumber of Columns={}\r\nCamera binning=1x1\r\n",
        c.angles_rad.size(), c.rows, c.columns);
    t += format(
        "Optical Axis (line)={}\r\nObject to Source (mm)={}\r\nCamera to Source (mm)={}\r\nImage Pixel Size "
        "(um)={}\r\n",
        0.5 * static_cast<double>(c.rows - 1) + c.detector_shift_v_mm / c.pixel_height_mm, c.source_axis_mm,
        c.source_detector_mm, c.pixel_width_mm / magnification * 1000);
    t += format("Image Format=TIFF\r\nDepth (bits)=16\r\nReference Intensity={}\r\nRotation Step (deg)={}\r\n",
                o.detector.open_level, step);
    t += format(
        "Use 360 Rotation={}\r\nFlat Field Correction=ON\r\nRotation Direction=CC\r\nScanning Start Angle={}\r\nNumber "
        "of connected scans=1\r\n",
        step * static_cast<double>(c.angles_rad.size()) > 360 - step ? "YES" : "NO", degrees(c.angles_rad.front()));
    write_file(scan_.folder / "scan.log", t, false);
  }

private:
  ScannerScan scan_;
};

}  // namespace

ScannerWriter skyscan_writer() { return {"skyscan", prepare_skyscan, make_files<SkyScanFiles>}; }

}  // namespace lepus
