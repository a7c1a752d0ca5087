// SPDX-License-Identifier: Apache-2.0
// GE phoenix: scan.pca, scan_00001.tif ...
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_phoenix(SimulationOptions& options) {
  require_circular_cone(options, "phoenix");
  const CircularScan& scan = options.scan;
  require_scanner_says(scan.axis_offset_mm == 0, "phoenix", "an axis beside the central ray");
  require_scanner_says(scan.in_plane_rad == 0, "phoenix", "a detector that is turned");
  require_scanner_says(equal_step_deg(options, "phoenix") > 0, "phoenix", "views that run backwards");
  require_scanner_says(scan.angles_rad.front() == 0, "phoenix", "a first angle that is not zero");
  correct_in_scanner(options);
}

class PhoenixFiles final : public ScannerFiles {
public:
  explicit PhoenixFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t frames) override {
    return file_series(scan_, frames,
                       [folder = scan_.folder](std::int64_t i) { return folder / format("scan_{:05}.tif", i + 1); });
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    const double magnification = c.source_detector_mm / c.source_axis_mm;
    const auto views = static_cast<double>(c.angles_rad.size());
    std::string t = "[General]\r\nVersion-pca=2\r\nSystemName=v|tome|x lepus\r\n\r\n";
    t += format(
        "[Geometry]\r\nFDD={}\r\nFOD={}\r\nMagnification={}\r\nVoxelSizeX={}\r\nVoxelSizeY={}\r\ncx={}\r\ncy={}"
        "\r\nDetectorRot=0\r\nTilt=0\r\n\r\n",
        c.source_detector_mm, c.source_axis_mm, magnification, c.pixel_width_mm / magnification,
        c.pixel_height_mm / magnification,
        0.5 * static_cast<double>(c.columns - 1) - c.detector_shift_u_mm / c.pixel_width_mm,
        0.5 * static_cast<double>(c.rows - 1) - c.detector_shift_v_mm / c.pixel_height_mm);
    t += format("[CT]\r\nType=0\r\nNumberImages={}\r\nRotationSector={}\r\nNrImgDone={}\r\n\r\n", c.angles_rad.size(),
                equal_step_deg(scan_.options, "phoenix") * views, c.angles_rad.size());
    t += format(
        "[Image]\r\nDimX={}\r\nDimY={}\r\nRotation=0\r\nMirrorX=0\r\nMirrorY=0\r\nBitPP=16\r\nFreeRay={}\r\n\r\n",
        c.columns, c.rows, scan_.options.detector.open_level);
    t += format("[Detector]\r\nPixelsizeX={}\r\nPixelsizeY={}\r\nBinning=0\r\n\r\n[Xray]\r\nVoltage={}\r\n",
                c.pixel_width_mm, c.pixel_height_mm, scan_.options.tube_kv);
    write_file(scan_.folder / "scan.pca", t, false);
  }

private:
  ScannerScan scan_;
};

}  // namespace

ScannerWriter phoenix_writer() { return {"phoenix", prepare_phoenix, make_files<PhoenixFiles>}; }

}  // namespace lepus
