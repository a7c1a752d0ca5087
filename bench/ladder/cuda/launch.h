// SPDX-License-Identifier: Apache-2.0
// What a step's kernels are given, and the launchers of all steps. A launcher adds views to the volume, in as many
// launches as its step makes of them, and returns when they are in the stream.
// The volume is a cube of fp32, x fastest (y fastest while it is turned). Matrices map voxel indices to pixels.
// No voxel of RabbitCT lies behind the source: none of the steps asks.
#pragma once

#include <cuda_runtime_api.h>

#include "bench/ladder/matrix.h"

namespace lepus::ladder {

// The same views twice: step 1 reads memory, all others a layered texture (linear filter, zero outside the picture,
// pixel centres at one half). Slots are views of memory and layers of the texture.
struct Pictures {
  const float* pixels = nullptr;
  cudaTextureObject_t texture = 0;
  const Matrix* matrices = nullptr;  // in device memory, by slot
  int columns = 0, rows = 0;
};

struct Launch {
  Pictures pictures;
  const Matrix* matrices = nullptr;  // of the views, on the host
  int first_slot = 0, views = 0;
  float* volume = nullptr;
  int size = 0;
  float4* terms = nullptr;  // size^2, for the step that keeps the (x, y) terms in global memory
  bool* turned = nullptr;   // does the volume lie with y fastest now?
  cudaStream_t stream = nullptr;
};
using Launcher = void (*)(const Launch&);

// Papenhausen, Zheng, Mueller 2011.
void launch_naive(const Launch& launch);
void launch_texture(const Launch& launch);
void launch_four_views(const Launch& launch);

// Zinsser, Keck 2013. K voxels per thread.
void launch_a_512(const Launch& launch);
void launch_a_512_synchronised(const Launch& launch);
void launch_a_8(const Launch& launch);
void launch_a_8_synchronised(const Launch& launch);
void launch_b(const Launch& launch);
struct BShape {
  int views, voxels;     // I views per launch, at most maximum_views; K = 1, 2, 4, 8, 16
  int block_x, block_y;  // threads
};
inline constexpr BShape usual_b{62, 8, 32, 8};
void launch_b_as(const Launch& launch, const BShape& shape);

// Papenhausen, Mueller 2013, each with all before it.
void launch_rsqrt(const Launch& launch);
void launch_transposed(const Launch& launch);
void launch_atomic(const Launch& launch);
void turn_back(const Launch& launch);  // after the last views of launch_transposed and launch_atomic

// The Michigan strategies, a view per launch.
void launch_column_per_thread(const Launch& launch);
void launch_two_kernels(const Launch& launch);
void launch_voxel_per_thread(const Launch& launch);
void launch_shared_terms(const Launch& launch);

// Kernel B with a warp as a square of voxels and one-instruction reciprocals: ours, except that ours leaves out what
// misses the detector.
void launch_square_warps(const Launch& launch);

// The same kernels with parts taken out by a condition that only the running kernel knows: registers and occupancy
// stay.
struct Parts {
  bool fetch = true, update = true;
};
void launch_a_parts(const Launch& launch, const Parts& parts);
void launch_b_parts(const Launch& launch, const Parts& parts);
void launch_square_warps_parts(const Launch& launch, const Parts& parts);

}  // namespace lepus::ladder
