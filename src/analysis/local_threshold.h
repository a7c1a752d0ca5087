// SPDX-License-Identifier: Apache-2.0
// Adaptive threshold: a voxel is bright where it is above the mean of the box around it, less an offset. Beyond the
// volume its slices, rows and columns are mirrored, edges included (SciPy's "reflect").
#pragma once

#include "analysis/histogram.h"

namespace lepus::analysis {

// Values are rounded to 24 bits between the smallest and the largest, so that the sums are integers: exact, whatever
// the slabs. Throws Error(input) where a voxel is not finite.
void select_local(const VolumeReader& volume, std::int64_t radius, double offset, bool bright, const Survey& looked,
                  BitVolume& bits, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis
