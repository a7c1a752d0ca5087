// SPDX-License-Identifier: Apache-2.0
// Bruker SkyScan: PREFIX.log, frames PREFIX0000.tif that the scanner has corrected by its flats, shifts of single
// frames perhaps in PREFIX_TS.csv. docs/scanners/skyscan.md.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "import/frame_series.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/header_text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

constexpr double parallel_beyond_mm = 1e5;  // logs of parallel beams write 1000000

std::string taken(std::string_view field) { return format("Acquisition/{}", field); }

// "4x4" -> 4; 1 where nothing is said.
double binning_of(const std::string& text) {
  return header_number(text.substr(0, text.find_first_of("xX"))).value_or(1);
}

struct FrameShifts {
  std::vector<double> x_px, y_px;
};

// Lines of number, x, y: by how many pixels the image lies to the right and below. Headings are passed over.
FrameShifts read_shifts(const fs::path& file) {
  FrameShifts shifts;
  const std::string text = read_header_text(file);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = trimmed(std::string_view(text).substr(start, end - start));
    start = end + 1;
    const char separator = line.find(';') != std::string_view::npos    ? ';'
                           : line.find('\t') != std::string_view::npos ? '\t'
                                                                       : ',';
    std::vector<double> numbers;
    while (!line.empty()) {
      const std::size_t cut = std::min(line.find(separator), line.size());
      const auto number = header_number(line.substr(0, cut));
      if (!number) break;
      numbers.push_back(*number);
      line.remove_prefix(std::min(cut + 1, line.size()));
    }
    if (numbers.size() < 3) continue;
    shifts.x_px.push_back(numbers[1]);
    shifts.y_px.push_back(numbers[2]);
  }
  return shifts;
}

class SkyScan final : public Scanner {
public:
  std::string_view name() const override { return "skyscan"; }
  std::string_view title() const override { return "Bruker SkyScan (.log)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    std::vector<fs::path> found;
    for (const fs::path& file : files)  // PREFIX_rec.log describes a volume
      if (lower_extension(file) == ".log" && !file.stem().string().ends_with("_rec") &&
          begins_with_text(file, "[Acquisition]"))
        found.push_back(file);
    return found;
  }

  ImportedScan read(const fs::path& file, const GivenNumbers& given) const override {
    HeaderFields header = read_ini_header(file);
    ImportedScan scan;
    scan.scanner = header.text("System/Scanner", "").value_or("Bruker SkyScan");
    scan.header = file;
    read_frames(header, scan);
    read_geometry(header, given, scan);
    read_angles(header, scan);
    scan.fields = header.fields();
    return scan;
  }

private:
  static void read_frames(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = header.require_count(taken("Number of Files"), "frames.views");
    const std::string prefix =
        header.text(taken("Filename Prefix"), "frames.files").value_or(header.file().stem().string());
    const ExpectedFrames expected{count, "Number of Files", header.where(taken("Number of Files"))};
    scan.text.set_files("frames.files",
                        find_series(header.file().parent_path(), {prefix}, {".tif", ".tiff"}, expected, scan.warnings),
                        "Filename Prefix");
    scan.text.set("frames.views", count, "Number of Files");
    if (lower_case(header.text(taken("Flat Field Correction"), "").value_or("ON")) != "on")
      scan.warnings.emplace_back(
          "Flat Field Correction was off: the frames are not divided by flats; name them with "
          "frames.flats where there are any");
    const auto depth = header.count(taken("Depth (bits)"), "intensity.value");
    if (const auto reference = header.number(taken("Reference Intensity"), "intensity.value");
        reference && *reference > 0) {
      scan.text.set("intensity.from", std::string("value"), "the scanner has corrected the frames by its flats");
      scan.text.set("intensity.value", *reference, "Reference Intensity");
    } else if (depth && *depth >= 1 && *depth <= 32) {
      scan.text.set("intensity.from", std::string("value"), "the scanner has corrected the frames by its flats");
      scan.text.set("intensity.value", std::exp2(static_cast<double>(*depth)) - 1, "the largest count of Depth (bits)");
      scan.warnings.emplace_back(
          "the header gives no Reference Intensity: I0 is taken as the largest count; where air is "
          "not zero in the volume, give intensity.value");
    } else {
      scan.text.set("intensity.from", std::string("detector-maximum"), "neither Reference Intensity nor Depth (bits)");
      scan.warnings.emplace_back(
          "the header gives neither Reference Intensity nor Depth (bits): I0 is taken as the largest count");
    }
  }

