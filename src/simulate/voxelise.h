// SPDX-License-Identifier: Apache-2.0
// The truth: a phantom sampled on a grid of voxels, at their centres or averaged over n^3 points in each.
#pragma once

#include <cstdint>

#include "core/threads.h"
#include "simulate/phantom.h"
#include <lepus/geometry.h>

namespace lepus {

// Slices [z0, z1) of the grid into out, x fastest, in 1/mm. Works along lines of voxels: the phantom's segments on each
// line of samples tell how many samples of a voxel lie in which shape, so that voxels far from edges cost nothing.
void voxelise(const Phantom& phantom, const VolumeGrid& grid, std::int64_t z0, std::int64_t z1, int samples_per_axis,
              float* out, ThreadPool& threads);

}  // namespace lepus
