// SPDX-License-Identifier: Apache-2.0
// Varian TrueBeam: Scan.xml, Acquisitions/1/Proj_00000.xim ..., and the air scan below Calibrations.
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "io/varian_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

constexpr double view_chamber = 90000;  // counts of the normalisation chamber, in every view

void prepare_varian(SimulationOptions& options) {
  require_circular_cone(options, "Varian");
  CircularScan& scan = options.scan;
  require_scanner_says(scan.pitch_rad == 0 && scan.yaw_rad == 0 && scan.in_plane_rad == 0, "Varian",
                       "a tilted detector");
  require_scanner_says(scan.axis_offset_mm == 0, "Varian", "an axis that lies beside the central ray");
  require_scanner_says(options.content == SimulatedContent::counts, "Varian", "frames of line integrals");
  scan.mirror_rows = true;
  options.darks = 0;  // the imager subtracts its own
  options.detector.offset_level = 0;
}

class VarianFiles final : public ScannerFiles {
public:
  explicit VarianFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    const std::filesystem::path folder = set == ImageSet::flats
                                             ? scan_.folder / "Calibrations/AIR-Full-Bowtie-100KV/Current"
                                             : scan_.folder / "Acquisitions/1";
    std::filesystem::create_directories(folder);
    if (set == ImageSet::flats) return std::make_unique<Air>(*this, folder / "FilterBowtie.xim", frames);
    return std::make_unique<Projections>(*this, folder);
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    write_file(
        scan_.folder / "Scan.xml",
        format("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Scan>\n  <Acquisitions>\n    <KiloVolts>{}</KiloVolts>\n"
               "    <Fan>Full</Fan>\n    <ImagerSizeX>{}</ImagerSizeX>\n    <ImagerSizeY>{}</ImagerSizeY>\n"
               "    <ImagerResX>{}</ImagerResX>\n    <ImagerResY>{}</ImagerResY>\n    <SAD>{}</SAD>\n"
               "    <SID>{}</SID>\n    <ImagerLat>{}</ImagerLat>\n  </Acquisitions>\n</Scan>\n",
               scan_.options.tube_kv, scan_.columns, scan_.rows, c.pixel_width_mm, c.pixel_height_mm, c.source_axis_mm,
               c.source_detector_mm, c.detector_shift_u_mm),
        false);
  }

private:
  std::vector<std::int32_t> as_integers(const void* pixels) const {
    const auto* counts = static_cast<const std::uint16_t*>(pixels);
    return {counts, counts + scan_.columns * scan_.rows};
  }
  void write_image(const std::filesystem::path& path, const std::vector<std::int32_t>& pixels, double angle_deg,
                   double chamber) const {
    const CircularScan& c = scan_.options.scan;
    const std::vector<XimProperty> properties{{"KVSourceRtn", 180 - angle_deg},
                                              {"KVDetectorLat", c.detector_shift_u_mm / 10},
                                              {"KVDetectorLng", -c.detector_shift_v_mm / 10},
                                              {"KVSourceVrt", c.source_axis_mm / 10},
                                              {"KVDetectorVrt", (c.source_axis_mm - c.source_detector_mm) / 10},
                                              {"PixelWidth", c.pixel_width_mm / 10},
                                              {"PixelHeight", c.pixel_height_mm / 10},
                                              {"KVKiloVolts", scan_.options.tube_kv},
                                              {"KVNormChamber", chamber}};
    write_file(path, xim_bytes(pixels.data(), scan_.columns, scan_.rows, properties), false);
  }

  class Projections final : public FrameWriter {
  public:
    Projections(const VarianFiles& to, std::filesystem::path folder) : to_(to), folder_(std::move(folder)) {}
    void write(const void* pixels) override {
      const double angle = degrees(to_.scan_.options.scan.angles_rad.at(written_));
      to_.write_image(folder_ / format("Proj_{:05}.xim", written_++), to_.as_integers(pixels), angle, view_chamber);
    }
    void finish() override {}

  private:
    const VarianFiles& to_;
    std::filesystem::path folder_;
    std::size_t written_ = 0;
  };

  // The air scan adds up its frames, and so does the chamber.
  class Air final : public FrameWriter {
  public:
    Air(const VarianFiles& to, std::filesystem::path file, std::int64_t frames)
        : to_(to), file_(std::move(file)), frames_(frames) {}
    void write(const void* pixels) override {
      const auto counts = to_.as_integers(pixels);
      sum_.resize(counts.size());
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += counts[i];
    }
    void finish() override { to_.write_image(file_, sum_, 0, view_chamber * static_cast<double>(frames_)); }

  private:
    const VarianFiles& to_;
    std::filesystem::path file_;
    std::int64_t frames_;
    std::vector<std::int32_t> sum_;
  };

  ScannerScan scan_;
};

}  // namespace

ScannerWriter varian_writer() {
  return {"varian", prepare_varian,
          [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> { return std::make_unique<VarianFiles>(scan); }};
}

}  // namespace lepus
