// SPDX-License-Identifier: Apache-2.0
// The kernels of footprints for scans whose views are all upright (project/ray_views.h). The weight of a voxel for a
// pixel is there the product of two shares: the detector column's, which depends on (x, y) and u, and the row's, which
// depends on (x, y), z and v. So a whole voxel column is turned into rows once for all detector columns that see it
// (A), and a voxel column's detector columns are summed once for all its slices (A').
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "device/cuda/ray_projector_launch.h"
#include "project/footprint.h"

namespace lepus::cuda {

// Where the voxel column (x, y) is seen, all counted from the grid's middle: at column (u . p) / (w . p), and row v of
// the detector, counted from its middle row, at z = z0 . p + v (step . p), with p = (1, x, y).
struct UprightView {
  float u[3], w[3], z0[3], step[3];
};

// What a detector column's footprints on the plane's first axis are made of (project/footprint.h).
struct ColumnBeam {
  int axis;
  float a0, da, au0, dau;
};

// Slices of a volume as voxel columns: voxel (x, y, z) of the slab is voxels[(y * nx + x) * pitch + zeros + z], with
// zeros before and after the slices.
struct VoxelColumns {
  float* voxels;
  int nx, ny, slices, zeros;
  std::int64_t pitch;
};
void launch_voxel_columns(const float* slab, const VoxelColumns& columns, cudaStream_t stream);

inline constexpr int upright_columns = 64;      // voxel columns that a block of A holds as rows
inline constexpr int upright_layers = 4;        // layers that it takes at once, at most
inline constexpr int upright_shares = 10;       // voxels of a layer that a detector column may meet
inline constexpr int upright_widest_tile = 32;  // detector columns of a block, or half or a quarter of them

struct UprightForward {
  RaysOnDevice rays;
  const UprightView* maps;  // of rays.view
  VoxelColumns volume;
  JosephGrid grid;
  int first, last;     // slices of the volume, from the middle
  int middle_row;      // of the detector
  int tile;            // detector columns of a block: of one layer they meet no more voxel columns than it holds
  int voxels_per_row;  // that a row meets at most
};
void launch_upright_forward(const UprightForward& job, cudaStream_t stream);

// Rows [first_row, first_row + rows) of some views, [view][row][column], as columns: [view][column][pitch], times the
// rays' ways, with zeros behind the last row up to a multiple of four.
struct ViewColumns {
  const JosephView* view;  // in device memory
  JosephGrid grid;
  int views, columns, first_row, rows, middle_row;
  int pitch;
};
void launch_view_columns(const ViewColumns& views, const float* lines, float* columns, cudaStream_t stream);
void launch_column_beams(const ViewColumns& views, ColumnBeam* beams, cudaStream_t stream);  // [view][column]

inline constexpr int upright_slices = 128;        // that a block of A' takes at most
inline constexpr int upright_rows = 512;          // that may see them
inline constexpr int upright_slots[2] = {4, 32};  // detector columns that may see a voxel: a power of two between

struct UprightAdjoint {
  const UprightView* maps;
  const ColumnBeam* beams;  // [view][column]
  const float* values;      // [view][column][pitch]
  int views, columns, pitch;
  int low, rows;  // the first row, from the detector's middle, and how many there are
  int slots;
  int slices;  // that a block takes
  JosephGrid grid;
  float* voxels;  // slices [z0, z1)
  int z0, z1;
};
void launch_upright_adjoint(const UprightAdjoint& job, cudaStream_t stream);

}  // namespace lepus::cuda
