// SPDX-License-Identifier: Apache-2.0
// What the dispatcher hands to the kernels of one SIMD target: the whole job, cut into tiles of voxel columns.
#pragma once

#include <cstdint>
#include <vector>

#include "device/host/backprojector.h"
#include "device/host/orbit.h"
#include "core/memory.h"

namespace lepus::cpu {

// Slices are worked on in chunks counted from slice 0, so that coordinates are computed from the same starting points
// wherever a slab is cut. What a chunk of one voxel column sees, and its sums, stay in the L1 cache.
inline constexpr std::int64_t chunk = 64;
// Vectors run along z and start at multiples of this many slices of a chunk, or along x where a piece of the slab has
// only a few slices: then most of a vector along z would be computed in vain. The arithmetic of a voxel is the same.
inline constexpr std::int64_t whole_vectors = 8;
inline constexpr std::int64_t few_slices = 8;
// Views whose sum is taken in a local buffer before it is added to the slab.
inline constexpr std::int64_t block_of_views = 32;
// Larger tiles read less of every view, as long as their sums and what they see stay in the L2 cache.
inline constexpr std::int64_t largest_tile = 32;
// Vectors are loaded whole: this many floats past what is asked for may be read.
inline constexpr std::int64_t overread = 80;

struct Job {
  Beam beam = Beam::cone;
  Interpolation interpolation = Interpolation::linear;
  std::int64_t columns = 0, rows = 0;
  VolumeGrid grid;
  const Orbit* orbit = nullptr;
  const BandSet* wedge = nullptr;
  SlabView slab;
  bool weighted = true;  // by 1/w^2, as FDK is; without, views are just sampled
  int group = 1;         // of views that share coordinates; orbit->group, or 1 where the kernel has no use for it
  std::int64_t tile = largest_tile;  // voxel columns per side of a tile: coordinates are counted from its middle
  const std::vector<ColumnIndex>* tiles = nullptr;  // first voxel columns, of those that stand for all others
  std::int64_t first_chunk = 0, chunks = 0;

  std::int64_t tasks() const { return std::ssize(*tiles) * chunks; }
};

struct Scratch {
  Buffer<float> sums;  // tile * tile * chunk * group
  Buffer<float> box;   // what a tile sees, with zeros around it; grows as needed
};

// Every kernel says here which target it was compiled for, so that a test can tell what really ran.
void note_target(const char* target);

struct Kernel {
  const char* target;  // as Highway names it: "AVX3"
  void (*run)(const Job&, std::int64_t first_task, std::int64_t last_task, Scratch&);
};
template <Interpolation kind>
Kernel chosen_upright_kernel();
template <>
Kernel chosen_upright_kernel<Interpolation::nearest>();
template <>
Kernel chosen_upright_kernel<Interpolation::linear>();
template <>
Kernel chosen_upright_kernel<Interpolation::cubic>();
Kernel chosen_general_kernel();

struct Kernels {
  Kernel nearest, linear, cubic;  // of upright orbits
  Kernel general;

  const char* target() const { return general.target; }
  const Kernel& upright(Interpolation kind) const {
    return kind == Interpolation::nearest ? nearest : kind == Interpolation::linear ? linear : cubic;
  }
};
Kernels best_kernels();
std::vector<Kernels> all_kernels();  // one set per SIMD target that this machine can run, the best first

}  // namespace lepus::cpu
