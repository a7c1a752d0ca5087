// SPDX-License-Identifier: Apache-2.0
// What Joseph's transpose works on. A face is what one view's rays along one axis of the grid measured: each pixel's
// line integral times its ray's way between two planes, zero where the ray runs along another axis. A voxel then
// gathers, from each face, the pixels whose rays pass its plane less than one voxel away, with the weights of the
// forward samples.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "project/joseph.h"
#include <lepus/geometry.h>

namespace lepus::cuda {

struct Face {
  int view, axis;
};

// Rows [first_row, first_row + rows) of the views that some faces are made of.
struct FaceSource {
  const Face* face;        // in device memory, `faces` of them
  const JosephView* view;  // of the whole scan
  JosephGrid grid;
  const float* values;  // [view - first_view][row][column]
  int faces, first_view, columns, first_row, rows;
};

// Faces as pictures: [face][row][column].
void launch_face_pictures(const FaceSource& source, float* pictures, cudaStream_t stream);

// Faces as columns: [face][column][row], for scans whose detector columns are parallel to z. Rows are counted from the
// detector's middle row in the direction in which z grows along a column, from `low` to before `high`.
struct ColumnRows {
  int middle;   // the detector's middle row
  int forward;  // 1 where z grows with the row, -1 where it falls
  int low, high;
};
void launch_face_columns(const FaceSource& source, const ColumnRows& rows, float* columns, cudaStream_t stream);

// The rays of a face's column: in plane i they pass a = a0 + i da on the plane's first axis, and row v meets
// z = (z0 + i dz) + v (step0 + i dstep). A column whose rays run along another axis passes nowhere.
struct alignas(16) ColumnRays {
  float a0, da, z0, dz, step0, dstep, unused[2];
};
void launch_column_rays(const FaceSource& source, const ColumnRows& rows, ColumnRays* rays, cudaStream_t stream);

// Where a point (x, y) of the volume is seen, counted from the grid's middle: column u = (u . (x, y, 1)) / (w . (x, y,
// 1)).
struct ColumnMap {
  float u[3], w[3];
};

struct ColumnAdjoint {
  const Face* face;
  const ColumnMap* map;    // of each face
  const ColumnRays* rays;  // [face][column]
  const float* values;     // [face][column][row]
  ColumnRows rows;
  int faces, columns;
  int slots;          // a power of two up to 32: columns that may pass a voxel of a face
  int rows_per_cell;  // that may pass between two slices
  JosephGrid grid;
  float* voxels;  // slices [z0, z1)
  int z0, z1;
};
inline constexpr int maximum_slots = 32, maximum_rows_per_cell = 8;
void launch_column_adjoint(const ColumnAdjoint& job, cudaStream_t stream);

// For any other scan. A pixel (du, dv) beside the place where a voxel's centre is seen passes the voxel's plane at
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
  bool rows_rise;  // z grows with the row: by columns of voxels
};
inline constexpr int pictures_per_launch = 16;
// The rows of the views that there are.
struct PictureFrame {
  Beam beam;
  int columns, first_row, rows;
  int middle_column, middle_row, detector_rows;
};
struct PictureAdjoint {
  PictureFace face[pictures_per_launch];
  PictureFrame frame;
  const float* values;  // [face][row][column]
  int faces;
  JosephGrid grid;
  float* voxels;  // slices [z0, z1)
  int z0, z1;
};
void launch_picture_adjoint(const PictureAdjoint& job, cudaStream_t stream);

// The same by columns of voxels along z, where every view can be taken so: the whole grid lies in front of its source,
// no ray runs along z mainly, and rows cross the columns, less than half as steep as they run across them. Sets
// rows_rise.
bool serves_voxel_columns(const JosephGrid& grid, const PictureFrame& frame, std::vector<PictureFace>& faces);
void launch_picture_columns(const PictureAdjoint& job, cudaStream_t stream);

}  // namespace lepus::cuda
