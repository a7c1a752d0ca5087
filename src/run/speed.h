// SPDX-License-Identifier: Apache-2.0
// How fast this machine filters and backprojects a given scan, timed on a small piece of it (a fraction of a second),
// for the time that a plan promises. The disk is not timed: MachineSpeed's assumption stands.
#pragma once

#include "device/backend.h"
#include "core/threads.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "run/plan.h"

namespace lepus {

struct SpeedParts {
  const ScanGeometry* geometry = nullptr;  // as it was recorded, flat
  const ScanGeometry* padded = nullptr;    // as it is filtered and backprojected
  const FdkWeights* weights = nullptr;
  const RampFilter* ramp = nullptr;
  const Backend* backend = nullptr;
  VolumeGrid grid;
  Interpolation interpolation = Interpolation::linear;
};

MachineSpeed measured_speed(const SpeedParts& parts, ThreadPool& threads);

}  // namespace lepus
