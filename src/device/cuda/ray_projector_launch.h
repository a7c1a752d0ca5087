// SPDX-License-Identifier: Apache-2.0
// What the host hands to the kernels of Joseph's operator: views as rays, the volume as planes of voxels.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "project/joseph.h"

namespace lepus::cuda {

// Planes as textures: those on one axis are the layers of layered textures, at most 2048 of them in each.
inline constexpr int layers_per_sheet = 2048, maximum_sheets = 8;
struct PlaneSheets {
  cudaTextureObject_t sheet[maximum_sheets];
};

// Planes in linear memory: `middle` is the voxel that indices count from, and voxel (a, b) of plane i is
// middle[i * plane + b * row + a]. Around the volume are zeros.
struct PlaneRows {
  const float* middle;
  std::int64_t plane, row;
};

// Slices [first, last) of the volume, counted from the grid's middle. Planes on x hold (y, z), on y (x, z), on z (x,
// y).
struct PlanesOnDevice {
  PlaneSheets sheets[3];  // for Weights::texture
  PlaneRows rows[3];      // for Weights::fp32
  JosephGrid grid;
  int first, last;
};

// Who weighs the four voxels around a sample: the texture unit, with 8 bits, or the kernel.
enum class Weights { texture, fp32 };

// Rows [first_row, first_row + rows) of some views.
struct RaysOnDevice {
  const JosephView* view;  // in device memory
  int views, columns, first_row, rows;
  float* sums;  // [view][row][column]
};
void launch_forward(const RaysOnDevice& rays, const PlanesOnDevice& volume, Weights weights, cudaStream_t stream);

// Slices of a volume in linear memory to the planes on `axis`; those from `slices` on up to `written` become zero.
struct PlaneStore {
  const float* voxels;  // [slice][y][x]
  int nx, ny, slices, written;
  cudaSurfaceObject_t sheet[maximum_sheets];
  float* rows;  // where there are no sheets: the voxel (0, 0, 0) of the slab
  std::int64_t plane, row;
};
void launch_plane_store(int axis, const PlaneStore& store, cudaStream_t stream);

}  // namespace lepus::cuda
