// SPDX-License-Identifier: Apache-2.0
// YXLON: ScanParameter.xml and Projections/Proj_00000.raw ..., from the bottom row up, air at the largest count.
#include "core/format.h"
#include "core/output_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_yxlon(SimulationOptions& options) {
  require_circular_cone(options, "YXLON");
  require_scanner_says(options.scan.in_plane_rad == 0, "YXLON", "a detector that is turned");
  require_scanner_says(equal_step_deg(options, "YXLON") > 0, "YXLON", "views that run backwards");
  correct_in_scanner(options);
  options.detector.open_level = 65535;
  options.scan.mirror_rows = true;
  turn_clockwise(options);
}

class YxlonFiles final : public ScannerFiles {
public:
  explicit YxlonFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t frames) override {
    return file_series(scan_, frames, [folder = scan_.folder](std::int64_t i) {
      return folder / "Projections" / format("Proj_{:05}.raw", i);
    });
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    const double pitch = c.pixel_width_mm;
    std::string t =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<ScanParameter "
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\r\n";
    t += "  <ConeBeamScanParameter>\r\n    <DetectorOrientation>Original</DetectorOrientation>\r\n    "
         "<DetectorFlipDirections>None</DetectorFlipDirections>\r\n";
    t += format("    <PixelSize><Width>{}</Width><Height>{}</Height></PixelSize>\r\n", c.pixel_width_mm,
                c.pixel_height_mm);
    t += format(
        "    <ProjectionSize><Width>{}</Width><Height>{}</Height></ProjectionSize>\r\n    "
        "<ProjectionBitdepth>16</ProjectionBitdepth>\r\n",
        c.columns, c.rows);
    t += format(
        "    <ScanTrajectory xsi:type=\"CircleTrajectory\">\r\n      <PixelPitch>{}</PixelPitch>\r\n      "
        "<Fdd>{}</Fdd>\r\n      <Fod>{}</Fod>\r\n      <YoCenter>{}</YoCenter>\r\n",
        pitch, c.source_detector_mm / pitch, c.source_axis_mm / pitch, c.axis_offset_mm / pitch);
    t += format(
        "      <NumberOfProjections>{}</NumberOfProjections>\r\n      <StartAngle>{}</StartAngle>\r\n      "
        "<Rotation>{}</Rotation>\r\n    </ScanTrajectory>\r\n",
        c.angles_rad.size(), degrees(c.angles_rad.front()),
        -equal_step_deg(scan_.options, "YXLON") * static_cast<double>(c.angles_rad.size()));
    t += format(
        "    <DejustmentParameter>\r\n      <HorizontalDetectorOffset>{}</HorizontalDetectorOffset>\r\n      "
        "<VerticalDetectorOffset>{}</VerticalDetectorOffset>\r\n",
        0 - c.detector_shift_u_mm / pitch, c.detector_shift_v_mm / pitch);
    t += "      <DetectorTiltA>0</DetectorTiltA>\r\n      <DetectorTiltB>0</DetectorTiltB>\r\n      "
         "<DetectorTiltC>0</DetectorTiltC>\r\n    </DejustmentParameter>\r\n";
    t += "  </ConeBeamScanParameter>\r\n</ScanParameter>\r\n";
    write_file(scan_.folder / "ScanParameter.xml", t, false);
  }

private:
  ScannerScan scan_;
};

}  // namespace

ScannerWriter yxlon_writer() { return {"yxlon", prepare_yxlon, make_files<YxlonFiles>}; }

}  // namespace lepus
