// SPDX-License-Identifier: Apache-2.0
// Zeiss Xradia: scan.txrm with the views, the mean of the flats, angles, distances and shifts.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "io/byte_text.h"
#include "io/ole_writer.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_zeiss(SimulationOptions& options) {
  CircularScan& scan = options.scan;
  require_circular_orbit(options, "Zeiss");
  require_scanner_says(scan.beam != Beam::fan, "Zeiss", "a fan beam");
  require_scanner_says(scan.pitch_rad == 0 && scan.yaw_rad == 0 && scan.in_plane_rad == 0, "Zeiss",
                       "a tilted detector");
  require_scanner_says(scan.pixel_width_mm == scan.pixel_height_mm, "Zeiss", "pixels that are no squares");
  require_scanner_says(scan.axis_offset_mm == 0, "Zeiss", "an axis that lies beside the central ray");
  require_scanner_says(options.content == SimulatedContent::counts, "Zeiss", "frames of line integrals");
  options.darks = 0;  // the camera subtracts its own
  options.detector.offset_level = 0;
}

class ZeissFiles final : public ScannerFiles {
public:
  explicit ZeissFiles(const ScannerScan& scan)
      : scan_(scan), file_(scan.folder / "scan.txrm", false, image_bytes() * views() + (1 << 20)) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    if (set == ImageSet::flats) return std::make_unique<MeanFlat>(*this, frames);
    return std::make_unique<Views>(*this);
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    const bool cone = c.beam == Beam::cone;
    const double magnification = cone ? c.source_detector_mm / c.source_axis_mm : 1;
    const std::size_t count = c.angles_rad.size();
    integer("ImageInfo/NoOfImages", views());
    integer("ImageInfo/ImagesTaken", views());
    integer("ImageInfo/ImageWidth", scan_.columns);
    integer("ImageInfo/ImageHeight", scan_.rows);
    integer("ImageInfo/DataType", 5);
    integer("ImageInfo/AcquisitionMode", 0);
    integer("ImageInfo/XrayGeometry", cone ? 1 : 2);
    std::vector<double> angles;
    for (const double angle : c.angles_rad) angles.push_back(-degrees(angle));
    floats("ImageInfo/Angles", angles);
    floats("ImageInfo/PixelSize", {1000 * c.pixel_width_mm / magnification});
    floats("ImageInfo/CamPixelSize", {1000 * c.pixel_width_mm});
    floats("ImageInfo/StoRADistance", std::vector<double>(count, cone ? -c.source_axis_mm : 1));
    floats("ImageInfo/DtoRADistance", std::vector<double>(count, cone ? c.source_detector_mm - c.source_axis_mm : 1));
    floats("ImageInfo/Voltage", {scan_.options.tube_kv});
    floats("ReconSettings/CenterShift", {c.detector_shift_u_mm / c.pixel_width_mm});
    floats("Alignment/X-Shifts", std::vector<double>(count, 0));
    floats("Alignment/Y-Shifts", std::vector<double>(count, c.detector_shift_v_mm / c.pixel_height_mm));
    file_.add("SampleInfo/Facility", std::string("lepus simulate").append(36, '\0'));
    floats("Version", {3});
    file_.finish();
  }

private:
  std::int64_t image_bytes() const { return scan_.columns * scan_.rows * bytes_per_pixel(scan_.type); }
  std::int64_t views() const { return static_cast<std::int64_t>(scan_.options.scan.angles_rad.size()); }
  void integer(const std::string& name, std::int64_t value) {
    std::string bytes;
    append_number(bytes, static_cast<std::int32_t>(value));
    file_.add(name, std::move(bytes));
  }
  void floats(const std::string& name, const std::vector<double>& values) {
    std::string bytes;
    for (const double value : values) append_number(bytes, static_cast<float>(value));
    file_.add(name, std::move(bytes));
  }

  class Views final : public FrameWriter {
  public:
    explicit Views(ZeissFiles& to) : to_(to) {}
    void write(const void* pixels) override {
      ++written_;
      to_.file_.add(format("ImageData{}/Image{}", (written_ + 99) / 100, written_),
                    std::string(static_cast<const char*>(pixels), static_cast<std::size_t>(to_.image_bytes())));
    }
    void finish() override {}

  private:
    ZeissFiles& to_;
    std::int64_t written_ = 0;
  };

  // The microscope keeps the mean of its flats, as float.
  class MeanFlat final : public FrameWriter {
  public:
    MeanFlat(ZeissFiles& to, std::int64_t frames)
        : to_(to), frames_(frames), sum_(static_cast<std::size_t>(to.scan_.columns * to.scan_.rows)) {}
    void write(const void* pixels) override {
      const auto* counts = static_cast<const std::uint16_t*>(pixels);
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += counts[i];
    }
    void finish() override {
      for (double& value : sum_) value /= static_cast<double>(frames_);
      to_.floats("ReferenceData/Image", sum_);
      to_.integer("ReferenceData/DataType", 10);
    }

  private:
    ZeissFiles& to_;
    std::int64_t frames_;
    std::vector<double> sum_;
  };

  ScannerScan scan_;
  OleWriter file_;
};

}  // namespace

ScannerWriter zeiss_writer() {
  return {"zeiss", prepare_zeiss,
          [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> { return std::make_unique<ZeissFiles>(scan); }};
}

}  // namespace lepus
