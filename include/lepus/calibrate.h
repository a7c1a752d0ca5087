// SPDX-License-Identifier: Apache-2.0
// A scanner's geometry from a scan of beads, or the sampling interval from frames of a plate: a scan file -> the keys
// of [geometry] that were found. docs/calibrate.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lepus/call.h>
#include <lepus/export.h>
#include <lepus/geometry.h>

namespace lepus {

// Of a scan of beads.
struct CalibrateResult {
  CircularScan scan;
  std::vector<Vec3> beads_mm;           // by height
  double rms_px = 0;                    // of a coordinate of a sighting
  std::vector<double> view_rms_px;      // 0 where the view shows no bead
  std::vector<std::int64_t> bad_views;  // with sightings that were left out
  std::int64_t sightings = 0, left_out = 0;
  std::int64_t false_tracks = 0;                       // tracks that no bead makes, left out whole
  std::vector<std::pair<std::string, double>> errors;  // standard errors, by the scan file's keys
  std::vector<std::string> warnings;
  int iterations = 0;
};

// Of frames of a plate of known width: its width in pixels is the mean over all rows that show it.
struct PlateResult {
  double interval_mm = 0, error_mm = 0;  // at the plate; the standard error over the frames
  std::vector<double> widths_px;         // per frame; 0 where none was seen
  std::vector<std::int64_t> cut_off;     // frames in which the plate reaches the edge
};

// A key of [geometry].
struct CalibratedKey {
  std::string name;
  double given = 0, found = 0;  // in the scan file, and from the beads
  std::optional<double> error;  // standard error; none where it was not looked for
};

struct CalibrateReport {
  CalibrateResult beads;
  std::vector<CalibratedKey> keys;   // in the order in which they are written
  std::optional<PlateResult> plate;  // where the frames show a plate: all else is empty then
};

struct CalibrateOptions {
  std::filesystem::path output = {};  // the section [geometry] that was found, as a file; "": none
  bool write = false;                 // put the keys that were found into the scan file; all else in it stays
  std::filesystem::path into = {};    // put them into this scan file instead, one of the same scanner; "": none
  std::optional<double> bead_spacing_mm = {};   // mean distance of neighbouring beads along the axis, for the scale;
                                                // none: source_axis_mm of the scan file is kept
  std::optional<double> bead_diameter_px = {};  // in the frames; none: measured
  std::optional<double> plate_width_mm = {};    // the frames show a plate of this width: only the interval is measured
  // Is called with what was found before a scan file is changed, which fails where somebody changed it meanwhile.
  std::function<void(const CalibrateReport&)> found = {};
  Call call = {};
};

// The scan file must be about right to start from. Throws Error(input) where there are too few beads or where they do
// not determine the geometry, Error(usage) where the scan is no circular one or options contradict each other.
LEPUS_API CalibrateReport calibrate(const std::filesystem::path& scan_file, const CalibrateOptions& options = {});

}  // namespace lepus
