// SPDX-License-Identifier: Apache-2.0
// ESRF EDF: scan.info, scan0000.edf ..., the mean flat as refHST0000.edf, the sum of the darks as darkend0000.edf.
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "io/edf_file.h"
#include "simulate/scan_text.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_edf(SimulationOptions& options) {
  const CircularScan& scan = options.scan;
  require_circular_orbit(options, "EDF");
  require_scanner_says(scan.beam == Beam::parallel, "EDF", "a beam that is not parallel");
  require_scanner_says(scan.pitch_rad == 0 && scan.yaw_rad == 0 && scan.in_plane_rad == 0, "EDF", "a tilted detector");
  require_scanner_says(scan.pixel_width_mm == scan.pixel_height_mm, "EDF", "pixels that are no squares");
  require_scanner_says(scan.detector_shift_v_mm == 0, "EDF", "a detector that is shifted along the axis");
  require_scanner_says(has_equal_steps(scan.angles_rad) && scan.angles_rad.front() == 0, "EDF",
                       "angles that are not in equal steps from 0");
  require_scanner_says(options.content == SimulatedContent::counts, "EDF", "frames of line integrals");
}

class EdfFiles final : public ScannerFiles {
public:
  explicit EdfFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    if (set == ImageSet::views) return std::make_unique<Views>(scan_);
    if (set == ImageSet::darks) dark_images_ = frames;
    return set == ImageSet::flats ? std::make_unique<Sum>(scan_, "refHST0000.edf", 1 / static_cast<double>(frames))
                                  : std::make_unique<Sum>(scan_, "darkend0000.edf", 1.0);
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    const auto views = c.angles_rad.size();
    const double step = views > 1 ? c.angles_rad[1] - c.angles_rad[0] : pi;
    write_file(scan_.folder / "scan.info",
               format("Energy=                   {}\nPrefix=                   scan\nScanNo=                   1\n"
                      "TOMO_N=                   {}\nREF_ON=                   {}\nREF_N=                    {}\n"
                      "DARK_N=                   {}\nDim_1=                    {}\nDim_2=                    {}\n"
                      "PixelSize=                {}\nScanRange=                {}\n",
                      scan_.options.tube_kv, views, views, scan_.options.flats, dark_images_, scan_.columns, scan_.rows,
                      1000 * c.pixel_width_mm, -degrees(step) * static_cast<double>(views)),
               false);
  }

private:
  class Views final : public FrameWriter {
  public:
    explicit Views(const ScannerScan& scan) : scan_(scan) {}
    void write(const void* pixels) override {
      const std::string header = edf_header(scan_.columns, scan_.rows, scan_.type, {});
      write_file(
          scan_.folder / format("scan{:04}.edf", written_++),
          header + std::string(static_cast<const char*>(pixels),
                               static_cast<std::size_t>(scan_.columns * scan_.rows * bytes_per_pixel(scan_.type))),
          false);
    }
    void finish() override {}

  private:
    const ScannerScan& scan_;
    std::int64_t written_ = 0;
  };

  class Sum final : public FrameWriter {
  public:
    Sum(const ScannerScan& scan, std::string name, double factor)
        : scan_(scan),
          name_(std::move(name)),
          factor_(factor),
          sum_(static_cast<std::size_t>(scan.columns * scan.rows)) {}
    void write(const void* pixels) override {
      const auto* counts = static_cast<const std::uint16_t*>(pixels);
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += counts[i];
    }
    void finish() override {
      std::string bytes = edf_header(scan_.columns, scan_.rows, PixelType::f32, {});
      for (const double value : sum_) {
        const auto scaled = static_cast<float>(value * factor_);
        bytes.append(reinterpret_cast<const char*>(&scaled), sizeof scaled);
      }
      write_file(scan_.folder / name_, bytes, false);
    }

  private:
    const ScannerScan& scan_;
    std::string name_;
    double factor_;
    std::vector<double> sum_;
  };

  ScannerScan scan_;
  std::int64_t dark_images_ = 0;
};

}  // namespace

ScannerWriter edf_writer() {
  return {"edf", prepare_edf,
          [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> { return std::make_unique<EdfFiles>(scan); }};
}

}  // namespace lepus
