// SPDX-License-Identifier: Apache-2.0
// Nikon X-Tek: NAME.xtekct, frames NAME_0001.tif that the scanner has corrected by its flats, angles perhaps in
// _ctdata.txt or NAME.ang. docs/scanners/nikon.md derives the signs.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "import/frame_series.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/header_text.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

std::string xtek(std::string_view field) { return format("XTekCT/{}", field); }

// The second column of _ctdata.txt and .ang: "1 <tab> -0.05 <tab> 3.2", "NAME_0001.tif: -0.05". Headings are passed
// over.
std::vector<double> listed_angles_deg(const fs::path& file) {
  std::vector<double> angles;
  const std::string text = read_header_text(file);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = trimmed(std::string_view(text).substr(start, end - start));
    start = end + 1;
    if (lower_case(std::string(line)).find("angle") != std::string::npos) angles.clear();
    const std::size_t cut = std::min(line.find('\t'), line.find(": "));
    if (cut == std::string_view::npos) continue;
    line = trimmed(line.substr(cut + 1));
    if (const auto angle = header_number(line.substr(0, line.find_first_of("\t ")))) angles.push_back(*angle);
  }
  return angles;
}

// A list that begins again at 0 after 360 degrees: no step is half a turn.
void unwrap_turns(std::vector<double>& angles) {
  double turns_deg = 0;
  for (std::size_t i = 1; i < angles.size(); ++i) {
    const double step = angles[i] + turns_deg - angles[i - 1];
    if (std::abs(step) > 180) turns_deg -= 360 * std::round(step / 360);
    angles[i] += turns_deg;
  }
}

class Nikon final : public Scanner {
public:
  std::string_view name() const override { return "nikon"; }
  std::string_view title() const override { return "Nikon X-Tek (.xtekct)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return headers_with(files, ".xtekct", "[XTekCT]");
  }

  ImportedScan read(const fs::path& file, const GivenNumbers& given) const override {
    HeaderFields header = read_ini_header(file);
    ImportedScan scan;
    scan.scanner = "Nikon X-Tek";
    scan.header = file;
    read_frames(header, scan);
    read_geometry(header, given, scan);
    read_angles(header, scan);
    read_volume(header, scan);
    scan.fields = header.fields();
    return scan;
  }

private:
  static void read_frames(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = header.require_count(xtek("Projections"), "frames.views");
    const fs::path beside = header.file().parent_path();
    fs::path folder = beside;
    if (const auto name = header.text(xtek("InputFolderName"), "frames.files"); name && last_part(*name) != "..") {
      std::error_code code;
      if (fs::is_directory(beside / last_part(*name), code)) folder = beside / last_part(*name);
    }
    const std::string stem = header.text(xtek("Name"), "frames.files").value_or(header.file().stem().string());
    const std::string prefix = stem + header.text(xtek("InputSeparator"), "frames.files").value_or("_");
    const ExpectedFrames expected{count, "Projections", header.where(xtek("Projections"))};
    scan.text.set_files("frames.files", find_series(folder, {prefix}, {".tif", ".tiff"}, expected, scan.warnings),
                        "Name and InputSeparator");
    scan.text.set("frames.views", count, "Projections");
    if (const auto white = header.number(xtek("WhiteLevel"), "intensity.value"); white && *white > 0) {
      scan.text.set("intensity.from", std::string("value"), "the scanner has corrected the frames by its flats");
      scan.text.set("intensity.value", *white, "WhiteLevel");
    } else {
      scan.warnings.emplace_back("the header gives no WhiteLevel: I0 is taken as the largest count of the detector");
      scan.text.set("intensity.from", std::string("detector-maximum"), "no WhiteLevel in the header");
    }
  }

