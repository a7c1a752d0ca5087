// SPDX-License-Identifier: Apache-2.0
// The scanners whose files lepus writes, and what their writers share.
#include "core/format.h"
#include "core/output_file.h"
#include "core/text.h"
#include "simulate/scan_text.h"
#include "simulate/scanners/scanner_files.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class FileSeries final : public FrameWriter {
public:
  FileSeries(const ScannerScan& scan, std::int64_t frames, std::function<std::filesystem::path(std::int64_t)> name)
      : one_{.columns = scan.columns, .rows = scan.rows, .frames = 1, .type = scan.type, .force = false, .dataset = {}},
        frames_(frames),
        name_(std::move(name)) {}

  void write(const void* pixels) override {
    const std::filesystem::path path = name_(written_++);
    std::filesystem::create_directories(path.parent_path());
    if (path.extension() == ".raw") {
      const std::int64_t bytes = one_.columns * one_.rows * bytes_per_pixel(one_.type);
      write_file(path, std::string(static_cast<const char*>(pixels), static_cast<std::size_t>(bytes)), false);
      return;
    }
    const auto file = create_frames(path, one_);
    file->write(pixels);
    file->finish();
  }
  void finish() override {
    if (written_ != frames_)
      throw Error(ErrorKind::internal, {.what = "another number of frames than announced",
                                        .where = name_(written_).string(),
                                        .why = format("{} of {}", written_, frames_),
                                        .hint = "report this"});
  }

private:
  FrameWriterOptions one_;
  std::int64_t frames_, written_ = 0;
  std::function<std::filesystem::path(std::int64_t)> name_;
};

}  // namespace

const std::vector<ScannerWriter>& scanner_writers() {
  static const std::vector<ScannerWriter> all{
      nikon_writer(),     skyscan_writer(),     phoenix_writer(),   yxlon_writer(),         diondo_writer(),
      northstar_writer(), rtk_writer(),         zeiss_writer(),     nxtomo_writer(),        dxchange_writer(),
      varian_writer(),    elekta_writer(),      edf_writer(),       xrad_writer(),          iba_writer(),
      iba_dicom_writer(), iba_flexmap_writer(), sinograms_writer(), sinograms_text_writer()};
  return all;
}

std::vector<std::string> scanner_writer_names() {
  std::vector<std::string> names;
  for (const ScannerWriter& writer : scanner_writers()) names.emplace_back(writer.name);
  return names;
}

const ScannerWriter& scanner_writer(const std::string& name) {
  for (const ScannerWriter& writer : scanner_writers())
    if (writer.name == name) return writer;
  const std::string nearest = nearest_name(name, scanner_writer_names());
  throw Error(ErrorKind::usage,
              {.what = format("no scanner is called {}", shown(name)),
               .where = "frame format",
               .why = {},
               .hint = nearest.empty() ? "lepus simulate --help lists them" : "did you mean " + nearest + "?"});
}

void require_scanner_says(bool possible, std::string_view scanner, const std::string& what) {
  if (possible) return;
  throw Error(ErrorKind::unsupported, {.what = format("a header of {} cannot say this", scanner),
                                       .where = what,
                                       .why = {},
                                       .hint = "leave the option out, or take lepus' own format"});
}

void require_circular_cone(const SimulationOptions& options, std::string_view scanner) {
  require_scanner_says(options.scan.beam == Beam::cone, scanner, "a beam that is no cone");
  require_circular_orbit(options, scanner);
}

void require_circular_orbit(const SimulationOptions& options, std::string_view scanner) {
  const CircularScan& scan = options.scan;
  require_scanner_says(!scan.arc, scanner, "a bent detector");
  require_scanner_says(options.helix_pitch_mm == 0, scanner, "a helix");
  require_scanner_says(!options.jitter.known && scan.perturbations.empty(), scanner, "deviations of single views");
  require_scanner_says(options.content == SimulatedContent::counts, scanner, "frames of line integrals");
  require_scanner_says(scan.pitch_rad == 0 && scan.yaw_rad == 0, scanner, "a detector that is tilted out of its plane");
  require_scanner_says(!scan.mirror_columns && !scan.mirror_rows, scanner, "frames that are mirrored");
}

double equal_step_deg(const SimulationOptions& options, std::string_view scanner) {
  const std::vector<double>& angles = options.scan.angles_rad;
  std::vector<double> forward = angles;
  if (angles.size() > 1 && angles[1] < angles[0])
    for (double& angle : forward) angle = -angle;
  require_scanner_says(has_equal_steps(forward), scanner, "views that are not in equal steps");
  return degrees(angles.back() - angles.front()) / static_cast<double>(angles.size() - 1);
}

void turn_clockwise(SimulationOptions& options) {
  for (double& angle : options.scan.angles_rad) angle = -angle;
}

void correct_in_scanner(SimulationOptions& options) {
  options.flats = options.darks = 0;
  options.detector.offset_level = 0;
}

std::unique_ptr<FrameWriter> file_series(const ScannerScan& scan, std::int64_t frames,
                                         std::function<std::filesystem::path(std::int64_t)> name) {
  return std::make_unique<FileSeries>(scan, frames, std::move(name));
}

}  // namespace lepus
