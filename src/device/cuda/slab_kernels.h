// SPDX-License-Identifier: Apache-2.0
// What happens to a finished slab on the device: voxels outside the reconstructed cylinder become zero.
#pragma once

#include <cuda_runtime_api.h>

#include <lepus/geometry.h>

namespace lepus::cuda {

// Slices [z0, z1) of the grid, x fastest. The same comparison as on the host, in double precision (compiled without
// contraction, so that a voxel on the rim is judged alike).
void launch_mask_outside(float* slab, const VolumeGrid& grid, std::int64_t slices, double radius_mm,
                         cudaStream_t stream);

// Whether kernels of this build run on a device: cudaSuccess, or why not.
cudaError_t kernels_run_on(int device);

}  // namespace lepus::cuda
