// SPDX-License-Identifier: Apache-2.0
// A scan file, from text to a Scan: the sections in the order in which they need each other.
#include "core/format.h"
#include "core/input_file.h"
#include "scan/sections.h"

namespace lepus {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw Error(ErrorKind::input, {.what = "this is a folder, not a scan file",
                                   .where = file.string(),
                                   .why = {},
                                   .hint = "give the .toml file that describes the scan"});
  if (!std::filesystem::exists(file, ignored) && !ignored)
    throw Error(ErrorKind::input, {.what = "cannot read the scan file",
                                   .where = file.string(),
                                   .why = "no such file",
                                   .hint = "docs/scan-file.md shows how to write one"});
  return read_text_file(file, largest_scan_file);
}

RampOptions filter_options(const ScanDocument& document) {
  RampOptions filter;
  const std::string window = document.get<std::string>("filter.window");
  filter.window = window == "ram-lak"       ? Window::ram_lak
                  : window == "shepp-logan" ? Window::shepp_logan
                  : window == "cosine"      ? Window::cosine
                  : window == "hamming"     ? Window::hamming
                                            : Window::hann;
  filter.cutoff = document.get<double>("filter.cutoff");
  const auto samples = document.get<std::int64_t>("filter.spatial_hamming_samples");
  if (samples > 0 && samples % 2 == 0)
    document.fail("filter.spatial_hamming_samples", "filter.spatial_hamming_samples must be odd",
                  format("found {}", samples), format("an even kernel would shift the rows; use {}", samples + 1));
  filter.spatial_hamming_samples = static_cast<int>(samples);
  filter.extrapolate = document.get<double>("filter.extrapolate");
  return filter;
}

Interpolation interpolation_of(const std::string& word) {
  return word == "nearest" ? Interpolation::nearest : word == "cubic" ? Interpolation::cubic : Interpolation::linear;
}

Scan resolve(const ScanDocument& document) {
  Scan scan;
  Resolution resolution;
  scan.file = document.file();
  read_frames_section(document, scan, resolution);
  read_intensity_section(document, scan, resolution);
  scan.geometry = read_geometry_section(document, scan, explicit_grid(document), resolution);
  scan.listed_angles_deg = resolution.listed_angles_deg;
  scan.warnings = resolution.warnings;
  read_volume_section(document, scan, resolution);
  scan.automatic_center = document.get<std::string>("geometry.center") == "auto";
  scan.corrections = document.corrections();
  scan.post = document.post();
  scan.filter = filter_options(document);
  scan.interpolation = interpolation_of(document.get<std::string>("backprojection.interpolation"));
  scan.method = read_method_section(document, resolution);
  scan.output = document.find<std::string>("output.file").value_or("");
  scan.resolved = resolved_text(document, scan, resolution);
  return scan;
}

}  // namespace

Scan read_scan_text(const std::string& toml, const std::filesystem::path& file) {
  try {
    return resolve(ScanDocument(toml, file));
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(ErrorKind::input, {.what = "a file cannot be reached",
                                   .where = format("{}, {}", file.string(), error.path1().string()),
                                   .why = error.code().message(),
                                   .hint = "check the names in the scan file"});
  }
}

Scan read_scan(const std::filesystem::path& file) { return read_scan_text(text_of(file), file); }

}  // namespace lepus
