// SPDX-License-Identifier: Apache-2.0
// Precision X-Ray X-RAD: scan.header and scan.img, flat and dark as one image each or more in files of the same kind.
#include "core/format.h"
#include "core/output_file.h"
#include "geometry/view_vectors.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_xrad(SimulationOptions& options) {
  require_scanner_says(options.scan.beam == Beam::cone && !options.scan.arc, "X-RAD", "a beam that is no cone");
  require_scanner_says(options.helix_pitch_mm == 0 && !options.jitter.known, "X-RAD", "deviations of single views");
  require_scanner_says(options.content == SimulatedContent::counts, "X-RAD", "frames of line integrals");
  require_scanner_says(!options.scan.mirror_columns && !options.scan.mirror_rows, "X-RAD", "frames that are mirrored");
  options.scan.mirror_rows = true;  // u_axis x v_axis points to the focus, as RTK's reader must have it
}

class XradImages final : public FrameWriter {
public:
  XradImages(const std::filesystem::path& path, std::int64_t frame_bytes, std::int64_t frames)
      : file_(path, false, frame_bytes * frames), frame_bytes_(frame_bytes) {}
  void write(const void* pixels) override { file_.append(pixels, frame_bytes_); }
  void finish() override { file_.commit(); }

private:
  PartialFile file_;
  std::int64_t frame_bytes_;
};

std::string vector_line(std::string_view field, Vec3 ours, double scale) {
  return format("CBCT.ProjectionGeometryArray.{}={:.17g} {:.17g} {:.17g}\n", field, -scale * ours.x, -scale * ours.y,
                -scale * ours.z);
}

class XradFiles final : public ScannerFiles {
public:
  explicit XradFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    const char* const name = set == ImageSet::views ? "scan" : set == ImageSet::flats ? "flat" : "dark";
    if (set != ImageSet::views) write_file(scan_.folder / format("{}.header", name), size_lines(frames), false);
    return std::make_unique<XradImages>(scan_.folder / format("{}.img", name),
                                        scan_.columns * scan_.rows * bytes_per_pixel(scan_.type), frames);
  }

  void finish() override {
    const ScanGeometry geometry = build_scan(scan_.options.scan);
    std::string text = size_lines(geometry.views());
    for (std::int64_t view = 0; view < geometry.views(); ++view) {
      const ViewVectors v = vectors_of(geometry, view, "X-RAD");
      constexpr double cm = 0.1;
      text += format("[iView3D(Projection {})]\n", view);
      text +=
          vector_line("u_axis", normalized(v.column_step_mm), 1) + vector_line("v_axis", normalized(v.row_step_mm), 1);
      text += vector_line("focus", v.source_mm, cm) + vector_line("center", v.middle_mm, cm);
      text += format("CBCT.ProjectionGeometryArray.u_off={:.17g}\nCBCT.ProjectionGeometryArray.v_off={:.17g}\n",
                     0.5 * static_cast<double>(scan_.columns - 1), 0.5 * static_cast<double>(scan_.rows - 1));
    }
    write_file(scan_.folder / "scan.header", text, false);
  }

private:
  std::string size_lines(std::int64_t images) const {
    const CircularScan& c = scan_.options.scan;
    return format(
        "[iView3D]\nCBCT.DimensionalAttributes.IDim={}\nCBCT.DimensionalAttributes.JDim={}\n"
        "CBCT.DimensionalAttributes.KDim={}\nCBCT.DimensionalAttributes.DataSize=6\n"
        "CBCT.DimensionalAttributes.PixelDimension_I_cm={:.17g}\n"
        "CBCT.DimensionalAttributes.PixelDimension_J_cm={:.17g}\nCBCT.DimensionalAttributes.PixelDimension_K_cm=0\n",
        scan_.columns, scan_.rows, images, c.pixel_width_mm / 10, c.pixel_height_mm / 10);
  }

  ScannerScan scan_;
};

}  // namespace

ScannerWriter xrad_writer() { return {"xrad", prepare_xrad, make_files<XradFiles>}; }

}  // namespace lepus
