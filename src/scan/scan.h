// SPDX-License-Identifier: Apache-2.0
// A scan file (TOML) as the program understands it. Reading checks every key; unknown ones are errors that suggest the
// nearest known key. docs/scan-file.md is made from the same table of keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "filter/ramp.h"
#include "io/frames.h"
#include "io/count_scales.h"
#include "scan/method_settings.h"
#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus {

struct Region {
  std::int64_t column0 = 0, column1 = 0, row0 = 0, row1 = 0;  // half open
};

enum class Intensity { flats, value, air_region, detector_maximum };  // where I0 comes from
enum class FrameContent { counts, line_integrals };

using ParameterValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;
struct CorrectionSpec {
  std::string kind;
  std::map<std::string, ParameterValue> parameters;
  int line = 0;                       // in the scan file, for messages
  std::filesystem::path folder = {};  // of the scan file: names of files are relative to it
};

// What the files hold, before any part of it is selected.
struct RecordedFrames {
  std::int64_t columns = 0, rows = 0, frames = 0;
  PixelType type = PixelType::u16;
};

struct Scan {
  std::filesystem::path file;  // the scan file; relative names in it are relative to its folder

  FrameFiles frames;
  RecordedFrames recorded;   // all that the files hold
  FrameSelection selection;  // of views and rows; already applied to geometry
  std::optional<FrameFiles> flats, darks;
  // Flats taken at several times, in order; each before that view, counted in the selected ones: between them, too,
  // or outside. Empty: all at one time.
  struct FlatsAt {
    double view = 0;
    FrameFiles files;
  };
  std::vector<FlatsAt> flat_series;
  FrameContent content = FrameContent::counts;
  CountScales scales;
  Intensity intensity = Intensity::flats;
  double intensity_value = 0;          // Intensity::value
  std::optional<Region> air_region;    // Intensity::air_region, in recorded pixels
  double maximum_bad_fraction = 0.01;  // of pixels that are NaN or saturated before a frame is refused
  double saturation_level = 0;         // 0: the largest value of the pixel type

  // The angle of every recorded frame where the scan file, a text file or a dataset lists them; before `direction`.
  std::vector<double> listed_angles_deg;
  ScanGeometry geometry;          // of the selected views and rows
  bool automatic_center = false;  // the axis is to be found (job/run_scan.h)
  bool axis_was_sought = false;   // it was, with or without success
  VolumeGrid grid;                // already resolved where the file says auto, slices and region of interest applied
  bool automatic_grid = false;
  bool field_of_view_mask = true;  // voxels outside the field of view become zero
  std::vector<CorrectionSpec> corrections;
  std::vector<CorrectionSpec> post;  // steps on the finished volume
  RampOptions filter;
  Interpolation interpolation = Interpolation::linear;
  MethodSettings method;
  std::string output;                 // "" where the file names none
  std::string resolved;               // the scan file with every default written out, as TOML
  std::vector<std::string> warnings;  // worth telling the user, no reason to stop
};

// Reads, checks and resolves a scan file. Opens the frames' headers to learn their size where the file does not say it.
Scan read_scan(const std::filesystem::path& file);

// The same from text, as if it stood in `file` (for scan files that come out of a volume's provenance).
Scan read_scan_text(const std::string& toml, const std::filesystem::path& file);

// A warning where a part of the volume is not seen by every view; else "".
std::string part_not_seen(const ScanGeometry& geometry, const VolumeGrid& grid);

}  // namespace lepus
