// SPDX-License-Identifier: Apache-2.0
// The faces that Joseph's transpose works on (project/faces.h) in a device's memory, and the kernels that gather from
// them.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "project/faces.h"

namespace lepus::cuda {

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

// For any other scan.
inline constexpr int pictures_per_launch = 16;
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

// The same where serves_voxel_columns says so.
void launch_picture_columns(const PictureAdjoint& job, cudaStream_t stream);

}  // namespace lepus::cuda
