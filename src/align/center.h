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
#include <lepus/center.h>
#include <lepus/geometry.h>

namespace lepus {

// Neighbouring detector rows of all views.
struct CenterBand {
  double first_row = 0;
  std::int64_t rows = 1;
  std::vector<float> line_integrals;  // [row][view][column], of the flat detector
  double middle() const { return first_row + 0.5 * static_cast<double>(rows - 1); }
};

struct CenterInput {
  ScanGeometry geometry;
  std::vector<CenterBand> bands;     // one or more, at different heights
  std::optional<double> middle_row;  // about which the detector turns in its plane; default: the middle of geometry
  AxisSearch options;
};

// Throws Error(input) where the bands hold nothing that could be aligned, Error(usage) where options contradict.
CenterResult find_center(const CenterInput& input, Context& context);

// Throws Error(usage) where nothing can be looked for so. Before rows are read, and by find_center.
void check_search(const AxisSearch& search);

// Which rows find_center should be given: `count` heights spread over the detector, each high enough for the tilt.
std::vector<RowBand> center_bands(const ScanGeometry& geometry, std::int64_t count, const AxisSearch& options);
// As many the detector must have for the in-plane angle to be looked for.
std::int64_t rows_for_tilt(const ScanGeometry& geometry, const AxisSearch& options);

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
