// SPDX-License-Identifier: Apache-2.0
// Which voxels of a volume count and how their values are distributed: region of interest -> bits, range, histogram.
// Counts are integers: the same for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/bit_volume.h"
#include "analysis/mask.h"
#include "io/volume_file.h"

namespace lepus::analysis {

struct Region {
  VoxelMask mask;                             // box, cylinder, ball
  const VolumeReader* mask_volume = nullptr;  // of the same grid, or of none: where it is neither zero nor NaN
};

// A first look at all values.
struct Survey {
  std::int64_t voxels = 0;          // of the volume
  std::int64_t not_finite = 0;      // of them, NaN or infinite: these never count
  std::int64_t inside = 0;          // in the region, and finite
  float smallest = 0, largest = 0;  // of those inside

  bool is_whole() const { return inside + not_finite == voxels; }  // the region leaves nothing out
};

VolumeSize size_of(const VolumeReader& volume);

// `inside` gets the voxels of the region that are finite numbers. Throws Error(input) where there is none, or where the
// mask has another grid; a mask whose file says nothing of one is taken voxel by voxel, with a warning.
Survey survey(const VolumeReader& volume, const Region& region, BitVolume& inside, WorkMemory& memory,
              Context& context);

struct Histogram {
  double low = 0, width = 1;  // bin i holds values from low + i width on; the last one its upper end, too
  bool integers = false;      // bin i holds the one value low + i width
  std::vector<std::int64_t> counts;

  double centre(std::size_t bin) const { return low + (static_cast<double>(bin) + (integers ? 0 : 0.5)) * width; }
  double threshold_after(std::size_t bin) const;  // that this bin is the last one below
  std::int64_t total() const;
};

// Of the voxels inside. Integers of 8 and 16 bits, scaled or not, get a bin for each value; others `bins` of equal
// width.
Histogram histogram_of(const VolumeReader& volume, const BitVolume& inside, const Survey& looked, std::int64_t bins,
                       WorkMemory& memory, Context& context);

// The threshold that parts the values into two classes of largest variance between them (Otsu 1979): a voxel above it
// is bright. That of scikit-image, for the same bins. Throws Error(input) where all values are in one bin.
double otsu_threshold(const Histogram& histogram);
// The same for more classes (Liao, Chen, Chung 2001): classes - 1 thresholds, by dynamic programming.
std::vector<double> multi_otsu_thresholds(const Histogram& histogram, int classes);

}  // namespace lepus::analysis
