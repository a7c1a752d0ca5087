// SPDX-License-Identifier: Apache-2.0
// The geometry of a circular cone-beam scan from the tracks of beads on whatever holds them: source and detector
// distance, shifts, tilts. Levenberg-Marquardt in double precision over the geometry and the beads' positions, which
// need not be known. docs/calibrate.md.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "align/beads.h"
#include "core/context.h"
#include "scan/scan.h"
#include <lepus/calibrate.h>
#include <lepus/geometry.h>

namespace lepus {

struct CalibrateInput {
  CircularScan scan;  // where to start: angles, perturbations, pixel size and detector are kept, all else is found
  std::vector<BeadTrack> tracks;
  // A world and a scanner twice as large give the same frames. The scale comes from the mean distance of neighbouring
  // beads along the axis where it is given; else from scan.source_axis_mm, which is then kept.
  std::optional<double> bead_spacing_mm;
};

// Throws Error(input) where there are too few beads, where they do not determine the geometry or its standard errors,
// or where the solution does not converge.
CalibrateResult fit_geometry(const CalibrateInput& input);

// The sampling interval from frames of a plate (line integrals).
class PlateMeter {
public:
  PlateMeter(std::int64_t columns, std::int64_t rows) : columns_(columns), rows_(rows) {}
  void add(std::span<const float> frame);
  PlateResult result(double width_mm) const;

private:
  std::int64_t columns_, rows_;
  std::vector<double> widths_;
  std::vector<std::int64_t> cut_off_;
};

// The frames of a scan as line integrals, one after another; for bead and plate scans.
void each_frame(const Scan& scan, Context& context,
                const std::function<void(std::int64_t, std::span<const float>)>& use);

}  // namespace lepus
