// SPDX-License-Identifier: Apache-2.0
// What the transposes on devices gather from. A face is what one view's rays along one axis of the grid measured: of
// Joseph's model each pixel's line integral times its ray's way between two planes, zero where the ray runs along
// another axis. A voxel then gathers, from each face, the pixels whose rays pass its plane less than one voxel away,
// with the weights of the forward samples.
#pragma once

#include <vector>

#include "project/ray_views.h"

namespace lepus {

struct Face {
  int view, axis;
};
// View after view, and of each the axes that its rays may run along.
std::vector<Face> faces_of(const RayViews& job);

// The rows of the views that there are.
struct PictureFrame {
  Beam beam;
  int columns, first_row, rows;
  int middle_column, middle_row, detector_rows;
};
PictureFrame picture_frame(const ScanGeometry& geometry);  // of all rows

// A pixel (du, dv) beside the place where a voxel's centre is seen passes the voxel's plane at
// (da, db) = ((a_u du + a_v dv) / depth, (b_u du + b_v dv) / depth) from it, with depth = depth_c + depth_u du +
// depth_v dv the ray's change along the plane's axis; rows of fans and parallel rays have a depth of 1. Each of the
// four is constant + per_plane * (plane - source's) + per_axis * (a or b - source's).
struct PassTerm {
  float constant, per_plane, per_axis;
};
struct PictureFace {
  int axis;
  // Axes in the order of the face: its own, and the two of its planes.
  float matrix[12];        // voxel, from the middle, to (u w, v w, w), pixels from the detector's middle
  float source[3];         // from the middle voxel
  float direction[3][3];   // of the rays: at the detector's middle, per column, per row
  float slope_a, slope_b;  // by how much rays change at most from plane to plane
  PassTerm a_u, a_v, b_u, b_v;
  int rows_rise;  // 1: z grows with the row; for columns of voxels
};
// `matrices` are matrices_from_middle().
std::vector<PictureFace> picture_faces(const RayViews& job, const std::vector<Face>& faces,
                                       const std::vector<Matrix34>& matrices, Beam beam);

// Whether every view can be taken by columns of voxels along z: the whole grid lies in front of its source, no ray runs
// along z mainly, and rows cross the columns, less than half as steep as they run across them. Sets rows_rise.
bool serves_voxel_columns(const JosephGrid& grid, const PictureFrame& frame, std::vector<PictureFace>& faces);

// The scan's, for voxels that are counted from the grid's middle.
std::vector<Matrix34> matrices_from_middle(const ScanGeometry& geometry, const VolumeGrid& grid,
                                           const JosephGrid& joseph);

}  // namespace lepus