  static void read_geometry(HeaderFields& header, const GivenNumbers& given, ImportedScan& scan) {
    ScanFileText& text = scan.text;
    const auto length = [&](const std::optional<double>& said, const char* field, const char* key) {
      return said ? *said : header.require_length(xtek(field), key);
    };
    const double source_object = length(given.source_axis_mm, "SrcToObject", "geometry.source_axis_mm");
    const double source_detector = length(given.source_detector_mm, "SrcToDetector", "geometry.source_detector_mm");
    const std::int64_t rows = header.require_count(xtek("DetectorPixelsY"), "geometry.rows");
    const double pixel_height = length(given.pixel_mm, "DetectorPixelSizeY", "geometry.pixel_height_mm");
    const double top = header.number(xtek("CentreOfRotationTop"), "geometry.axis_offset_mm").value_or(0);
    const double bottom = header.number(xtek("CentreOfRotationBottom"), "geometry.axis_offset_mm").value_or(0);
    const auto object_offset = header.number(xtek("ObjectOffsetX"), "geometry.axis_offset_mm");
    const auto object_roll = header.number(xtek("ObjectRoll"), "geometry.in_plane_deg");
    const double tilt = radians(header.number(xtek("ObjectTilt"), "geometry.pitch_deg").value_or(0));

    // Older headers give the axis where the detector sees it, in mm on the detector.
    const double offset = object_offset.value_or((top + bottom) / 2 * source_object / source_detector);
    const double roll =
        object_roll ? radians(*object_roll) : -std::atan2(top - bottom, static_cast<double>(rows) * pixel_height);
    const std::string offset_from = object_offset ? "ObjectOffsetX" : "CentreOfRotationTop and Bottom";

    text.set("geometry.source_axis_mm", source_object * std::cos(tilt),
             tilt == 0 ? "SrcToObject" : "SrcToObject, ObjectTilt");
    text.set("geometry.source_detector_mm", source_detector * std::cos(tilt),
             tilt == 0 ? "SrcToDetector" : "SrcToDetector, ObjectTilt");
    text.set("geometry.columns", header.require_count(xtek("DetectorPixelsX"), "geometry.columns"), "DetectorPixelsX");
    text.set("geometry.rows", rows, "DetectorPixelsY");
    text.set("geometry.pixel_width_mm", length(given.pixel_mm, "DetectorPixelSizeX", "geometry.pixel_width_mm"),
             "DetectorPixelSizeX");
    text.set("geometry.pixel_height_mm", pixel_height, "DetectorPixelSizeY");
    text.set("geometry.mirror_columns", true, "X-Tek frames begin on the right as the source sees them");
    if (offset != 0)
      text.set("geometry.axis_offset_mm", -offset * std::cos(roll), offset_from + ", which grows with the columns");
    else
      scan.warnings.emplace_back(
          "the header puts the rotation axis exactly behind the middle column; where it was not "
          "measured, `lepus center` finds it");
    const double shift_u = header.number(xtek("DetectorOffsetX"), "geometry.detector_shift_u_mm").value_or(0);
    const double shift_v = header.number(xtek("DetectorOffsetY"), "geometry.detector_shift_v_mm").value_or(0);
    if (shift_u != 0)
      text.set("geometry.detector_shift_u_mm", -shift_u, "DetectorOffsetX, which grows with the columns");
    if (shift_v != 0 || tilt != 0)
      text.set("geometry.detector_shift_v_mm", -shift_v - source_detector * std::sin(tilt),
               tilt == 0 ? "DetectorOffsetY, which grows upwards" : "DetectorOffsetY, and ObjectTilt about the axis");
    if (shift_u != 0 || shift_v != 0)
      scan.warnings.emplace_back(
          "DetectorOffsetX and DetectorOffsetY are taken as growing with the columns and upwards; "
          "X-Tek does not document it: turn their signs where the volume is blurred");
    if (roll != 0)
      text.set("geometry.in_plane_deg", -degrees(roll), object_roll ? "ObjectRoll" : "CentreOfRotationTop and Bottom");
    if (tilt != 0) text.set("geometry.pitch_deg", degrees(tilt), "ObjectTilt");
  }

