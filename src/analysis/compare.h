// SPDX-License-Identifier: Apache-2.0
// How far a volume is from a reference: RMSE, MAE, bias, largest error and its place, PSNR, SSIM. Both are read slab by
// slab, so that neither needs to fit into memory. SSIM: Wang, Bovik, Sheikh, Simoncelli 2004, in 3-D.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/mask.h"
#include "core/context.h"
#include "io/volume_file.h"

namespace lepus {

enum class SsimMode { none, volume, slices };  // 3-D windows, or 2-D windows in every slice

struct CompareOptions {
  VoxelMask mask;
  std::optional<double> peak;  // of PSNR and SSIM; otherwise largest - smallest reference value that counts
  SsimMode ssim = SsimMode::volume;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
};

struct ValueSummary {
  double smallest = 0, largest = 0, mean = 0;
};

// Where a voxel that counts is not finite in either volume, every error below is NaN: comparisons with it fail.
struct Comparison {
  std::int64_t voxels = 0;                    // that were compared
  std::int64_t not_finite = 0;                // of them, NaN or infinite in either volume
  ValueSummary reference, volume;             // of the finite ones
  double rmse = 0, mae = 0;                   // in the unit of the volumes
  double bias = 0;                            // mean of volume - reference
  double maximum_error = 0;                   // largest |volume - reference| ...
  std::int64_t at_x = 0, at_y = 0, at_z = 0;  // ... and its voxel
  double peak = 0;
  double nrmse = 0;                     // rmse / peak
  double psnr_db = 0;                   // 20 log10(peak / rmse); infinite where the volumes are equal
  std::optional<double> ssim;           // mean over windows that lie in the volume; none where it is too small
  SsimMode ssim_mode = SsimMode::none;  // the one that was used: volumes of less than 11 slices get SsimMode::slices
};

// Of CompareOptions::memory_bytes, for volumes of this size.
std::int64_t minimum_compare_bytes(const VolumeGrid& grid, SsimMode ssim);

// Throws Error(input) where the grids differ or no voxel counts.
Comparison compare_volumes(const VolumeReader& reference, const VolumeReader& volume, const CompareOptions& options,
                           Context& context);

}  // namespace lepus
