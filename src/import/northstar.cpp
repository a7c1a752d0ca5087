// SPDX-License-Identifier: Apache-2.0
// North Star Imaging: NAME.nsipro, lines "<name>value" between "<Section>" and "</Section>"; frames in Radiographs*/,
// gain0.tif, offset.tif and a list of defects in a folder beside them. docs/scanners/northstar.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/folder.h"
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

// Names have blanks, values stand behind them and need no end: no XML, though it looks so.
HeaderFields read_tagged_header(const fs::path& file) {
  const std::string text = read_header_text(file);
  std::vector<std::string_view> lines;
  std::set<std::string_view> sections;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(trimmed(std::string_view(text).substr(start, end - start)));
    start = end + 1;
    if (lines.back().starts_with("</") && lines.back().ends_with('>'))
      sections.insert(lines.back().substr(2, lines.back().size() - 3));
  }
  HeaderFields header(file);
  std::vector<std::string_view> open;
  int number = 0;
  for (const std::string_view line : lines) {
    ++number;
    const std::size_t end = line.find('>');
    if (!line.starts_with('<') || end == std::string_view::npos) continue;
    if (line.starts_with("</")) {
      if (!open.empty()) open.pop_back();
      continue;
    }
    const std::string_view name = line.substr(1, end - 1), value = trimmed(line.substr(end + 1));
    if (value.empty() && sections.contains(name) && open.size() < 64) {
      open.push_back(name);
      continue;
    }
    std::string path = open.empty() ? std::string() : std::string(open.back()) + "/";
    header.add(format("{}{}", path, name), value.substr(0, value.find("</")), number);
  }
  return header;
}

