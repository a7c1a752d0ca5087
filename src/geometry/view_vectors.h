// SPDX-License-Identifier: Apache-2.0
// A view as four vectors (source, middle of the detector, column step, row step), between our matrices and the
// conventions of other tools.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lepus/geometry.h>

namespace lepus {

struct ViewVectors {
  Vec3 source_mm;  // Beam::parallel: the direction of the rays instead
  Vec3 middle_mm;  // of the detector, halfway between its first and last pixel centres
  Vec3 column_step_mm, row_step_mm;
};

// Cone and parallel beam. The steps need not be perpendicular. Throws Error(geometry) naming the view.
Matrix34 matrix_of(const ViewVectors& vectors, Beam beam, std::int64_t columns, std::int64_t rows, std::int64_t view);

// The detector is placed at geometry.source_detector_mm from the source (along its normal), or through the rotation
// centre where that is unknown. `tool` names the format in the Error(unsupported) of a fan beam.
ViewVectors vectors_of(const ScanGeometry& geometry, std::int64_t view, const std::string& tool);

// For tools that know only rectangular pixels of one size: the same with unit vectors along columns (across) and
// against the rows or along them, so that across x up points towards the source; the distance is chosen for the pixel
// width: pixel_width_mm, or where that is 0 view 0's at geometry.source_detector_mm (its own distance may be another).
struct RigidView {
  Vec3 source_mm, middle_mm;  // parallel: source_mm is the direction of the rays
  Vec3 across, up;
};
struct RigidScan {
  std::vector<RigidView> views;
  double pixel_width_mm = 0, pixel_height_mm = 0;
  bool first_row_on_top = true;  // rows count against `up`
};
RigidScan rigid_scan_of(const ScanGeometry& geometry, const std::string& tool, double pixel_width_mm = 0);

}  // namespace lepus
