// SPDX-License-Identifier: Apache-2.0
// Rigid registration of two volumes: the motion under which the other volume's values, scaled and shifted, differ least
// from the first one's (sum of squares). Gauss-Newton on coarser and finer versions (Lucas, Kanade 1981; Baker,
// Matthews 2004, inverse compositional).
#pragma once

#include <cstdint>

#include "analysis/rigid_motion.h"
#include "analysis/work_memory.h"
#include "core/context.h"
#include "io/volume_file.h"

namespace lepus::analysis {

struct RegistrationOptions {
  // The finest version that is compared has at most this many voxels along each axis: it is held in memory. Some
  // hundredths of its voxels are what the motion is found to.
  std::int64_t finest = 256;
};

struct Registration {
  RigidMotion motion;           // from the first volume's millimetres to the other's
  double gain = 1, offset = 0;  // first ~ gain * other + offset
  double correlation = 0;       // of the values, on the finest version
  double overlap = 0;           // share of the first volume's voxels that the other one covers
  int iterations = 0;
};

// Throws Error(input) where the volumes have nothing in common that could be found.
Registration register_volumes(const VolumeReader& first, const VolumeReader& other, const RegistrationOptions& options,
                              WorkMemory& memory, Context& context);

}  // namespace lepus::analysis