  static void read_angles(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = header.require_count(xtek("Projections"), "frames.views");
    const double first = header.number(xtek("InitialAngle"), "geometry.first_angle_deg").value_or(0) - 180;
    const auto said = header.number(xtek("AngularStep"), "geometry.angle_step_deg");
    if (said && *said == 0)
      header.fail(xtek("AngularStep"), "AngularStep is zero", "the views would all be the same", "correct the header");
    const double step = said.value_or(360.0 / static_cast<double>(count));
    if (!said) scan.warnings.emplace_back("the header gives no AngularStep: a full turn in equal steps is assumed");
    for (const fs::path& file : angle_files(header.file()))
      if (use_listed(file, count, first, step, scan)) return;
    const double sign = step < 0 ? -1 : 1;
    scan.text.set("geometry.first_angle_deg", sign * first,
                  "InitialAngle - 180 degrees, as X-Tek counts from the detector");
    scan.text.set("geometry.angle_step_deg", sign * step, said ? "AngularStep" : "360 degrees / Projections");
    if (sign < 0) scan.text.set("geometry.direction", std::string("clockwise"), "AngularStep is negative");
  }

  static std::vector<fs::path> angle_files(const fs::path& header) {
    const fs::path folder = header.parent_path();
    std::vector<fs::path> there;
    std::error_code code;
    for (const fs::path& file : {folder / "_ctdata.txt", folder / (header.stem().string() + "_ctdata.txt"),
                                 folder / (header.stem().string() + ".ang")})
      if (fs::is_regular_file(file, code)) there.push_back(file);
    return there;
  }

  // The lists count from anywhere and, in .ang, backwards: only the differences between views are taken, in the
  // direction of AngularStep. A list that says something else than the header is an error: one of them is wrong.
  static bool use_listed(const fs::path& file, std::int64_t count, double first, double step, ImportedScan& scan) {
    std::vector<double> angles = listed_angles_deg(file);
    if (angles.empty()) {
      scan.warnings.push_back(format("{} lists no angles and is left out", file.filename().string()));
      return false;
    }
    const auto found = static_cast<std::int64_t>(angles.size());
    if (found != count)
      throw Error(ErrorKind::input,
                  {.what = found < count ? "the angles stop early" : "there are more angles than views",
                   .where = file.string(),
                   .why = format("it lists {} angles, the header says Projections = {}", found, count),
                   .hint = "restore the file; or move it away, and the views stand in equal steps"});
    unwrap_turns(angles);
    const double whole = angles.back() - angles.front(), expected = step * static_cast<double>(count - 1);
    const double direction = whole * expected < 0 ? -1 : 1;
    double farthest = 0;
    const double start = angles.front();
    for (std::size_t i = 0; i < angles.size(); ++i) {
      angles[i] = first + direction * (angles[i] - start);
      farthest = std::max(farthest, std::abs(angles[i] - first - step * static_cast<double>(i)));
    }
    constexpr double steps_apart = 2;  // a table that lags behind; a list of another scan lies far beyond
    if (farthest > steps_apart * std::abs(step) + 1e-9)
      throw Error(ErrorKind::input,
                  {.what = "the list of angles contradicts the header",
                   .where = file.string(),
                   .why = format("a view lies {:.4g} degrees from where AngularStep = {:g} puts it", farthest, step),
                   .hint = "is it the list of another scan? Move it away, or correct AngularStep"});
    scan.text.set("geometry.angles_deg", std::move(angles),
                  format("{}, from InitialAngle - 180 degrees on", file.filename().string()));
    return true;
  }

  // The region that was reconstructed on the scanner, where it is centred: its axes are not ours.
  static void read_volume(HeaderFields& header, ImportedScan& scan) {
    std::vector<std::int64_t> size;
    std::vector<double> voxel_mm;
    bool centred = true;
    for (const char* axis : {"X", "Y", "Z"}) {
      const auto voxels = header.count(xtek(format("Voxels{}", axis)), "volume.size");
      const auto edge = header.number(xtek(format("VoxelSize{}", axis)), "volume.voxel_mm");
      if (voxels && *voxels > 0) size.push_back(*voxels);
      if (edge && *edge > 0) voxel_mm.push_back(*edge);
      centred = centred && header.number(xtek(format("Offset{}", axis)), "volume.size").value_or(0) == 0;
    }
    if (voxel_mm.size() == 3) scan.text.set("volume.voxel_mm", std::move(voxel_mm), "VoxelSizeX, Y, Z");
    if (size.size() == 3 && size[0] == size[1] && centred)
      scan.text.set("volume.size", std::move(size), "VoxelsX, Y, Z");
  }
};

}  // namespace

const Scanner& nikon_scanner() {
  static const Nikon nikon;
  return nikon;
}

}  // namespace lepus
