// SPDX-License-Identifier: Apache-2.0
// Diondo: scan.xml and Projection/_0000,00_0000.raw ..., a full turn, air at the largest count.
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_diondo(SimulationOptions& options) {
  require_circular_cone(options, "Diondo");
  const CircularScan& scan = options.scan;
  require_scanner_says(scan.in_plane_rad == 0, "Diondo", "a detector that is turned");
  require_scanner_says(scan.detector_shift_u_mm == 0 && scan.detector_shift_v_mm == 0, "Diondo",
                       "a detector that is shifted");
  const double arc = equal_step_deg(options, "Diondo") * static_cast<double>(scan.angles_rad.size());
  require_scanner_says(std::abs(arc - 360) < 1e-9 && scan.angles_rad.front() == 0, "Diondo",
                       "anything but a full turn from angle zero on");
  correct_in_scanner(options);
  options.detector.open_level = 65535;
  turn_clockwise(options);
}

class DiondoFiles final : public ScannerFiles {
public:
  explicit DiondoFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t frames) override {
    return file_series(scan_, frames, [folder = scan_.folder](std::int64_t i) {
      return folder / "Projection" / format("_0000,00_{:04}.raw", i);
    });
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    std::string t =
        "<?xml version=\"1.0\"?>\r\n<Scan>\r\n  <ScanParameter>\r\n    <HelixMode>false</HelixMode>\r\n    "
        "<Laminography>false</Laminography>\r\n  </ScanParameter>\r\n";
    t += format(
        "  <Geometrie>\r\n    <SourceDetectorDist>{}</SourceDetectorDist>\r\n    "
        "<SourceObjectDist>{}</SourceObjectDist>\r\n    <Slices><string>0000,00mm</string></Slices>\r\n  "
        "</Geometrie>\r\n",
        c.source_detector_mm, c.source_axis_mm);
    t += format(
        "  <Recon>\r\n    <ProjectionCount>{}</ProjectionCount>\r\n    <ProjectionDimX>{}</ProjectionDimX>\r\n    "
        "<ProjectionDimY>{}</ProjectionDimY>\r\n",
        c.angles_rad.size(), c.columns, c.rows);
    t += format(
        "    <ProjectionPixelSizeX>{}</ProjectionPixelSizeX>\r\n    "
        "<ProjectionPixelSizeY>{}</ProjectionPixelSizeY>\r\n    "
        "<ProjectionCenterOffsetX>{}</ProjectionCenterOffsetX>\r\n  </Recon>\r\n</Scan>\r\n",
        c.pixel_width_mm, c.pixel_height_mm, c.axis_offset_mm);
    write_file(scan_.folder / "scan.xml", t, false);
  }

private:
  ScannerScan scan_;
};

}  // namespace

ScannerWriter diondo_writer() { return {"diondo", prepare_diondo, make_files<DiondoFiles>}; }

}  // namespace lepus