std::vector<double> numbers_in(HeaderFields& header, const std::string& name, const char* use, std::size_t count) {
  const auto text = header.text(name, use);
  if (!text) header.require_number(name, use);  // says that it is missing
  std::vector<double> numbers = parse_numbers(*text, name, header.file());
  if (numbers.size() < count || !std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
    header.fail(name, format("{} does not hold {} numbers", name, count), format("it is \"{}\"", *text),
                "correct the header");
  return numbers;
}

Vec3 vector_in(HeaderFields& header, const std::string& name, const char* use) {
  const auto v = numbers_in(header, name, use, 3);
  return {v[0], v[1], v[2]};
}

Vec3 direction_in(HeaderFields& header, const std::string& name, const char* use) {
  const Vec3 v = vector_in(header, name, use);
  const double length = norm(v);
  if (!(length > 0))
    header.fail(name, format("{} has no direction", name), "all its numbers are zero", "correct the header");
  return {v.x / length, v.y / length, v.z / length};
}

bool is_true(HeaderFields& header, const std::string& name, const char* use) {
  return lower_case(header.text(name, use).value_or("false")) == "true";
}

class NorthStar final : public Scanner {
public:
  std::string_view name() const override { return "northstar"; }
  std::string_view title() const override { return "North Star Imaging (.nsipro)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return headers_with(files, ".nsipro", "<");
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    HeaderFields header = read_tagged_header(file);
    ImportedScan scan;
    scan.scanner = "North Star Imaging";
    scan.header = file;
    read_frames(header, scan);
    read_geometry(header, scan, read_orientation(header, scan.text));
    scan.fields = header.fields();
    return scan;
  }

private:
  static void read_frames(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = header.require_count("Object Radiograph/number", "frames.views");
    const fs::path beside = header.file().parent_path();
    std::vector<fs::path> radiographs, gains, offsets, defects;
    for (const fs::path& folder : entries_of(beside)) {
      std::error_code ignored;
      if (!fs::is_directory(folder, ignored)) continue;
      if (folder.filename().string().starts_with("Radiographs")) radiographs.push_back(folder);
      if (fs::exists(folder / "gain0.tif", ignored)) gains.push_back(folder / "gain0.tif");
      if (fs::exists(folder / "offset.tif", ignored)) offsets.push_back(folder / "offset.tif");
      for (const fs::path& file : entries_of(folder))
        if (lower_extension(file) == ".defect") defects.push_back(file);
    }
    const ExpectedFrames expected{count, "number", header.where("Object Radiograph/number")};
    if (radiographs.size() > 1)
      header.fail("Object Radiograph/number", "several folders of radiographs lie beside the header",
                  format("{} and {}", radiographs[0].filename().string(), radiographs[1].filename().string()),
                  "leave only this scan's there");
    scan.text.set_files("frames.files",
                        find_series(radiographs.empty() ? beside / "Radiographs" : radiographs[0], {},
                                    {".tif", ".tiff"}, expected, scan.warnings),
                        "the folder of radiographs");
    scan.text.set("frames.views", count, "Object Radiograph/number");
    if (gains.size() == 1)
      scan.text.set_files("frames.flats", gains, "the gain image");
    else {
      scan.text.set("intensity.from", std::string("detector-maximum"), "no gain0.tif in a folder beside the header");
      scan.warnings.emplace_back(
          "there is no single gain0.tif in the folders beside the header: I0 is taken as the largest count of the "
          "detector");
    }
    if (offsets.size() == 1)
      scan.text.set_files("frames.darks", offsets, "the offset image");
    else
      scan.warnings.emplace_back(
          "there is no single offset.tif in the folders beside the header: the detector's offset is not taken off");
    if (!defects.empty())
      scan.text.append(format("[[correct]]\nkind = \"dead-pixels\"  # {} lists defects of the detector\n",
                              defects.front().filename().string()));
  }

  struct Orientation {
    bool turned = false;  // rows of the images are columns of the detector
  };

  // The images are flipped first, then turned clockwise; what is left of that are mirrored columns and rows of an
  // upright detector.
  static Orientation read_orientation(HeaderFields& header, ScanFileText& text) {
    const double rotate = header.number("Correction/rotate", "frames.axes").value_or(0);
    const bool flip_h = is_true(header, "Correction/flipH", "geometry.mirror_columns");
    const bool flip_v = is_true(header, "Correction/flipV", "geometry.mirror_rows");
    bool columns = flip_h, rows = flip_v;
    Orientation orientation;
    if (rotate == 180) {
      columns = !columns;
      rows = !rows;
    } else if (rotate == 90 || rotate == 270) {
      orientation.turned = true;
      columns = rotate == 90 ? !flip_v : flip_v;
      rows = rotate == 90 ? flip_h : !flip_h;
      text.set("frames.axes", std::string("view-column-row"), format("rotate = {:g}", rotate));
    } else if (rotate != 0) {
      header.fail("Correction/rotate", "the rotation of the radiographs is not understood",
                  format("rotate = {:g}", rotate), "it is 0, 90, 180 or 270; correct the header");
    }
    if (columns) text.set("geometry.mirror_columns", true, "rotate, flipH, flipV");
    if (rows) text.set("geometry.mirror_rows", true, "rotate, flipH, flipV");
    return orientation;
  }

  // Vectors from a point of the rotation axis: the source, the first pixel; directions of the axis, of the detector's
  // normal and of its rows. lepus has the axis upright: what the detector's axes say is turned by the angle between
  // them.
  static void read_geometry(HeaderFields& header, ImportedScan& scan, Orientation orientation) {
    ScanFileText& text = scan.text;
    const Vec3 source = vector_in(header, "Result/source", "geometry.source_axis_mm");
    const Vec3 first = vector_in(header, "Result/reference", "geometry.source_detector_mm");
    const Vec3 normal = direction_in(header, "Result/normal", "geometry.source_axis_mm");
    const Vec3 right = direction_in(header, "Result/horizontal", "geometry.in_plane_deg");
    Vec3 axis = direction_in(header, "Result/axis", "geometry.in_plane_deg");
    const Vec3 down = cross(normal, right);
    if (dot(axis, down) < 0) axis = {-axis.x, -axis.y, -axis.z};
    const auto pitch = numbers_in(header, "Object Radiograph/pitch", "geometry.pixel_width_mm", 2);
    std::int64_t columns = header.require_count("Detector/width pixels", "geometry.columns");
    std::int64_t rows = header.require_count("Detector/height pixels", "geometry.rows");
    if (orientation.turned) std::swap(columns, rows);
    if (std::abs(dot(right, normal)) > 1e-3)
      header.fail("Result/horizontal", "the rows of the detector are not in its plane",
                  "horizontal and normal are not perpendicular", "correct the header");

    const double source_axis = -dot(source, normal), source_detector = dot(first, normal) - dot(source, normal);
    if (!(source_axis > 0 && source_detector > source_axis))
      header.fail("Result/source", "source, axis and detector are not in this order",
                  format("along the normal the axis lies {:g} mm and the detector {:g} mm from the source", source_axis,
                         source_detector),
                  "correct the header");
    const double in_plane = std::atan2(dot(axis, right), dot(axis, down));
    const auto upright = [&](double along_right,
                             double along_down) {  // in the detector's axes -> along and across the axis
      return std::array{along_right * std::cos(in_plane) - along_down * std::sin(in_plane),
                        along_right * std::sin(in_plane) + along_down * std::cos(in_plane)};
    };
    const Vec3 ray{first.x - source.x, first.y - source.y, first.z - source.z};
    const auto middle = upright(dot(ray, right) + static_cast<double>(columns - 1) / 2 * pitch[0],
                                dot(ray, down) + static_cast<double>(rows - 1) / 2 * pitch[1]);
    const auto origin = upright(-dot(source, right), -dot(source, down));
    text.set("geometry.source_axis_mm", source_axis, "source, along normal");
    text.set("geometry.source_detector_mm", source_detector, "reference - source, along normal");
    text.set("geometry.columns", columns, "width pixels, height pixels, rotate");
    text.set("geometry.rows", rows, "width pixels, height pixels, rotate");
    text.set("geometry.pixel_width_mm", pitch[0], "pitch");
    text.set("geometry.pixel_height_mm", pitch[1], "pitch");
    text.set("geometry.detector_shift_u_mm", middle[0], "reference, source, pitch");
    text.set("geometry.detector_shift_v_mm", middle[1], "reference, source, pitch");
    if (origin[0] != 0) text.set("geometry.axis_offset_mm", origin[0], "source, along horizontal");
    if (in_plane != 0) text.set("geometry.in_plane_deg", degrees(in_plane), "axis against horizontal");
    if (const double lean = std::asin(std::clamp(dot(axis, normal), -1.0, 1.0)); std::abs(lean) > 1e-3)
      scan.warnings.push_back(
          format("the axis leans by {:.3g} degrees along the beam, which is not applied", degrees(lean)));

    const double step = header.require_length("Object Radiograph/angleStep", "geometry.angle_step_deg");
    text.set("geometry.angle_step_deg", step, "angleStep");
    const bool clockwise = is_true(header, "Processed/clockwise", "geometry.direction");
    text.set(
        "geometry.direction", std::string(clockwise ? "counter-clockwise" : "clockwise"),
        clockwise ? "clockwise = True: the object turned so" : "clockwise = False: the object turned the other way");
    if (const auto range = header.number("CT Project Configuration/Rotation range", ""); range) {
      const double covered = step * static_cast<double>(std::get<std::int64_t>(*text.find("frames.views")));
      if (covered < *range - 1.5 * step)
        header.fail("Object Radiograph/angleStep", "the views stop early",
                    format("number times angleStep is {:g} degrees, Rotation range is {:g}", covered, *range),
                    "did the scan stop early? Correct the header where it did");
    }
  }
};

}  // namespace

const Scanner& northstar_scanner() {
  static const NorthStar northstar;
  return northstar;
}

}  // namespace lepus
