// SPDX-License-Identifier: Apache-2.0
// Diondo: an XML file with <ScanParameter>, <Recon> and <Geometrie>, frames of 16 bits without a header in Projection/.
// docs/scanners/diondo.md.
#include "core/format.h"
#include "import/frame_series.h"
#include "import/scanner.h"
#include "io/file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

class Diondo final : public Scanner {
public:
  std::string_view name() const override { return "diondo"; }
  std::string_view title() const override { return "Diondo (.xml)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return headers_with(files, ".xml", "<Geometrie>");
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    HeaderFields header = read_xml_header(file);
    ImportedScan scan;
    scan.scanner = "Diondo";
    scan.header = file;
    for (const char* mode : {"ScanParameter/HelixMode", "ScanParameter/Laminography"})
      if (lower_case(header.text(mode, "").value_or("false")) == "true")
        header.fail(mode, format("{} is on", last_part(mode)), "lepus reads circular scans of Diondo alone",
                    "give the geometry as matrices in a scan file: docs/scan-file.md");
    read_frames(header, scan);
    read_geometry(header, scan);
    scan.warnings.emplace_back(
        "the header does not give I0: the largest count is taken; where air is not zero in the volume, give "
        "intensity.value");
    scan.warnings.emplace_back(unknown_direction);
    scan.fields = header.fields();
    return scan;
  }

private:
  static void read_frames(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = header.require_count("Recon/ProjectionCount", "frames.views");
    const std::int64_t columns = header.require_count("Recon/ProjectionDimX", "geometry.columns");
    const std::int64_t rows = header.require_count("Recon/ProjectionDimY", "geometry.rows");
    const fs::path folder = header.file().parent_path() / "Projection";
    const ExpectedFrames expected{count, "ProjectionCount", header.where("Recon/ProjectionCount")};
    scan.text.set_files("frames.files", find_series(folder, {}, {".raw"}, expected, scan.warnings),
                        "the folder Projection");
    scan.text.set("frames.views", count, "ProjectionCount");
    scan.text.set("frames.raw.columns", columns, "ProjectionDimX");
    scan.text.set("frames.raw.rows", rows, "ProjectionDimY");
    scan.text.set("frames.raw.type", std::string("uint16"), "Diondo's frames have 16 bits");
    scan.text.set("intensity.from", std::string("value"), "the scanner has corrected the frames by its flats");
    scan.text.set("intensity.value", 65535.0, "the largest count of 16 bits");
    scan.text.set("frames.saturation_level", 65536.0, "air at the largest count is no saturation");
    scan.text.set("geometry.columns", columns, "ProjectionDimX");
    scan.text.set("geometry.rows", rows, "ProjectionDimY");
  }

  static void read_geometry(HeaderFields& header, ImportedScan& scan) {
    ScanFileText& text = scan.text;
    const auto length = [&](const char* name, const char* key) {
      text.set(key, header.require_length(name, key), last_part(name));
    };
    length("Geometrie/SourceObjectDist", "geometry.source_axis_mm");
    length("Geometrie/SourceDetectorDist", "geometry.source_detector_mm");
    length("Recon/ProjectionPixelSizeX", "geometry.pixel_width_mm");
    length("Recon/ProjectionPixelSizeY", "geometry.pixel_height_mm");
    if (const double offset = header.number("Recon/ProjectionCenterOffsetX", "geometry.axis_offset_mm").value_or(0);
        offset != 0) {
      text.set("geometry.axis_offset_mm", offset, "ProjectionCenterOffsetX");
      scan.warnings.push_back(format(
          "ProjectionCenterOffsetX = {:g} is taken in mm; Diondo does not document it, and some take it in pixels: "
          "where the volume is blurred, `lepus center` finds axis_offset_mm",
          offset));
    }
    set_arc(header, text);
    text.set("geometry.direction", std::string("clockwise"), "as others read these headers");
    std::vector<double> voxel_mm;
    for (const char* axis : {"X", "Y", "Z"})
      if (const auto edge = header.number(format("Recon/VolumeVoxelSize{}", axis), "volume.voxel_mm");
          edge && *edge > 0)
        voxel_mm.push_back(*edge);
    if (voxel_mm.size() == 3) text.set("volume.voxel_mm", std::move(voxel_mm), "VolumeVoxelSizeX, Y, Z");
  }

  static void set_arc(HeaderFields& header, ScanFileText& text) {
    const std::string field = header.path_of("ProjectionCountPer360deg");
    const double views = static_cast<double>(header.require_count("Recon/ProjectionCount", "frames.views"));
    const double turn = header.number(field, "geometry.arc_deg").value_or(views);
    if (!(turn > 0))
      header.fail(field, "ProjectionCountPer360deg is not above zero", format("it is {}", turn), "correct the header");
    text.set("geometry.arc_deg", 360 * views / turn,
             turn == views ? "a full turn" : "360 degrees * ProjectionCount / ProjectionCountPer360deg");
  }
};

}  // namespace

const Scanner& diondo_scanner() {
  static const Diondo diondo;
  return diondo;
}

}  // namespace lepus
