// SPDX-License-Identifier: Apache-2.0
// What of a volume is the sample: the air around it and the container it stands in are taken away. Both are looked for
// in the whole volume, so that a region cut through the sample does not turn its pores into air.
#pragma once

#include "analysis/morphology.h"

namespace lepus::analysis {

struct SampleOptions {
  bool remove_air = false;
  bool remove_container = false;
  double seal = 0;  // openings narrower than twice this, in voxels, are closed first: what lies behind them is no air

  bool any() const { return remove_air || remove_container; }
};

struct SampleReport {
  std::int64_t air = 0, container = 0;  // voxels taken away
  std::int64_t specks = 0;              // pieces of material in the air, smaller than a thousandth of the largest
};

// `air`: voxels that may be air (dark ones, pores included, and those that are not finite). `inside` loses the air that
// is connected (by faces) with a side of the volume, and with the container the air around that; voxels that are not
// air are material. Throws Error(input) where no sample is left, or the container cannot be told from the sample.
SampleReport remove_surroundings(const SampleOptions& options, const BitVolume& air, const VoxelShape& shape,
                                 BitVolume& inside, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis
