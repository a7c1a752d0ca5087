// SPDX-License-Identifier: Apache-2.0
// The rigid motion that lays the measured surface onto a nominal one: least squares of the distances of its points,
// each for its share of the surface, without those that belong to no nominal surface (Tukey's weights).
#pragma once

#include <cstdint>

#include "analysis/bit_volume.h"
#include "analysis/mesh_distance.h"
#include "analysis/rigid_motion.h"
#include "analysis/work_memory.h"
#include "core/context.h"
#include "io/volume_file.h"

namespace lepus::analysis {

struct Alignment {
  RigidMotion motion;       // from the volume's millimetres to those of the nominal surface
  double typical_mm = 0;    // median of the distances' amounts afterwards
  std::int64_t points = 0;  // that were used
  int iterations = 0;
};

// Throws Error(input) where the values do not cross the threshold.
Alignment align_surface(const VolumeReader& volume, const MeshDistance& nominal, const BitVolume& inside,
                        double threshold, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis
