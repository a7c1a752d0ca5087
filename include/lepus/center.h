// SPDX-License-Identifier: Apache-2.0
// Where the rotation axis of a scan is seen: a scan file -> the column on which the axis is projected, the angle at
// which it crosses the rows, and the keys of the scan file that say so. docs/center.md.
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

namespace lepus {

enum class CenterMethod {
  automatic,  // conjugate where rays were measured twice, wedge for half a turn; with less the axis cannot be known
  sharpness,  // trial reconstructions: the highest mean frequency of lines through the object
  conjugate,  // correlation of rays that were measured from both ends (0 and 180 degrees in a parallel beam)
  wedge       // sinogram fitting: the least energy where the spectrum of a sinogram should be empty
};
LEPUS_API const char* name_of(CenterMethod method);  // "auto", "sharpness", ...

// What is moved so that the axis is seen on another column. Both put it there; they differ in where the central ray
// (perpendicular to the detector) goes, which matters to second order only.
enum class CenterKey { detector_shift, axis_offset };

// How the axis is looked for.
struct AxisSearch {
  CenterMethod method = CenterMethod::automatic;
  CenterKey key = CenterKey::detector_shift;
  // Columns that are tried; default: a quarter of the detector to both sides.
  std::optional<double> first = {}, last = {};
  double step = 0.5;              // of the first, coarse search, in columns
  double precision = 0.01;        // step of the last, fine search, in columns
  bool tilt = true;               // look for the in-plane angle too; needs bands at several heights
  double largest_tilt_deg = 1.5;  // from what the geometry says
  std::int64_t image_size = 0;    // sharpness: pixels along a side of the trial image; 0: as many as columns
  int lines = 12;                 // sharpness: rows and columns of the image, so many of each
  double detrend = 4;             // sharpness: width, in columns, of the running mean that is taken off the curve
                                  // (blur far from the axis looks sharp again); 0: none
};

struct ScorePoint {
  double column = 0, score = 0;  // higher is better
};

struct RowCenter {
  double row = 0, column = 0;  // the axis crosses this row on this column
};

struct CenterResult {
  double column = 0, given_column = 0;              // where the axis crosses the middle row: found, and as was given
  double middle_row = 0;                            // which row that is
  double in_plane_deg = 0, given_in_plane_deg = 0;  // of the detector against the axis
  bool tilt_sought = false;                         // false: the rows were too few, or nobody asked for it
  bool tilt_found = false;                          // false: in_plane_deg is what was given
  double column_error = 0, in_plane_error_deg = 0;  // standard errors; 0: unknown
  // False: nothing that was found can be trusted, and a warning says why. The automatic method then leaves everything
  // as it was given, others say what they found.
  bool known = true;
  CenterMethod method = CenterMethod::automatic;  // that decided; automatic: none could
  std::vector<ScorePoint> curve;                  // of the coarse search, all bands together
  std::vector<ScorePoint> wide_curve;             // of a first look at the whole range, on one band; may be empty
  std::vector<RowCenter> rows;                    // each band alone
  std::vector<std::string> warnings;

  // An angle that its error explains is not worth taking.
  LEPUS_API bool tilt_matters() const;
};

struct CenterReport {
  CenterResult axis;  // columns and rows are those of the frames
  // The keys of [geometry] that put the axis there, and their values; none where the geometry comes from a file of
  // matrices.
  std::vector<std::pair<std::string, double>> geometry_keys;
  std::string why_no_tilt;  // why the in-plane angle was not looked for although nobody said so, for people
};

struct CenterOptions {
  AxisSearch search = {};                // columns are those of the frames
  std::int64_t bands = 5;                // heights on the detector that are looked at
  std::optional<std::int64_t> row = {};  // this row only, counted from the first that the scan file selects
  std::optional<double> column = {};     // take this column: nothing is searched
  std::filesystem::path picture = {};    // PNG of the score over the columns and of trial slices; "": none
  double trial_step_columns = 1;         // distance of the trials in the picture
  bool write = false;                    // put the keys that were found into the scan file; all else in it stays
  // Is called with what was found before the scan file is changed, which fails where the axis is not known.
  std::function<void(const CenterReport&)> found = {};
  Call call = {};
};

// Reads a few bands of rows of all views. Throws Error(input) where they hold nothing that could be aligned, or where
// keys that should be written are not known; Error(usage) where options contradict each other.
LEPUS_API CenterReport center(const std::filesystem::path& scan_file, const CenterOptions& options = {});

}  // namespace lepus
