// SPDX-License-Identifier: Apache-2.0
// How far a volume is from a reference: RMSE, MAE, bias, largest error and its place, PSNR, SSIM. Both are read slab by
// slab, so that neither needs to fit into memory. SSIM: Wang, Bovik, Sheikh, Simoncelli 2004, in 3-D.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/mask.h"
#include "core/context.h"
#include "io/volume_file.h"
#include <lepus/compare.h>

namespace lepus {

struct CompareSettings {
  VoxelMask mask;
  std::optional<double> peak;  // of PSNR and SSIM; otherwise largest - smallest reference value that counts
  SsimMode ssim = SsimMode::volume;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
};

// Of CompareSettings::memory_bytes, for volumes of this size.
std::int64_t minimum_compare_bytes(const VolumeGrid& grid, SsimMode ssim);

// Throws Error(input) where the grids differ or no voxel counts.
Comparison compare_volumes(const VolumeReader& reference, const VolumeReader& volume, const CompareSettings& options,
                           Context& context);

}  // namespace lepus
