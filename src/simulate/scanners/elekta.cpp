// SPDX-License-Identifier: Apache-2.0
// Elekta XVI: _Frames.xml and 00001.his ... beside it.
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "io/his_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_elekta(SimulationOptions& options) {
  require_circular_cone(options, "Elekta");
  CircularScan& scan = options.scan;
  const auto near = [](double value, double wanted) { return std::abs(value - wanted) < 1e-9 * wanted; };
  require_scanner_says(scan.pitch_rad == 0 && scan.yaw_rad == 0 && scan.in_plane_rad == 0, "Elekta",
                       "a tilted detector");
  require_scanner_says(scan.axis_offset_mm == 0, "Elekta", "an axis that lies beside the central ray");
  require_scanner_says(near(scan.source_axis_mm, 1000) && near(scan.source_detector_mm, 1536), "Elekta",
                       "other distances than 1000 and 1536 mm");
  require_scanner_says(near(scan.pixel_width_mm * static_cast<double>(scan.columns), 409.6) &&
                           near(scan.pixel_height_mm * static_cast<double>(scan.rows), 409.6),
                       "Elekta", "another panel than one of 409.6 x 409.6 mm");
  require_scanner_says(options.content == SimulatedContent::counts, "Elekta", "frames of line integrals");
  scan.mirror_rows = true;
  correct_in_scanner(options);
  options.detector.open_level = 65536;  // of every XVI; a count of 16 bits ends one below it
}

class ElektaFiles final : public ScannerFiles {
public:
  explicit ElektaFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t) override { return std::make_unique<Views>(scan_); }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    std::string text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ImageSet>\n  <Frames>\n";
    for (std::size_t i = 0; i < c.angles_rad.size(); ++i)
      text += format(
          "    <Frame><Seq>{}</Seq><GantryAngle>{}</GantryAngle><Exposed>True</Exposed><UCentre>{}</UCentre>"
          "<VCentre>{}</VCentre></Frame>\n",
          i + 1, degrees(c.angles_rad[i]), -c.detector_shift_u_mm, c.detector_shift_v_mm);
    write_file(scan_.folder / "_Frames.xml", text + "  </Frames>\n</ImageSet>\n", false);
  }

private:
  class Views final : public FrameWriter {
  public:
    explicit Views(const ScannerScan& scan) : scan_(scan) {}
    void write(const void* pixels) override {
      write_file(scan_.folder / format("{:05}.his", ++written_),
                 his_bytes(scan_.columns, scan_.rows, static_cast<const std::uint16_t*>(pixels)), false);
    }
    void finish() override {}

  private:
    const ScannerScan& scan_;
    std::int64_t written_ = 0;
  };
  ScannerScan scan_;
};

}  // namespace

ScannerWriter elekta_writer() {
  return {"elekta", prepare_elekta,
          [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> { return std::make_unique<ElektaFiles>(scan); }};
}

}  // namespace lepus
