// SPDX-License-Identifier: Apache-2.0
// North Star Imaging: scan.nsipro, Radiographs/scan_0000.tif ..., Corrections/gain0.tif and offset.tif.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_northstar(SimulationOptions& options) {
  require_circular_cone(options, "North Star");
  require_scanner_says(equal_step_deg(options, "North Star") > 0, "North Star", "views that run backwards");
  require_scanner_says(options.scan.angles_rad.front() == 0, "North Star", "a first angle that is not zero");
  options.flats = std::min<std::int64_t>(options.flats, 1);
  options.darks = std::min<std::int64_t>(options.darks, 1);
}

class NorthStarFiles final : public ScannerFiles {
public:
  explicit NorthStarFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    return file_series(scan_, frames, [folder = scan_.folder, set](std::int64_t i) {
      return set == ImageSet::views ? folder / "Radiographs" / format("scan_{:04}.tif", i)
                                    : folder / "Corrections" / (set == ImageSet::flats ? "gain0.tif" : "offset.tif");
    });
  }

  // Vectors in the axes of the detector, x along its rows, y down, z away from the source: it is the rotation axis that
  // leans.
  void finish() override {
    const CircularScan& c = scan_.options.scan;
    const double cosine = std::cos(c.in_plane_rad), sine = std::sin(c.in_plane_rad), offset = c.axis_offset_mm;
    const double source_x = -offset * cosine, source_y = offset * sine;
    const double middle_x = c.detector_shift_u_mm * cosine + c.detector_shift_v_mm * sine;
    const double middle_y = -c.detector_shift_u_mm * sine + c.detector_shift_v_mm * cosine;
    const double first_x = source_x + middle_x - 0.5 * static_cast<double>(c.columns - 1) * c.pixel_width_mm;
    const double first_y = source_y + middle_y - 0.5 * static_cast<double>(c.rows - 1) * c.pixel_height_mm;
    const double step = equal_step_deg(scan_.options, "North Star");
    std::string t = "<efX-CT Project>\r\n<CT Project Configuration>\r\n";
    t += format("<Rotation range>{}\r\n</CT Project Configuration>\r\n",
                step * static_cast<double>(c.angles_rad.size()));
    t += format("<Detector>\r\n<width pixels>{}\r\n<height pixels>{}\r\n</Detector>\r\n", c.columns, c.rows);
    t += format("<Object Radiograph>\r\n<pitch>{} {}\r\n<number>{}\r\n<angleStep>{}\r\n</Object Radiograph>\r\n",
                c.pixel_width_mm, c.pixel_height_mm, c.angles_rad.size(), step);
    t += "<Correction>\r\n<rotate>0\r\n<flipH>False\r\n<flipV>False\r\n</"
         "Correction>\r\n<Processed>\r\n<clockwise>True\r\n</Processed>\r\n";
    t += format(
        "<Result>\r\n<source>{} {} {}\r\n<reference>{} {} {}\r\n<axis>{} {} 0\r\n<normal>0 0 1\r\n<horizontal>1 0 "
        "0\r\n</Result>\r\n</efX-CT Project>\r\n",
        source_x, source_y, -c.source_axis_mm, first_x, first_y, c.source_detector_mm - c.source_axis_mm, sine, cosine);
    write_file(scan_.folder / "scan.nsipro", t, false);
  }

private:
  ScannerScan scan_;
};

}  // namespace

ScannerWriter northstar_writer() { return {"northstar", prepare_northstar, make_files<NorthStarFiles>}; }

}  // namespace lepus
