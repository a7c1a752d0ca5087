// SPDX-License-Identifier: Apache-2.0
// Noise of a flat region: standard deviation, and the power spectrum over all directions (Welch's way: blocks that
// overlap by half, a plane taken off each). The integral of the spectrum over all frequencies is the variance.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/histogram.h"

namespace lepus::analysis {

struct NoiseOptions {
  std::optional<std::array<double, 6>> box_mm;  // as VoxelMask's; otherwise a flat cube is looked for
};

struct VoxelBox {
  std::array<std::int64_t, 3> first{}, last{};  // x, y, z: voxels [first, last)
  std::int64_t edge(std::size_t axis) const { return last[axis] - first[axis]; }
};

struct NoiseResult {
  VoxelBox box;
  bool found = false;  // by itself
  double mean = 0, spread = 0;
  double contrast = 0;                // between the means of the two classes that Otsu's threshold makes
  std::int64_t blocks = 0, edge = 0;  // of the spectrum: their number, and their edge in voxels
  std::vector<double> per_mm;         // frequencies ...
  std::vector<double> power_mm3;      // ... and the power there, value^2 mm^3
  double contrast_to_noise() const { return contrast / spread; }
};

// The cube of voxels inside that is flattest: the smallest spread among those whose mean is on the bright side (air is
// often cut off at zero, or rescaled). Its edge is a quarter of the volume's shortest side, 8 to 64 voxels. Throws
// Error(input) where no such cube lies inside.
VoxelBox find_flat_cube(const VolumeReader& volume, const BitVolume& inside, const Survey& looked, double bright_above,
                        WorkMemory& memory, Context& context);

NoiseResult measure_noise(const VolumeReader& volume, const NoiseOptions& options, const BitVolume& inside,
                          const Survey& looked, const Histogram& histogram, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis
