// SPDX-License-Identifier: Apache-2.0
// Smallest, largest, mean and spread of a volume, read slab by slab; quantiles of a set of values.
#pragma once

#include <cstdint>
#include <vector>

#include "core/context.h"
#include "io/volume_file.h"

namespace lepus {

struct VolumeStatistics {
  std::int64_t voxels = 0, not_finite = 0;
  double smallest = 0, largest = 0, mean = 0, standard_deviation = 0;  // of the finite ones; NaN where there is none
};

VolumeStatistics volume_statistics(const VolumeReader& volume, std::int64_t memory_bytes, Context& context);

// The value below which `percent` % of the finite values lie, linear between neighbours as NumPy has it; 0 where there
// are no finite values.
double percentile(std::vector<float> values, double percent);

}  // namespace lepus
