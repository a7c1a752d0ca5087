// SPDX-License-Identifier: Apache-2.0
// Where the rotation axis is seen: line integrals of a few detector rows of all views, and the geometry as the scan
// file has it -> the column on which the axis is projected, and the angle at which it crosses the rows. docs/center.md.
// Trial reconstructions: Donath et al., J. Opt. Soc. Am. A 23 (2006) have the idea; Fourier wedge: Vo et al., Opt.
// Express 22 (2014).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "geometry/row_band.h"
#include <lepus/geometry.h>

namespace lepus {

enum class CenterMethod {
  automatic,  // conjugate where rays were measured twice, wedge for half a turn; with less the axis cannot be known
  sharpness,  // trial reconstructions: the highest mean frequency of lines through the object
  conjugate,  // correlation of rays that were measured from both ends (0 and 180 degrees in a parallel beam)
  wedge       // sinogram fitting: the least energy where the spectrum of a sinogram should be empty
};
const char* name_of(CenterMethod method);

// What is moved so that the axis is seen on another column. Both put it there; they differ in where the central ray
// (perpendicular to the detector) goes, which matters to second order only.
enum class CenterKey { detector_shift, axis_offset };

// Neighbouring detector rows of all views.
struct CenterBand {
  double first_row = 0;
  std::int64_t rows = 1;
  std::vector<float> line_integrals;  // [row][view][column], of the flat detector
  double middle() const { return first_row + 0.5 * static_cast<double>(rows - 1); }
};

struct CenterOptions {
  CenterMethod method = CenterMethod::automatic;
  CenterKey key = CenterKey::detector_shift;
  std::optional<double> first, last;  // columns that are tried; default: a quarter of the detector to both sides
  double step = 0.5;                  // of the first, coarse search, in columns
  double precision = 0.01;            // step of the last, fine search, in columns
  bool tilt = true;                   // look for the in-plane angle too; needs bands at several heights
  double largest_tilt_deg = 1.5;      // from what the geometry says
  std::int64_t image_size = 0;        // sharpness: pixels along a side of the trial image; 0: as many as columns
  int lines = 12;                     // sharpness: rows and columns of the image, so many of each
  double detrend = 4;                 // sharpness: width, in columns, of the running mean that is taken off the curve
                                      // (blur far from the axis looks sharp again); 0: none
};

struct CenterInput {
  ScanGeometry geometry;
  std::vector<CenterBand> bands;     // one or more, at different heights
  std::optional<double> middle_row;  // about which the detector turns in its plane; default: the middle of geometry
  CenterOptions options;
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
  double column_error = 0, in_plane_error_deg = 0;  // standard errors (align/center_error.h); 0: unknown
  // False: nothing that was found can be trusted, and a warning says why. The automatic method then leaves everything
  // as it was given, others say what they found.
  bool known = true;
  CenterMethod method = CenterMethod::automatic;  // that decided; automatic: none could
  std::vector<ScorePoint> curve;                  // of the coarse search, all bands together
  std::vector<ScorePoint> wide_curve;             // of a first look at the whole range, on one band; may be empty
  std::vector<RowCenter> rows;                    // each band alone
  std::vector<std::string> warnings;

  // An angle that its error explains is not worth taking.
  bool tilt_matters() const;
};

// Throws Error(input) where the bands hold nothing that could be aligned, Error(usage) where options contradict.
CenterResult find_center(const CenterInput& input, Context& context);

// Which rows find_center should be given: `count` heights spread over the detector, each high enough for the tilt.
std::vector<RowBand> center_bands(const ScanGeometry& geometry, std::int64_t count, const CenterOptions& options);
// As many the detector must have for the in-plane angle to be looked for.
std::int64_t rows_for_tilt(const ScanGeometry& geometry, const CenterOptions& options);

// The geometry with the axis on another column of the frames and, unless they were recorded on an arc, which cannot be
// tilted, at another angle.
// frame_turn: align/axis_line.h.
ScanGeometry centred(const ScanGeometry& geometry, const CenterResult& result, CenterKey key,
                     std::optional<double> frame_turn = {});

// A trial reconstruction of a band's middle row with the axis on a column: size x size pixels, y downwards. For
// pictures.
struct TrialImage {
  double column = 0;
  std::int64_t size = 0;
  double pixel_mm = 0;
  std::vector<float> values;
};
TrialImage trial_image(const CenterInput& input, std::int64_t band, double column, double in_plane_deg,
                       Context& context);

}  // namespace lepus
