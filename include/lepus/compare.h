// SPDX-License-Identifier: Apache-2.0
// How far a volume is from a reference: RMSE, MAE, bias, largest error and its place, PSNR, SSIM, and a picture of
// both. They are read slab by slab, so that neither needs to fit into memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/export.h>
#include <lepus/math.h>

namespace lepus {

enum class SsimMode { none, volume, slices };  // 3-D windows, or 2-D windows in every slice

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

// A metric must not be above, or not below, a value. What is not a number breaks every limit.
struct MetricLimit {
  std::string metric = {};  // "rmse", "nrmse", "mae", "bias" (its absolute value), "max", "psnr", "ssim"
  double value = 0;
  bool above = true;  // it is broken above the value; else below it
};

// "rmse=0.01". Throws Error(usage) that suggests the nearest metric.
LEPUS_API MetricLimit parse_metric_limit(const std::string& text, bool above);

struct CompareOptions {
  std::filesystem::path reference = {}, volume = {};  // of the same grid, in any formats
  // Axes of the files, the fastest first: "x,z,-y", or "rtk", "itk", "dicom", "lepus"; "": as the file notes them.
  std::string reference_axes = {}, volume_axes = {};
  std::optional<double> peak = {};  // of PSNR and SSIM; none: the range of the reference where voxels count
  SsimMode ssim = SsimMode::volume;
  std::vector<MetricLimit> limits = {};

  // Which voxels count: where all that is given here holds.
  std::optional<double> radius_mm = {};  // distance from the rotation axis at most
  std::optional<double> ball_mm = {};    // distance from the rotation centre at most
  std::vector<double> box_mm = {};       // x0, x1, y0, y1, z0, z1 of voxel centres, both ends included; empty: no box
  std::optional<double> reference_above = {}, reference_below = {};
  std::filesystem::path field_of_view = {};  // a scan file: where every view of it sees them; "": everywhere

  std::filesystem::path picture = {};  // PNG: three slices of both volumes and of their difference; "": none
  Call call = {};
};

struct ComparisonMetric {
  std::string name, unit, meaning;  // "psnr", "dB", "peak signal-to-noise ratio"
  double value = 0;                 // NaN where there is none: ssim of small volumes
};

struct BrokenLimit {
  MetricLimit limit;
  double value = 0;  // what was measured
};

struct CompareReport {
  Comparison comparison;
  std::vector<ComparisonMetric> metrics;  // the same numbers under their names
  Vec3 maximum_error_at_mm;               // the centre of its voxel
  std::string compared_voxels;            // which counted: "distance from the axis <= 5 mm", "all voxels"
  std::vector<BrokenLimit> broken_limits;
};

// Throws Error(input) where the grids differ or no voxel counts, Error(usage) where options contradict each other.
LEPUS_API CompareReport compare_volumes(const CompareOptions& options);

}  // namespace lepus
