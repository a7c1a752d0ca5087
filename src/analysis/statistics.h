// SPDX-License-Identifier: Apache-2.0
// Smallest, largest, mean and spread of a volume, read slab by slab; quantiles of a set of values.
#pragma once

#include <cstdint>
#include <vector>

#include "core/context.h"
#include "io/volume_file.h"
#include <lepus/describe.h>

namespace lepus {

VolumeStatistics volume_statistics(const VolumeReader& volume, std::int64_t memory_bytes, Context& context);

// The value below which `percent` % of the finite values lie, linear between neighbours as NumPy has it; 0 where there
// are no finite values.
double percentile(std::vector<float> values, double percent);

}  // namespace lepus
