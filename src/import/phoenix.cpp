// SPDX-License-Identifier: Apache-2.0
// GE phoenix, now Waygate: NAME.pca, frames NAME00001.tif or NAME_00001.tif that the scanner has corrected by its gain
// and offset images. docs/scanners/phoenix.md.
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

class Phoenix final : public Scanner {
public:
  std::string_view name() const override { return "phoenix"; }
  std::string_view title() const override { return "GE phoenix, Waygate (.pca)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return headers_with(files, ".pca", "[Geometry]");
  }

  ImportedScan read(const fs::path& file, const GivenNumbers& given) const override {
    HeaderFields header = read_ini_header(file);
    ImportedScan scan;
    scan.scanner = "GE phoenix " + header.text("General/SystemName", "").value_or("");
    scan.header = file;
    read_frames(header, scan);
    read_geometry(header, given, scan);
    scan.fields = header.fields();
    return scan;
  }

private:
  // With the object back at its start one frame more is taken; it is left out.
  static void read_frames(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = header.require_count("CT/NumberImages", "frames.views");
    const std::string stem = header.file().stem().string();
    const fs::path folder = header.file().parent_path();
    const std::vector<std::string> prefixes{stem, stem + "_"}, endings{".tif", ".tiff"};
    bool closing = false;
    for (const std::string& prefix : prefixes)
      closing = closing || static_cast<std::int64_t>(numbered_files(folder, prefix, endings).size()) == count + 1;
    const ExpectedFrames expected{closing ? count + 1 : count, closing ? "NumberImages + 1" : "NumberImages",
                                  header.where("CT/NumberImages")};
    scan.text.set_files("frames.files", find_series(folder, prefixes, endings, expected, scan.warnings),
                        "named as the header");
    scan.text.set("frames.views", expected.count,
                  closing ? "NumberImages, and the frame that closes the turn" : "NumberImages");
    if (closing) scan.text.set("frames.last_view", count - 1, "the closing frame is left out");
    if (const auto free_ray = header.number("Image/FreeRay", "intensity.value"); free_ray && *free_ray > 0) {
      scan.text.set("intensity.from", std::string("value"), "the scanner has corrected the frames by its gain images");
      scan.text.set("intensity.value", *free_ray, "FreeRay");
    } else {
      scan.text.set("intensity.from", std::string("detector-maximum"), "no FreeRay in the header");
      scan.warnings.emplace_back("the header gives no FreeRay: I0 is taken as the largest count of the detector");
    }
  }

  static void read_geometry(HeaderFields& header, const GivenNumbers& given, ImportedScan& scan) {
    ScanFileText& text = scan.text;
    const double fod = header.require_length("Geometry/FOD", "geometry.source_axis_mm");
    const double fdd = header.require_length("Geometry/FDD", "geometry.source_detector_mm");
    const std::int64_t columns = header.require_count("Image/DimX", "geometry.columns");
    const std::int64_t rows = header.require_count("Image/DimY", "geometry.rows");
    text.set("geometry.source_axis_mm", fod, "FOD");
    text.set("geometry.source_detector_mm", fdd, "FDD");
    text.set("geometry.columns", columns, "DimX");
    text.set("geometry.rows", rows, "DimY");
    const double magnification = given.source_detector_mm.value_or(fdd) / given.source_axis_mm.value_or(fod);
    const double own_width = pixel(header, "X", "geometry.pixel_width_mm", magnification, text);
    const double own_height = pixel(header, "Y", "geometry.pixel_height_mm", magnification, text);
    const double width = given.pixel_mm.value_or(own_width), height = given.pixel_mm.value_or(own_height);
    const auto shift = [&](const char* name, const char* key, std::int64_t pixels, double edge) {
      const double middle = static_cast<double>(pixels - 1) / 2;
      const double at = header.number(format("Geometry/{}", name), key).value_or(middle);
      if (at != middle) text.set(key, (middle - at) * edge, format("{}, the pixel that the central ray meets", name));
    };
    shift("cx", "geometry.detector_shift_u_mm", columns, width);
    shift("cy", "geometry.detector_shift_v_mm", rows, height);
    for (const auto& [name, key] :
         {std::pair{"Image/MirrorX", "geometry.mirror_columns"}, std::pair{"Image/MirrorY", "geometry.mirror_rows"}})
      if (header.number(name, key).value_or(0) != 0) text.set(key, true, last_part(name));
    if ((text.has("geometry.mirror_columns") && text.has("geometry.detector_shift_u_mm")) ||
        (text.has("geometry.mirror_rows") && text.has("geometry.detector_shift_v_mm")))
      scan.warnings.emplace_back(
          "cx and cy are taken as pixels of the mirrored image; GE does not document it: turn the sign of the "
          "detector's shift where the volume is blurred");
    for (const char* name : {"Geometry/DetectorRot", "Geometry/Tilt", "Image/Rotation"})
      if (const double angle = header.number(name, "").value_or(0); angle != 0)
        scan.warnings.push_back(
            format("{} = {:g} degrees is not applied: its direction is not documented", last_part(name), angle));

    const double arc = header.number("CT/RotationSector", "geometry.arc_deg").value_or(360);
    if (!(arc > 0))
      header.fail("CT/RotationSector", "RotationSector is not above zero", format("it is {}", arc),
                  "correct the header");
    const std::int64_t views = header.require_count("CT/NumberImages", "frames.views");
    text.set("geometry.angle_step_deg", arc / static_cast<double>(views), "RotationSector / NumberImages");
    if (const auto done = header.count("CT/NrImgDone", ""); done && *done + 1 < views)
      header.fail("CT/NrImgDone", "the scan stopped early", format("NrImgDone = {}, NumberImages = {}", *done, views),
                  "correct NumberImages to reconstruct what is there");
    scan.warnings.emplace_back(unknown_direction);
    scan.warnings.emplace_back(
        "the header does not say where the rotation axis is seen: `lepus center` finds it, or center = \"auto\"");
  }

  // The voxel is what was calibrated, with the binning in it; else the detector's own pixel.
  static double pixel(HeaderFields& header, const std::string& axis, const char* key, double magnification,
                      ScanFileText& text) {
    const std::string voxel = format("Geometry/VoxelSize{}", axis), own = format("Detector/Pixelsize{}", axis);
    if (const auto edge = header.number(voxel, key); edge && *edge > 0) {
      text.set(key, *edge * magnification, format("VoxelSize{}, magnified to the detector", axis));
      return *edge * magnification;
    }
    const double edge = header.require_length(own, key);
    text.set(key, edge, last_part(own));
    return edge;
  }
};

}  // namespace

const Scanner& phoenix_scanner() {
  static const Phoenix phoenix;
  return phoenix;
}

}  // namespace lepus
