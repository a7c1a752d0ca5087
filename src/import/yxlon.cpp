// SPDX-License-Identifier: Apache-2.0
// YXLON: ScanParameter.xml, frames in Projections/ or Projektionen/ as .tif, or as .raw from the bottom row up.
// docs/scanners/yxlon.md.
#include <cmath>

#include "core/format.h"
#include "import/frame_series.h"
#include "import/scanner.h"
#include "io/file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

std::string cone(std::string_view field) { return format("ConeBeamScanParameter/{}", field); }
std::string circle(std::string_view field) { return format("ConeBeamScanParameter/ScanTrajectory/{}", field); }
std::string adjustment(std::string_view field) { return format("ConeBeamScanParameter/DejustmentParameter/{}", field); }

class Yxlon final : public Scanner {
public:
  std::string_view name() const override { return "yxlon"; }
  std::string_view title() const override { return "YXLON (ScanParameter.xml)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return headers_with(files, ".xml", "<ConeBeamScanParameter");
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    HeaderFields header = read_xml_header(file);
    ImportedScan scan;
    scan.scanner = "YXLON";
    scan.header = file;
    constexpr const char* type = "ConeBeamScanParameter/ScanTrajectory@xsi:type";
    if (const auto said = header.text(type, "");
        said && said->substr(said->rfind(':') + 1) != "CircleTrajectory")  // npos + 1 is 0
      header.fail(type, "the trajectory is no circle", format("its xsi:type is \"{}\"", *said),
                  "give the geometry as matrices in a scan file: docs/scan-file.md");
    read_frames(header, scan);
    read_geometry(header, scan);
    scan.fields = header.fields();
    return scan;
  }

private:
  static void read_frames(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = header.require_count(circle("NumberOfProjections"), "frames.views");
    const std::int64_t columns = header.require_count(cone("ProjectionSize/Width"), "geometry.columns");
    const std::int64_t rows = header.require_count(cone("ProjectionSize/Height"), "geometry.rows");
    fs::path folder = header.file().parent_path();
    std::error_code code;
    for (const char* name : {"Projections", "Projektionen"})
      if (fs::is_directory(header.file().parent_path() / name, code)) folder = header.file().parent_path() / name;
    const ExpectedFrames expected{count, "NumberOfProjections", header.where(circle("NumberOfProjections"))};
    const auto files = find_series(folder, {}, {".tif", ".tiff", ".raw"}, expected, scan.warnings);
    scan.text.set_files("frames.files", files, folder.filename().string());
    scan.text.set("frames.views", count, "NumberOfProjections");
    scan.text.set("geometry.columns", columns, "ProjectionSize/Width");
    scan.text.set("geometry.rows", rows, "ProjectionSize/Height");
    const std::int64_t bits = header.count(cone("ProjectionBitdepth"), "intensity.value").value_or(16);
    if (bits < 1 || bits > 32)
      header.fail(cone("ProjectionBitdepth"), "ProjectionBitdepth is impossible", format("it is {}", bits),
                  "correct the header");
    const bool raw = lower_extension(files.front()) == ".raw";
    if (raw) {
      scan.text.set("frames.raw.columns", columns, "ProjectionSize/Width");
      scan.text.set("frames.raw.rows", rows, "ProjectionSize/Height");
      scan.text.set("frames.raw.type",
                    std::string(bits <= 8    ? "uint8"
                                : bits <= 16 ? "uint16"
                                             : "uint32"),
                    "ProjectionBitdepth");
    }
    const std::string flips =
        lower_case(header.text(cone("DetectorFlipDirections"), "geometry.mirror_columns").value_or("none"));
    const bool horizontal = flips == "horizontal" || flips == "both", vertical = flips == "vertical" || flips == "both";
    if (flips != "none" && !horizontal && !vertical)
      header.fail(cone("DetectorFlipDirections"), "the flip of the detector is not understood",
                  format("it is \"{}\"", flips), "write a scan file by hand: docs/scan-file.md");
    if (raw != vertical)
      scan.text.set("geometry.mirror_rows", true, raw ? "raw frames begin at the bottom" : "DetectorFlipDirections");
    if (horizontal) scan.text.set("geometry.mirror_columns", true, "DetectorFlipDirections");
    if (const auto orientation = header.text(cone("DetectorOrientation"), "");
        orientation && lower_case(*orientation) != "original")
      scan.warnings.push_back(format("DetectorOrientation = {} is not applied", *orientation));
    scan.text.set("intensity.from", std::string("value"), "the scanner has corrected the frames by its flats");
    scan.text.set("intensity.value", std::exp2(static_cast<double>(bits)) - 1,
                  "the largest count of ProjectionBitdepth");
    scan.text.set("frames.saturation_level", std::exp2(static_cast<double>(bits)),
                  "air at the largest count is no saturation");
    scan.warnings.emplace_back(
        "the header does not give I0: the largest count is taken; where air is not zero in the volume, give "
        "intensity.value");
  }

  // Lengths are in pixels of the trajectory, which PixelPitch gives in mm.
  static void read_geometry(HeaderFields& header, ImportedScan& scan) {
    ScanFileText& text = scan.text;
    const double pitch = header.require_length(circle("PixelPitch"), "geometry.source_axis_mm");
    text.set("geometry.source_axis_mm", pitch * header.require_length(circle("Fod"), "geometry.source_axis_mm"),
             "Fod times PixelPitch");
    text.set("geometry.source_detector_mm", pitch * header.require_length(circle("Fdd"), "geometry.source_detector_mm"),
             "Fdd times PixelPitch");
    text.set("geometry.pixel_width_mm", header.require_length(cone("PixelSize/Width"), "geometry.pixel_width_mm"),
             "PixelSize/Width");
    text.set("geometry.pixel_height_mm", header.require_length(cone("PixelSize/Height"), "geometry.pixel_height_mm"),
             "PixelSize/Height");
    const auto offset = [&](const std::string& name, const char* key, double sign) {
      if (const double value = header.number(name, key).value_or(0); value != 0)
        text.set(key, sign * pitch * value, format("{} times PixelPitch", last_part(name)));
    };
    offset(circle("YoCenter"), "geometry.axis_offset_mm", 1);
    offset(adjustment("HorizontalDetectorOffset"), "geometry.detector_shift_u_mm", -1);
    offset(adjustment("VerticalDetectorOffset"), "geometry.detector_shift_v_mm", 1);
    for (const char* tilt : {"DetectorTiltA", "DetectorTiltB", "DetectorTiltC"})
      if (const double angle = header.number(adjustment(tilt), "").value_or(0); angle != 0)
        scan.warnings.push_back(
            format("{} = {:g} degrees is not applied: YXLON does not document its axis", tilt, angle));
    const double arc = header.require_length(circle("Rotation"), "geometry.arc_deg");
    text.set("geometry.first_angle_deg",
             0 - header.number(circle("StartAngle"), "geometry.first_angle_deg").value_or(0), "-StartAngle");
    text.set("geometry.arc_deg", arc, "Rotation");
    text.set("geometry.direction", std::string("clockwise"), "as others read these headers");
    scan.warnings.emplace_back(unknown_direction);
  }
};

}  // namespace

const Scanner& yxlon_scanner() {
  static const Yxlon yxlon;
  return yxlon;
}

}  // namespace lepus