  static void read_geometry(HeaderFields& header, const GivenNumbers& given, ImportedScan& scan) {
    ScanFileText& text = scan.text;
    const std::int64_t rows = header.require_count(taken("Number of Rows"), "geometry.rows");
    text.set("geometry.columns", header.require_count(taken("Number of Columns"), "geometry.columns"),
             "Number of Columns");
    text.set("geometry.rows", rows, "Number of Rows");
    const double object = given.source_axis_mm
                              ? *given.source_axis_mm
                              : header.require_length(taken("Object to Source (mm)"), "geometry.source_axis_mm");
    const auto camera = header.number(taken("Camera to Source (mm)"), "geometry.source_detector_mm");
    const auto image_um = header.number(taken("Image Pixel Size (um)"), "geometry.pixel_width_mm");
    const double binning = binning_of(header.text(taken("Camera binning"), "geometry.pixel_width_mm").value_or("1x1"));
    const auto camera_um = header.number("System/Camera Pixel Size (um)", "geometry.pixel_width_mm");
    const bool parallel = given.parallel || object >= parallel_beyond_mm;
    double pixel_mm = 0;
    if (parallel) {
      if (!image_um && !given.pixel_mm)
        header.require_length(taken("Image Pixel Size (um)"), "geometry.pixel_width_mm");
      pixel_mm = image_um.value_or(0) / 1000;
      text.set("geometry.beam", std::string("parallel"), format("Object to Source is {:g} mm", object));
      text.set("geometry.pixel_width_mm", pixel_mm, "Image Pixel Size");
    } else {
      double detector = given.source_detector_mm.value_or(camera.value_or(0));
      std::string from = "Camera to Source";
      if (!(detector > 0)) {
        if (!image_um || !camera_um || !(*image_um > 0))
          header.require_length(taken("Camera to Source (mm)"), "geometry.source_detector_mm");
        detector = object * *camera_um * binning / *image_um;
        from = "Object to Source, Camera Pixel Size / Image Pixel Size";
      }
      text.set("geometry.source_axis_mm", object, "Object to Source");
      text.set("geometry.source_detector_mm", detector, from);
      // The pixel in the object is what was calibrated; the camera's own may lie behind optics.
      if (image_um && *image_um > 0) {
        pixel_mm = *image_um / 1000 * (detector / object);
        text.set("geometry.pixel_width_mm", pixel_mm, "Image Pixel Size, magnified to the camera");
      } else {
        if (!given.pixel_mm) header.require_length("System/Camera Pixel Size (um)", "geometry.pixel_width_mm");
        pixel_mm = camera_um.value_or(0) / 1000 * binning;
        text.set("geometry.pixel_width_mm", pixel_mm, "Camera Pixel Size and Camera binning");
      }
    }
    pixel_mm = given.pixel_mm.value_or(pixel_mm);
    const std::string ratio_name =
        header.has("System/CameraXYRatio") ? "System/CameraXYRatio" : "System/Camera X/Y Ratio";
    const double ratio = header.number(ratio_name, "geometry.pixel_height_mm").value_or(1);
    if (!(ratio > 0))
      header.fail(ratio_name, "CameraXYRatio is not above zero", format("it is {}", ratio), "correct the header");
    const double height_mm = given.pixel_mm ? pixel_mm : pixel_mm / ratio;
    if (ratio != 1 && !given.pixel_mm) {
      text.set("geometry.pixel_height_mm", height_mm, "pixel_width_mm / CameraXYRatio");
      scan.warnings.push_back(format("CameraXYRatio = {:g} is taken as width / height of a pixel", ratio));
    }
    if (const auto line = header.number(taken("Optical Axis (line)"), "geometry.detector_shift_v_mm");
        line && !parallel) {
      const double middle = static_cast<double>(rows - 1) / 2, row = static_cast<double>(rows - 1) - *line;
      text.set("geometry.detector_shift_v_mm", (middle - row) * height_mm,
               "Optical Axis (line), counted from the bottom as NRecon counts slices");
      if (std::abs(row - middle) > 1)
        scan.warnings.push_back(format(
            "Optical Axis (line) = {:g} is counted from the bottom row; the log does not say so: change the sign "
            "of detector_shift_v_mm where slices away from the middle are blurred",
            *line));
    }
    if (const double turn = header.number(taken("Image Rotation"), "").value_or(0); turn != 0)
      scan.warnings.push_back(
          format("Image Rotation = {:g} degrees is not applied: the log does not say whether the "
                 "frames are turned already; `lepus center` finds it",
                 turn));
    if (header.number(taken("Number Of Horizontal Offset Positions"), "").value_or(1) > 1)
      scan.warnings.emplace_back(
          "the camera stood at several horizontal positions; the frames are taken as joined already");
    scan.warnings.emplace_back(
        "the log does not say where the rotation axis is seen: `lepus center` finds it, or center = \"auto\"");
    read_shift_file(header, pixel_mm, height_mm, scan);
  }

