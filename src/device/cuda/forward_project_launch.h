// SPDX-License-Identifier: Apache-2.0
// What the host hands to the kernels of the projector: store slices as planes, and walk the rays of some views.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "project/joseph.h"

namespace lepus::cuda {

// Planes as textures: those on one axis are the layers of layered textures, at most 2048 of them in each.
inline constexpr int layers_per_sheet = 2048, most_sheets = 8;
struct PlanesOnDevice {
  cudaTextureObject_t sheet[most_sheets];
};

// Planes in linear memory: `middle` is the voxel that indices count from, and voxel (a, b) of plane i is
// middle[i * plane + b * row + a]. Around the volume are zeros.
struct RowsOnDevice {
  const float* middle;
  std::int64_t plane, row;
};

// Slices [first, last) of the volume, for samples in cells [cell0, cell1) along z. Planes on x hold (y, z), on y (x,
// z), on z (x, y).
struct VolumeOnDevice {
  PlanesOnDevice planes[3];  // for Weights::texture
  RowsOnDevice rows[3];      // for Weights::fp32
  JosephGrid grid;
  int first, last, cell0, cell1;
};

// Views of one launch, and of them those that a block of threads takes together (texture weights).
inline constexpr int views_per_projection = 16, views_per_block = 4;
struct ProjectionOnDevice {
  JosephView view[views_per_projection];
  int views, columns, rows;
  float* sums;  // [view][row][column]
  bool onto;    // add to what is there: an earlier slab's
};

// Who weighs the four voxels around a sample: the texture unit, with 8 bits, or the kernel.
enum class Weights { texture, fp32 };
void launch_projection(const ProjectionOnDevice& projection, const VolumeOnDevice& volume, Weights weights,
                       cudaStream_t stream);

// Slices [z0, z0 + slices) from linear memory to the planes on `axis` of a slab that begins at slice `first`.
struct PlaneStore {
  const float* voxels;  // [slice][y][x]
  int nx, ny, z0, slices, first;
  cudaSurfaceObject_t sheet[most_sheets];
  float* rows;  // where there are no sheets: the voxel (0, 0, first)
  std::int64_t plane, row;
};
void launch_plane_store(int axis, const PlaneStore& store, cudaStream_t stream);

}  // namespace lepus::cuda
