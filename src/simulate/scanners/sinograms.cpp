// SPDX-License-Identifier: Apache-2.0
// Sinograms as laboratory systems keep them, in the example layout of docs/formats.md: scan_0000.sin for detector row 0
// over all views, and so on; flat_0000.sin and dark_0000.sin hold the rows of the flats and darks in the same way.
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/format.h"
#include "core/output_file.h"
#include "io/labelled_image.h"
#include "io/sinogram_example.h"
#include "simulate/scan_text.h"
#include "simulate/scanners/scanner_files.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void prepare_sinograms(SimulationOptions& options) {
  require_circular_orbit(options, "the example of sinograms");
  require_scanner_says(options.scan.beam != Beam::fan, "the example of sinograms", "a stack of fans");
  (void)equal_step_deg(options, "the example of sinograms");
}

std::string number_text(double value) { return format("{:.17g}", value); }

// Views come one after another, files are rows: so many views wait in memory that every file is opened seldom.
class SinogramFiles final : public FrameWriter {
public:
  SinogramFiles(const ScannerScan& scan, std::string prefix, std::vector<Label> labels, bool text_pixels)
      : scan_(scan), prefix_(std::move(prefix)), labels_(std::move(labels)), text_pixels_(text_pixels) {
    for (std::int64_t row = 0; row < scan_.rows; ++row) {
      std::vector<Label> header = labels_;
      header.insert(header.begin() + 2, {"row", std::to_string(row), 0});
      append(row, label_lines(header) + sinogram_example::header_end + "\n");
    }
  }

  void write(const void* pixels) override {
    const auto* bytes = static_cast<const char*>(pixels);
    waiting_.insert(waiting_.end(), bytes, bytes + frame_bytes());
    if (waiting_.size() >= maximum_waiting) flush();
  }

  void finish() override {
    flush();
    for (std::int64_t row = 0; row < scan_.rows; ++row)
      append(row, label_lines({{"tube_kv", number_text(scan_.options.tube_kv), 0}, {"end", std::to_string(row), 0}}));
  }

private:
  static constexpr std::size_t maximum_waiting = std::size_t{64} << 20;  // bytes

  std::int64_t line_bytes() const { return scan_.columns * bytes_per_pixel(scan_.type); }
  std::int64_t frame_bytes() const { return line_bytes() * scan_.rows; }

  void flush() {
    const std::int64_t views = static_cast<std::int64_t>(waiting_.size()) / frame_bytes();
    for (std::int64_t row = 0; row < scan_.rows; ++row) {
      std::string lines;
      for (std::int64_t view = 0; view < views; ++view) {
        const char* const line = waiting_.data() + view * frame_bytes() + row * line_bytes();
        lines += text_pixels_ ? text_of_pixels(scan_.type, line, scan_.columns)
                              : std::string(line, static_cast<std::size_t>(line_bytes()));
      }
      append(row, lines);
    }
    waiting_.clear();
  }

  void append(std::int64_t row, const std::string& bytes) const {
    const auto file = scan_.folder / format("{}_{:04}.sin", prefix_, row);
    std::ofstream out(file, std::ios::binary | std::ios::app);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
      throw Error(ErrorKind::disk, {.what = "a sinogram cannot be written",
                                    .where = file.string(),
                                    .why = std::strerror(errno),
                                    .hint = "is there space on the disk?"});
  }

  const ScannerScan& scan_;
  std::string prefix_;
  std::vector<Label> labels_;
  bool text_pixels_;
  std::vector<char> waiting_;
};

class LaboratorySinograms final : public ScannerFiles {
public:
  LaboratorySinograms(const ScannerScan& scan, bool text_pixels) : scan_(scan), text_pixels_(text_pixels) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    const char* const images = set == ImageSet::views ? "views" : set == ImageSet::flats ? "flats" : "darks";
    const char* const prefix = set == ImageSet::views ? "scan" : set == ImageSet::flats ? "flat" : "dark";
    std::vector<Label> labels{{sinogram_example::mark, "1", 0},
                              {"images", images, 0},
                              {"rows", std::to_string(scan_.rows), 0},
                              {"views", std::to_string(frames), 0},
                              {"columns", std::to_string(scan_.columns), 0},
                              {"pixels", text_pixels_ ? "text" : "binary", 0},
                              {"type", name_of(scan_.type), 0}};
    if (set == ImageSet::views) append_geometry(labels);
    return std::make_unique<SinogramFiles>(scan_, prefix, std::move(labels), text_pixels_);
  }

  void finish() override {}

private:
  void append_geometry(std::vector<Label>& labels) const {
    const CircularScan& c = scan_.options.scan;
    const auto add = [&](const char* name, double value) { labels.push_back({name, number_text(value), 0}); };
    labels.push_back({"content", scan_.options.content == SimulatedContent::counts ? "counts" : "line-integrals", 0});
    labels.push_back({"beam", c.beam == Beam::parallel ? "parallel" : "cone", 0});
    if (c.beam != Beam::parallel) {
      add("source_axis_mm", c.source_axis_mm);
      add("source_detector_mm", c.source_detector_mm);
    }
    add("pixel_width_mm", c.pixel_width_mm);
    add("pixel_height_mm", c.pixel_height_mm);
    add("first_angle_deg", degrees(c.angles_rad.front()));
    const double step_deg = c.angles_rad.size() > 1 ? equal_step_deg(scan_.options, "the example of sinograms") : 360;
    add("angle_step_deg", std::abs(step_deg));
    labels.push_back({"direction", step_deg < 0 ? "clockwise" : "counter-clockwise", 0});
    add("axis_offset_mm", c.axis_offset_mm);
    add("detector_shift_u_mm", c.detector_shift_u_mm);
    add("detector_shift_v_mm", c.detector_shift_v_mm);
    add("in_plane_deg", degrees(c.in_plane_rad));
  }

  ScannerScan scan_;
  bool text_pixels_;
};

}  // namespace

ScannerWriter sinograms_writer() {
  return {"sinograms", prepare_sinograms, [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> {
            return std::make_unique<LaboratorySinograms>(scan, false);
          }};
}

ScannerWriter sinograms_text_writer() {
  return {"sinograms-text", prepare_sinograms, [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> {
            return std::make_unique<LaboratorySinograms>(scan, true);
          }};
}

}  // namespace lepus
