// SPDX-License-Identifier: Apache-2.0
// What each blob is: size, surface, shape, place, values. All sums are integers, so that none depends on how the volume
// was cut; values are rounded to 24 bits between the smallest and the largest for that.
// Surface: Crofton's formula, crossings of the border along 13 directions, weighted by the part of the sphere that is
// nearest to each (Ohser, Muecklich 2000; Lang et al. 2001). Counting voxel faces would give 1.5 times the surface of a
// ball, however fine the voxels; this errs by 1 to 2 %. Edges of the volume count as border.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/histogram.h"
#include "analysis/label_source.h"
#include <lepus/geometry.h>

namespace lepus::analysis {

struct Blob {
  Label label = 0;
  std::int64_t voxels = 0;
  double volume_mm3 = 0, surface_mm2 = 0;
  double diameter_mm = 0;                       // of the ball of the same volume
  double sphericity = 0;                        // surface of that ball / surface
  std::array<std::int64_t, 3> first{}, last{};  // voxels [first, last) along x, y, z
  Vec3 centroid_mm;
  std::array<double, 3> axes_mm{};  // lengths of the ellipsoid of the same second moments, the longest first ...
  std::array<Vec3, 3> directions;   // ... and its axes
  double mean = 0, spread = 0;      // of the values, in their unit; spread: standard deviation
  std::optional<bool> open;         // whether it touches the border of the region; not known of parted ones
};

// The shares of the 13 directions of a voxel's neighbours; their sum is 1. The order is that of crofton_directions().
std::vector<std::array<int, 3>> crofton_directions();
std::vector<double> crofton_weights(Vec3 step_mm);

// In the order of the labels. Throws Error(memory) where there are too many for the memory.
std::vector<Blob> measure_blobs(const LabelSource& labels, const VolumeReader& values, const Survey& looked,
                                WorkMemory& memory, Context& context);

// By "volume", "surface", "diameter", "sphericity", "mean" or "label"; the largest first, labels ascending. Ties by
// label. Throws Error(usage).
void sort_blobs(std::vector<Blob>& blobs, const std::string& key);

}  // namespace lepus::analysis
