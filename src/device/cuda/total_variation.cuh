// SPDX-License-Identifier: Apache-2.0
// What the steps of total variation's proximal map share: runs of voxels that a lane handles, how they are read and
// written, and how far a block walks.
#pragma once

#include <cstdint>

#include "device/cuda/cuda_check.h"

namespace lepus::cuda {

constexpr unsigned dual_lanes = 0xffffffffu;

// A NaN stays one.
__device__ inline float clamped(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

// What makes a vector that is longer than 1 as long as that, to 2^-22.
__device__ inline float to_unit_length(float a, float b, float c) {
  const float squared = a * a + b * b + c * c;
  float factor;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(factor) : "f"(squared));
  return squared > 1.0f ? factor : 1.0f;
}

// A lane's `width` voxels, next to each other along x.
template <int width>
struct Run {
  float at[width];
};

template <int width>
__device__ Run<width> load(const float* from) {
  Run<width> run;
  if constexpr (width == 4) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(from));
    run = {{four.x, four.y, four.z, four.w}};
  } else {
    run.at[0] = __ldg(from);
  }
  return run;
}

__device__ inline void prefetch(const float* from) { asm volatile("prefetch.global.L2 [%0];" : : "l"(from)); }

// What is written is not read again before all the rest was: it need not stay in the cache.
template <int width>
__device__ void store(float* to, const Run<width>& run) {
  if constexpr (width == 4)
    __stcs(reinterpret_cast<float4*>(to), make_float4(run.at[0], run.at[1], run.at[2], run.at[3]));
  else
    __stcs(to, run.at[0]);
}

inline bool aligned_to_fours(const float* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

inline int blocks_across(int n, int each) { return (n + each - 1) / each; }

// How many slices a block should walk along, so that the last blocks leave no multiprocessor waiting: a block reads
// `more` slices than it writes.
inline int slices_to_walk(int tiles, int nz, int blocks_at_once, int more) {
  constexpr int fewest = 24, most = 128;
  int device = 0, multiprocessors = 1;
  check(cudaGetDevice(&device), "ask for the device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "count multiprocessors");
  int best = most;
  long best_cost = -1;
  for (int parts = blocks_across(nz, most); parts <= blocks_across(nz, fewest); ++parts) {
    const int slices = blocks_across(nz, parts);
    const long rounds = blocks_across(tiles * blocks_across(nz, slices), blocks_at_once * multiprocessors);
    const long cost = rounds * (slices + more);
    if (best_cost >= 0 && cost >= best_cost) continue;
    best_cost = cost;
    best = slices;
  }
  return best;
}

}  // namespace lepus::cuda