  static void read_shift_file(const HeaderFields& header, double width_mm, double height_mm, ImportedScan& scan) {
    const fs::path folder = header.file().parent_path();
    const std::string stem = header.file().stem().string();
    for (const fs::path& file : {folder / (stem + "_TS.csv"), folder / (stem + "_sTS.csv"), folder / (stem + ".csv")}) {
      std::error_code code;
      if (!fs::is_regular_file(file, code)) continue;
      const FrameShifts shifts = read_shifts(file);
      const auto count = std::get<std::int64_t>(*scan.text.find("frames.views"));
      if (static_cast<std::int64_t>(shifts.x_px.size()) != count)
        throw Error(ErrorKind::input,
                    {.what = "the shifts do not match the frames",
                     .where = file.string(),
                     .why = format("it has {} lines of numbers, there are {} frames", shifts.x_px.size(), count),
                     .hint = "restore the file, or move it away to use the frames as they are"});
      // An image that lies further to the right was taken by a detector further to the left.
      std::vector<double> u, v;
      for (std::size_t i = 0; i < shifts.x_px.size(); ++i) {
        u.push_back(-shifts.x_px[i] * width_mm);
        v.push_back(-shifts.y_px[i] * height_mm);
      }
      scan.text.set("geometry.view_shifts_u_mm", std::move(u),
                    format("{}, x in pixels to the right", file.filename().string()));
      scan.text.set("geometry.view_shifts_v_mm", std::move(v),
                    format("{}, y in pixels downwards", file.filename().string()));
      scan.warnings.push_back(
          format("the shifts of {} are taken as those of the images, to the right and downwards; "
                 "Bruker does not document it",
                 file.filename().string()));
      return;
    }
  }

  static void read_angles(HeaderFields& header, ImportedScan& scan) {
    const double step = header.require_length(taken("Rotation Step (deg)"), "geometry.angle_step_deg");
    const bool clockwise =
        lower_case(header.text(taken("Rotation Direction"), "geometry.direction").value_or("CC")) == "cw";
    const double first = header.number(taken("Scanning Start Angle"), "geometry.first_angle_deg").value_or(0);
    scan.text.set("geometry.first_angle_deg", clockwise ? -first : first,
                  header.has(taken("Scanning Start Angle")) ? "Scanning Start Angle" : "the log gives no start");
    scan.text.set("geometry.angle_step_deg", step, "Rotation Step");
    scan.text.set("geometry.direction", std::string(clockwise ? "clockwise" : "counter-clockwise"),
                  clockwise ? "Rotation Direction = CW" : "Rotation Direction = CC");
    const double arc = step * static_cast<double>(std::get<std::int64_t>(*scan.text.find("frames.views")));
    const bool full = lower_case(header.text(taken("Use 360 Rotation"), "").value_or("")) == "yes";
    if (full && arc < 360 - 1.5 * step)
      header.fail(taken("Rotation Step (deg)"), "the views stop early",
                  format("Use 360 Rotation = YES, but Number of Files times Rotation Step is {:g} degrees", arc),
                  "did the scan stop early? Correct the header where it did");
    if (!full && arc < 180)
      scan.warnings.push_back(format("the views cover {:g} degrees only: less than half a turn", arc));
  }
};

}  // namespace

const Scanner& skyscan_scanner() {
  static const SkyScan skyscan;
  return skyscan;
}

}  // namespace lepus
