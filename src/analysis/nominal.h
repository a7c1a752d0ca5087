// SPDX-License-Identifier: Apache-2.0
// Measured against nominal: the surface where the values cross a threshold, by points, and each point's signed distance
// from a surface of triangles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/align_surface.h"
#include "analysis/histogram.h"
#include "analysis/mesh_distance.h"
#include "analysis/slices.h"

namespace lepus::analysis {

struct NominalOptions {
  const MeshDistance* surface = nullptr;
  std::optional<double> tolerance_mm;
  bool align = false;  // turn and shift the measured surface onto the nominal one first
};

struct NominalResult {
  double threshold = 0;
  std::optional<Alignment> alignment;
  std::int64_t points = 0;
  double area_mm2 = 0;  // of the measured surface, about
  // Above zero: the measured surface lies outside the nominal one. All but the extremes are weighted by area.
  double mean_mm = 0, spread_mm = 0, smallest_mm = 0, largest_mm = 0;
  double percentile_5_mm = 0, median_mm = 0, percentile_95_mm = 0;
  std::optional<double> within;           // share of the area within the tolerance
  std::vector<double> bin_mm, bin_share;  // middle of each bin, and the share of the area in it
  std::vector<Slice> views;               // distances seen from +z, -y, +x; NaN where nothing is
};

[[noreturn]] void refuse_without_surface(double threshold);  // Error(input): the values do not cross it

// Throws Error(input) where the values do not cross the threshold.
NominalResult measure_nominal(const VolumeReader& volume, const NominalOptions& options, const BitVolume& inside,
                              double threshold, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis
