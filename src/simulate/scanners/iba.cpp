// SPDX-License-Identifier: Apache-2.0
// IBA iMagX: proj_0000.xml and proj_0000.raw for each view, room_setup.xml with the distances.
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_iba(SimulationOptions& options) {
  CircularScan& scan = options.scan;
  require_circular_cone(options, "IBA");
  require_scanner_says(scan.in_plane_rad == 0, "IBA", "a tilted detector");
  require_scanner_says(scan.axis_offset_mm == 0, "IBA", "an axis that lies beside the central ray");
  const double turn_deg = equal_step_deg(options, "IBA") * static_cast<double>(scan.angles_rad.size());
  require_scanner_says(std::abs(turn_deg - 360) < 1e-9 && scan.angles_rad.front() == 0, "IBA",
                       "angles other than a full turn from 0");
  scan.mirror_rows = true;
  correct_in_scanner(options);
}

class IbaFiles final : public ScannerFiles {
public:
  explicit IbaFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t frames) override {
    for (std::int64_t view = 0; view < frames; ++view) write_file(file_of(view, "xml"), header(view), false);
    return file_series(scan_, frames, [this](std::int64_t view) { return file_of(view, "raw"); });
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    write_file(scan_.folder / "room_setup.xml",
               format("<?xml version=\"1.0\"?>\n<RoomSetup>\n<Axis axis=\"CBCT\">\n<Distances sid=\"{:.17g}\" "
                      "sdd=\"{:.17g}\"/>\n<AngleOffset projection=\"0\"/>\n</Axis>\n</RoomSetup>\n",
                      c.source_axis_mm, c.source_detector_mm),
               false);
  }

private:
  std::filesystem::path file_of(std::int64_t view, std::string_view ending) const {
    return scan_.folder / format("proj_{:04}.{}", view, ending);
  }

  std::string header(std::int64_t view) const {
    const CircularScan& c = scan_.options.scan;
    const double left = c.detector_shift_u_mm - 0.5 * static_cast<double>(c.columns - 1) * c.pixel_width_mm;
    const double bottom = -c.detector_shift_v_mm - 0.5 * static_cast<double>(c.rows - 1) * c.pixel_height_mm;
    return format(
        "<?xml version=\"1.0\"?>\n<image name=\"proj_{0:04}\" bitDepth=\"16\" pixelFormat=\"Type_uint16\" "
        "byteOrder=\"LSB\" modality=\"CT\" matrixTransform=\"1 0 0 {1:.17g} 0 1 0 {2:.17g} 0 0 1 0 0 0 0 1\" "
        "dimensions=\"3\" sequence=\"{0}\" rawFile=\"proj_{0:04}.raw\">\n<size x=\"{3}\" y=\"{4}\" z=\"1\"/>\n"
        "<spacing x=\"{5:.17g}\" y=\"{6:.17g}\" z=\"1\"/>\n</image>\n",
        view, left, bottom, scan_.columns, scan_.rows, c.pixel_width_mm, c.pixel_height_mm);
  }

  ScannerScan scan_;
};

}  // namespace

ScannerWriter iba_writer() { return {"iba", prepare_iba, make_files<IbaFiles>}; }

}  // namespace lepus
