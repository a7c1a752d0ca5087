// SPDX-License-Identifier: Apache-2.0
// The rotation axis as the detector sees it: a line across the rows. Columns in pixels; angles in radians, of the line
// against the columns' direction in millimetres, positive where the column grows with the row.
#pragma once

#include "align/center.h"
#include "geometry/camera.h"

namespace lepus {

struct AxisLine {
  double column = 0;      // where it crosses the middle row
  double middle_row = 0;  // which row that is
  double angle_rad = 0;
  double aspect = 1;      // pixel height / pixel width
  double handedness = 1;  // -1: the frame is a mirror image, so that in-plane angles count the other way

  double column_at(double row) const;
  double in_plane_deg() const;  // of the detector, as the scan file counts it
  double angle_of_in_plane(double in_plane_deg) const;
};

// The mean over all views.
AxisLine axis_line(const ScanGeometry& geometry, std::optional<double> middle_row);
// The column of each view on which it crosses a row.
std::vector<double> axis_columns(const ScanGeometry& geometry, double row);

// The column of the frames on which the axis is seen at their middle row: on the arc where they were recorded on one.
double recorded_axis_column(const ScanGeometry& geometry);

// The same views with the axis on `column` at row `row` of the frames; its angle stays. What moves does so as the scan
// file's key moves it. frame_turn: of a scan that keys describe, by how many radians its frames of reference, in which
// the key moves the detector, are turned against the bearing of their sources; matrices cannot tell that from a yawed
// detector. None: pixels are counted from another column.
ScanGeometry with_axis_at(const ScanGeometry& geometry, double row, double column, CenterKey key,
                          std::optional<double> frame_turn = {});
// The detector turned in its plane about (its middle column, middle_row) so that the line turns by `angle_rad`.
ScanGeometry turned(const ScanGeometry& geometry, double middle_row, double angle_rad);

// The fan of a detector row: where rays at horizontal distances x (in columns) from the axis's projection go.
class RowFan {
public:
  // base_column: where the axis is seen; rays are those of the geometry's first view.
  RowFan(const ScanGeometry& geometry, double base_column, double row);
  double angle_rad(double x) const;    // of the ray against that to the axis, counter-clockwise from above; parallel: 0
  double opposite(double x) const;     // the x' whose ray makes the opposite angle
  double distance_mm(double x) const;  // of the ray from the axis, signed, growing with x

private:
  double bearing(double column) const;
  Camera camera_;
  double base_, row_, bearing_, radius_, pitch_;
};

}  // namespace lepus
