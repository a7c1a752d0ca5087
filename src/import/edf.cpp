// SPDX-License-Identifier: Apache-2.0
// The ESRF's scans of EDF files: NAME.info with NAME0000.edf ..., flats refHST0000.edf ..., and a dark.
// docs/scanners/edf.md has the table.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "import/frame_series.h"
#include "import/open_beam.h"
#include "import/scanner.h"
#include "io/edf_file.h"
#include "io/file.h"
#include "io/header_text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

class Edf final : public Scanner {
public:
  std::string_view name() const override { return "edf"; }
  std::string_view title() const override { return "ESRF EDF (.info)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    std::vector<fs::path> found;
    for (const fs::path& file : files) try {
        if (lower_extension(file) == ".info" && read_ini_header(file).has("TOMO_N")) found.push_back(file);
      } catch (const Error&) {  // no text
      }
    return found;
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    HeaderFields header = read_ini_header(file);
    ImportedScan scan;
    scan.scanner = "ESRF EDF";
    scan.header = file;
    read_views(header, scan);
    read_stills(header, scan);
    scan.text.set("geometry.beam", std::string("parallel"), "the format of a synchrotron");
    const double pixel_um = header.require_length("PixelSize", "geometry.pixel_width_mm");
    scan.text.set("geometry.pixel_width_mm", pixel_um / 1000, "PixelSize in um");
    const double range = header.require_number("ScanRange", "geometry.angle_step_deg");
    scan.text.set("geometry.angle_step_deg", std::abs(range) / static_cast<double>(views_of(header)),
                  "ScanRange / TOMO_N");
    scan.text.set("geometry.direction", std::string(range < 0 ? "counter-clockwise" : "clockwise"),
                  "the sign of ScanRange; the stage turns, not the source");
    scan.text.set("geometry.center", std::string("auto"), "the header does not say where the axis is");
    scan.fields = header.fields();
    const std::vector<EdfImage> images = read_edf_headers(first_view(header));
    for (const auto& [name, value] : images.front().fields)
      scan.fields.push_back({format("{}/{}", first_view(header).filename().string(), name), as_utf8(value), {}});
    return scan;
  }

private:
  static std::int64_t views_of(HeaderFields& header) { return header.require_count("TOMO_N", "frames.views"); }
  static std::string prefix_of(HeaderFields& header) {
    const std::string prefix(trimmed(header.text("Prefix", "frames.files").value_or("")));
    return prefix.empty() ? header.file().stem().string() : prefix;
  }
  static std::vector<NumberedFile> views_on_disk(HeaderFields& header) {
    return numbered_files(header.file().parent_path(), prefix_of(header), {".edf"});
  }
  static fs::path first_view(HeaderFields& header) { return views_on_disk(header).front().file; }

  static void read_views(HeaderFields& header, ImportedScan& scan) {
    const std::int64_t count = views_of(header);
    std::vector<NumberedFile> files = views_on_disk(header);
    // After the last view the stage goes back and is looked at once more, at three or four angles.
    const auto past =
        std::find_if(files.begin(), files.end(), [&](const NumberedFile& f) { return f.number >= count; });
    if (past != files.end() && files.end() - past <= 4) {
      scan.warnings.push_back(
          format("{} and those after it are looks at the way back and are left out", past->file.filename().string()));
      files.erase(past, files.end());
    }
    const fs::path first = header.file().parent_path() / (prefix_of(header) + "0000.edf");
    scan.text.set_files("frames.files", whole_series(files, {count, "TOMO_N", header.where("TOMO_N")}, first),
                        "Prefix");
    scan.text.set("frames.views", count, "TOMO_N");
  }

  static void read_stills(HeaderFields& header, ImportedScan& scan) {
    const fs::path folder = header.file().parent_path();
    std::vector<NumberedFile> flats = numbered_files(folder, "refHST", {".edf"});
    if (flats.empty()) {
      take_open_beam_from_view({.files = {first_view(header)}, .dataset = {}, .raw = {}}, scan);
    } else {
      std::vector<fs::path> files;
      std::vector<double> times;
      for (const NumberedFile& flat : flats) {
        files.push_back(flat.file);
        times.push_back(static_cast<double>(flat.number));
      }
      scan.text.set_files("frames.flats", files, "refHST*.edf");
      if (times.size() > 1) scan.text.set("frames.flats_at_view", std::move(times), "the numbers of refHST*.edf");
    }
    // darkend is the sum of DARK_N images, dark their mean.
    std::error_code code;
    if (fs::exists(folder / "dark.edf", code)) {
      scan.text.set_files("frames.darks", {folder / "dark.edf"}, "dark.edf");
    } else if (const auto sums = numbered_files(folder, "darkend", {".edf"}); !sums.empty()) {
      const std::int64_t images = header.require_count("DARK_N", "frames.darks_scale");
      scan.text.set_files("frames.darks", {sums.front().file}, "darkend: the sum of DARK_N images");
      scan.text.set("frames.darks_scale", 1 / static_cast<double>(images), "1 / DARK_N");
    } else {
      scan.warnings.emplace_back("there is neither dark.edf nor darkend0000.edf: the dark signal is taken as zero");
    }
  }
};

}  // namespace

const Scanner& edf_scanner() {
  static const Edf edf;
  return edf;
}

}  // namespace lepus
