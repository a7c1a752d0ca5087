// SPDX-License-Identifier: Apache-2.0
// A cylinder that stands about along z: found in a volume, or given roughly; its axis and radius from circles that are
// fitted to the edge in every slice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "analysis/histogram.h"

namespace lepus::analysis {

struct Cylinder {
  Vec3 point_mm;   // on the axis, in the middle slice
  Vec3 direction;  // of length 1, z above zero
  double radius_mm = 0;
  double uneven_mm = 0;                          // root mean square of the edge's distance from the circles
  std::int64_t first_slice = 0, last_slice = 0;  // [first, last): where it was seen

  double distance_mm(Vec3 p) const { return norm(cross(p - point_mm, direction)); }  // from the axis
};

// x, y, radius, in millimetres, to a few voxels.
using RoughCylinder = std::array<double, 3>;

// Without `rough`: the largest thing inside that is brighter than the threshold, without the tenths at its ends, holes
// in it filled. Throws Error(input) where that is not round.
Cylinder fit_cylinder(const VolumeReader& volume, const std::optional<RoughCylinder>& rough, const BitVolume& inside,
                      const Survey& looked, const Histogram& histogram, double threshold, WorkMemory& memory,
                      Context& context);

}  // namespace lepus::analysis
