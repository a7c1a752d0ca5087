// SPDX-License-Identifier: Apache-2.0
// Resolution in the manner of ASTM E1695: the edge of a cylinder over the distance from its axis, its derivative, and
// the amplitude of that one's Fourier transform, the modulation transfer function (MTF).
#pragma once

#include <optional>
#include <vector>

#include "analysis/cylinder.h"

namespace lepus::analysis {

struct ResolutionOptions {
  std::optional<RoughCylinder> cylinder;  // otherwise it is looked for
};

struct ResolutionResult {
  bool found = false;  // the cylinder, by itself
  Cylinder cylinder;
  double inner = 0, outer = 0;            // values on both sides of the edge
  std::vector<double> distance_mm, edge;  // from the axis, and the mean value there
  std::vector<double> per_mm, transfer;   // MTF: line pairs per millimetre, and what is left of their contrast
  std::optional<double> half_per_mm, tenth_per_mm;  // where it falls to 50 % and to 10 %; none below 1 / voxel
};

ResolutionResult measure_resolution(const VolumeReader& volume, const ResolutionOptions& options,
                                    const BitVolume& inside, const Survey& looked, const Histogram& histogram,
                                    double threshold, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis
