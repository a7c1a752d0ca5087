// SPDX-License-Identifier: Apache-2.0
// What the host hands to a backprojection kernel: up to 128 views by value (kernel parameters lie in the constant
// cache, where all lanes of a warp read the same number at once) and a slab of the volume.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus::cuda {

// One view, or one group of symmetric views that share the matrix of their first member.
struct ViewOnDevice {
  float u[4], v[4], w[4];  // rows of the matrix, in voxel indices, times the root of the texels' scale
  float first_row;         // detector row that the store holds first
  int layer;               // in a layered array; in an atlas the row where this view's first row lies
  union {
    cudaTextureObject_t texture;
    const float* pixels;  // linear store: [row - first_row][column]
  };
};

// Blocks start one after another and so stand at different views of the launch: of 128 views, the rows that a layer of
// blocks needs still fit the L2 cache; with 400 general kernels were 2 to 5 % slower.
inline constexpr int views_per_launch = 128;
struct ViewBlock {
  ViewOnDevice view[views_per_launch];
  int count;
};

// Slices [z0, z1) of nx x ny voxels: data[((z - z0) * ny + y) * nx + x].
struct SlabOnDevice {
  float* data;
  int nx, ny, z0, z1;
  float gain;                             // of parallel beams: texels times this are filtered values
  int columns, detector_rows, band_rows;  // of the detector and of the store
  // What the matrices count from. Kernels with fp32 weights count voxels and pixels from the middle of the volume and
  // of the detector, where numbers are smaller and a float has more digits behind the point; first_row is counted so
  // too.
  int x0, y0, middle_z;
  int column0, row0;
};

// Views that a voxel of the slab may lie beside or behind need the guard; it costs two instructions per update.
// Rays: which axis of the grid the views of a launch look along, where their samples lie two pixels or more apart.
enum class Rays { any, along_x, along_y };
struct Launch {
  Beam beam;
  bool guard;
  Rays rays;
  Interpolation interpolation;  // of the plain kernel; the others are linear
  bool weighted;                // by 1 / w^2; general and exact kernels alone can do without
  cudaStream_t stream;
};
using Launcher = void (*)(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch);

void launch_general(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch);  // float or half texels
void launch_pairs(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch);    // float2 or half2
void launch_quads(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch);    // half4
void launch_exact(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch);    // atlas, gather
void launch_plain(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch);    // linear memory

}  // namespace lepus::cuda
